"""The state of the coordinator: groups, their members, the cluster's topics.

Only replaying a record (records.py) and applying a step's volatile changes (log.py) write these objects;
handlers read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from coordinator.computing.model import IDLE, Computation
from coordinator.core.transitions import Transition

State: TypeAlias = Literal["Dead", "Empty", "Assigning", "Reconciling", "Stable"]

TRANSITIONS: Final[tuple[Transition[State], ...]] = (
    Transition(("Dead", "Empty"), "Assigning", "a member joins"),
    Transition(("Assigning",), "Reconciling", "a target assignment is installed"),
    Transition(("Reconciling",), "Stable", "every member has its target"),
    Transition(
        ("Reconciling", "Stable"),
        "Assigning",
        "members, subscriptions or topics change: the group epoch is bumped",
    ),
    Transition(("Reconciling", "Stable"), "Empty", "the last member goes"),
    Transition(("Empty",), "Dead", "the group is deleted"),
)
"""Changes of a group's state (E5). No group stores its state: `group_state` derives it. A step may pass
through Assigning and Reconciling, as a server-side assignor installs the target in the step that bumps the
group epoch (E2)."""

Partition = tuple[str, int]
"""Topic id (RFC 4122 text, lower case) and index."""

Partitions = frozenset[Partition]

NOTHING: Final[Partitions] = frozenset()


class TopicImage(NamedTuple):
    """A topic of the cluster, as the coordinator sees it. A recreated topic has another id (T2)."""

    id: str
    partitions: int


Topics = Mapping[str, TopicImage]
"""Topic name -> image."""


Subscription = tuple[frozenset[str], str | None]
"""Topic names, and a regular expression of RE2 or None (T1)."""

AWAY: Final = -2
"""The epoch of a static member that left for a while, and what it sends to say so (S1, H2)."""


class ClientAssignor(NamedTuple):
    """A client-side assignor, as a member offers it (H10)."""

    name: str
    minimum_version: int
    maximum_version: int
    reason: int
    metadata_version: int
    metadata_bytes: str


CLASSIC_VERSION: Final = -1
"""The version of metadata that came in a JoinGroup: the coordinator cannot translate it (M4)."""


class ClassicMetadata(NamedTuple):
    """Further data in the JoinGroup of a member of a consumer group that uses the classic protocol (M1)."""

    session_timeout_ms: int
    protocols: tuple[tuple[str, str], ...]
    """Names and metadata in its order of preference; bytes are text in base64."""


class MemberMetadata(NamedTuple):
    """Metadata of a member (H10); times in milliseconds."""

    instance_id: str | None
    """None for a dynamic member (S1)."""
    rack_id: str | None
    client_id: str
    client_host: str
    subscription: frozenset[str]
    regex: str | None
    rebalance_timeout_ms: int
    server_assignor: str | None
    client_assignors: tuple[ClientAssignor, ...] = ()
    """The first is the one that it prefers most (A1)."""
    classic: ClassicMetadata | None = None
    """Only for a member that uses the classic protocol (M1)."""


class Target(NamedTuple):
    """One member's part of the target assignment; `error` is not 0 while the assignor failed.

    Only client-side assignors have metadata for their members.
    """

    partitions: Partitions
    error: int
    metadata_version: int = 0
    metadata_bytes: str = ""


Given = tuple[tuple[int, Partitions], ...]
"""By member epoch, what a member was given at it and holds still (PartitionEpochs)."""

NO_TARGET: Final = Target(NOTHING, 0)

UNKNOWN_METADATA: Final = MemberMetadata(None, None, "", "", frozenset(), None, 0, None)
"""Stands for the record that is read later: after compaction a member's records come in any order."""


@dataclass(slots=True)
class Member:
    """A member of a group. Deadlines are on the coordinator's clock, in milliseconds."""

    metadata: MemberMetadata
    epoch: int = 0
    """The epoch of the assignment that it uses (E3); never decreases while this incarnation lives (E4).
    AWAY while a static member is gone for a while (S1)."""
    held: Partitions = NOTHING
    """assigned and revoking together: everything that the member may own (R7)."""
    previous_epoch: int = 0
    """The epoch before; 0 where there was none (H6). Volatile."""
    revoking: Partitions = NOTHING
    """Told to give up, not acknowledged yet (R1). Volatile."""
    acknowledged: bool = False
    """Has the member reported exactly what it was told last (R5)? Volatile."""
    session_deadline_ms: int = 0
    rebalance_deadline_ms: int | None = None
    """Armed exactly while `revoking` is not empty (R4)."""
    assigned: Partitions = NOTHING
    """Partitions that the member may use: held, and not being revoked."""
    join_deadline_ms: int | None = None
    """By when a member that uses the classic protocol must rejoin: armed exactly while it has to (M2)."""
    given: Given = ()
    """When it was given what it holds, where the dialect keeps that (O2)."""
    sync_deadline_ms: int | None = None
    """By when it must send its SyncGroup: armed from its JoinGroup to then (M2)."""

    def deadline_ms(self, timer: str) -> int | None:
        """When one of its timers runs out; None where it is not armed."""
        if timer == "session":
            return self.session_deadline_ms
        if timer == "rebalance":
            return self.rebalance_deadline_ms
        return self.join_deadline_ms if timer == "join" else self.sync_deadline_ms


@dataclass(slots=True)
class Group:
    """A consumer group. One that does not exist has epoch 0 and nothing else (E5 DEAD)."""

    id: str
    epoch: int = 0
    assignment_epoch: int = 0
    metadata: Topics = field(default_factory=dict)
    """The recorded topics that some member subscribes to."""
    members: dict[str, Member] = field(default_factory=dict)
    targets: dict[str, Target] = field(default_factory=dict)
    owners: dict[Partition, str] = field(default_factory=dict)
    """Partition -> the member that holds it: an index of `members`, so that no heartbeat reads them all."""
    instances: dict[str, str] = field(default_factory=dict)
    """Instance id -> the member that has it (S1): an index of `members`."""
    classic: set[str] = field(default_factory=set)
    """The members that use the classic protocol (M1): an index of `members`."""
    subscriptions: dict[Subscription, int] = field(default_factory=dict)
    """Each different subscription -> how many members have it: an index of `members`."""
    empty_deadline_ms: int | None = None
    """When the group is deleted; armed exactly while it has no members (E5)."""
    target_computed_ms: int | None = None
    """When the last target was computed. Volatile; only TargetMayLag reads it."""
    computation: Computation = IDLE
    """The computation of the target that is due, by a member (A5). Volatile."""


def exists(group: Group) -> bool:
    """Tell if any record of the group is left; one of which none is does not exist (E5 DEAD)."""
    return bool(group.epoch or group.assignment_epoch or group.members or group.targets or group.metadata)


def held_by_others(group: Group, among: Partitions, own: tuple[str, ...]) -> Partitions:
    """HeldByOthers: what of `among` no one but the members `own` can be given now (R3, R7)."""
    owner = group.owners.get
    return frozenset(partition for partition in among if owner(partition) not in (None, *own))


def group_state(group: Group) -> State:
    """GroupState (E5): Dead, Empty, Assigning, Reconciling or Stable."""
    if not group.epoch:
        return "Dead"
    if not group.members:
        return "Empty"
    if group.epoch > group.assignment_epoch:
        return "Assigning"
    for member_id, member in group.members.items():
        target = group.targets.get(member_id, NO_TARGET).partitions
        if member.epoch != group.epoch or member.revoking or member.assigned != target:
            return "Reconciling"
    return "Stable"
