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
"""The epoch of a static member that left for a while, which is also the epoch in its leave request (S1,
H2)."""


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
    """Names and metadata in the member's order of preference; bytes are text in base64."""


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
    """The client-side assignors; the member prefers the first (A1)."""
    classic: ClassicMetadata | None = None
    """Present only for a member that uses the classic protocol (M1)."""


class Target(NamedTuple):
    """One member's part of the target assignment; `error` is not 0 while the assignor fails.

    Only client-side assignors have metadata for their members.
    """

    partitions: Partitions
    error: int
    metadata_version: int = 0
    metadata_bytes: str = ""


Given = tuple[tuple[int, Partitions], ...]
"""Member epoch -> the partitions that the member was given at that epoch and still holds
(PartitionEpochs)."""

NO_TARGET: Final = Target(NOTHING, 0)

UNKNOWN_METADATA: Final = MemberMetadata(None, None, "", "", frozenset(), None, 0, None)
"""The placeholder for a record that is read later: after compaction a member's records come in any order."""


@dataclass(slots=True)
class Member:
    """A member of a group. Deadlines are on the coordinator's clock, in milliseconds."""

    metadata: MemberMetadata
    epoch: int = 0
    """The epoch of the assignment that the member uses (E3); it never decreases while this incarnation lives
    (E4). AWAY while a static member is gone for a while (S1)."""
    held: Partitions = NOTHING
    """Assigned and revoking partitions together: all partitions that the member may own (R7)."""
    previous_epoch: int = 0
    """The epoch before; 0 where there was none (H6). Volatile."""
    revoking: Partitions = NOTHING
    """Partitions that the member was told to give up, and has not acknowledged yet (R1). Volatile."""
    acknowledged: bool = False
    """Has the member reported exactly the assignment that it was sent last (R5)? Volatile."""
    session_deadline_ms: int = 0
    rebalance_deadline_ms: int | None = None
    """Armed exactly while `revoking` is not empty (R4)."""
    assigned: Partitions = NOTHING
    """Partitions that the member may use: held, and not being revoked."""
    join_deadline_ms: int | None = None
    """The time by which a member that uses the classic protocol must rejoin: armed exactly while it must
    (M2)."""
    given: Given = ()
    """The epochs at which the member was given its partitions, where the dialect keeps them (O2)."""
    sync_deadline_ms: int | None = None
    """The time by which the member must send its SyncGroup: armed from its JoinGroup to its SyncGroup
    (M2)."""

    def deadline_ms(self, timer: str) -> int | None:
        """The time at which one of the member's timers runs out; None where the timer is not armed."""
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
    """Partition -> the member that holds it: an index of `members`, so that a heartbeat does not read all
    members."""
    instances: dict[str, str] = field(default_factory=dict)
    """Instance id -> its member (S1): an index of `members`."""
    classic: set[str] = field(default_factory=set)
    """The members that use the classic protocol (M1): an index of `members`."""
    subscriptions: dict[Subscription, int] = field(default_factory=dict)
    """Each different subscription -> its number of members: an index of `members`."""
    empty_deadline_ms: int | None = None
    """The time at which the group is deleted; armed exactly while it has no members (E5)."""
    target_computed_ms: int | None = None
    """The time at which the last target was computed. Volatile; only TargetMayLag reads it."""
    computation: Computation = IDLE
    """The computation of the due target by a member (A5). Volatile."""


def exists(group: Group) -> bool:
    """Tell if the group exists: some record of it is left (E5 DEAD)."""
    return bool(group.epoch or group.assignment_epoch or group.members or group.targets or group.metadata)


def held_by_others(group: Group, among: Partitions, own: tuple[str, ...]) -> Partitions:
    """HeldByOthers: the partitions of `among` that other members hold, `own` aside, so that they cannot be
    given now (R3, R7)."""
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
