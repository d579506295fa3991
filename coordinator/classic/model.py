"""The state of a classic group (C1), and values derived from it. The names are those of
spec/ClassicGroups.tla.

A group is a value: a step makes another value. Messages between the members and the leader are text in base64
that the coordinator does not read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from coordinator.core.errors import ErrorCode
from coordinator.core.transitions import Transition

RequestId: TypeAlias = int | str
"""The name of a waiting request, by which its answer is delivered."""

State: TypeAlias = Literal["Dead", "Empty", "PreparingRebalance", "CompletingRebalance", "Stable"]

TRANSITIONS: Final[tuple[Transition[State], ...]] = (
    Transition(("Dead",), "Empty", "the first member joins, or asks for a member id"),
    Transition(("Empty",), "PreparingRebalance", "a member joins"),
    Transition(
        ("PreparingRebalance",),
        "CompletingRebalance",
        "all members have joined, or the time for that is over",
    ),
    Transition(("CompletingRebalance",), "Stable", "the leader's SyncGroup brings the assignment"),
    Transition(
        ("CompletingRebalance", "Stable"),
        "PreparingRebalance",
        "a member joins, rejoins or goes: all must rejoin",
    ),
    Transition(("PreparingRebalance",), "Empty", "no member is left"),
    Transition(("Empty",), "Dead", "the group is deleted"),
)
"""Changes of a group's state (C1). One step may make several of them."""


@dataclass(frozen=True, slots=True)
class ClassicMember:
    """A member. Times are in milliseconds; `protocols` are names and metadata in its order of preference."""

    instance_id: str | None
    client_id: str
    client_host: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, str], ...]
    assignment: str = ""
    """The assignment of this generation; "" before the SyncGroup of the leader, and for members that the
    leader did not name."""
    fresh: bool = False
    """The member has not been in any generation: its client may be gone, as no answer has given it the member
    id yet."""
    joining: RequestId | None = None
    """The member's JoinGroup, which waits at the barrier."""
    syncing: RequestId | None = None
    """The member's SyncGroup, which waits for the leader's."""
    owes_sync: bool = False
    """The member is in the generation and has not sent its SyncGroup yet."""

    @property
    def waits(self) -> bool:
        """Tell if a request of the member waits: then its session does not run out (H8)."""
        return self.joining is not None or self.syncing is not None

    def names(self) -> list[str]:
        """The names of the protocols that the member supports."""
        return [name for name, _ in self.protocols]

    def metadata(self, protocol: str) -> str:
        """The metadata of the member under a protocol that it supports."""
        return dict(self.protocols)[protocol]


@dataclass(frozen=True, slots=True)
class ClassicGroup:
    """A classic group; one that does not exist is Dead."""

    id: str
    state: State = "Dead"
    generation: int = 0
    protocol_type: str = ""
    protocol: str | None = None
    leader: str | None = None
    remaining_ms: int | None = None
    """The time by which the initial delay may still be prolonged; None where there is no delay."""
    new_member: bool = False
    """A member has joined during the initial delay."""
    members: Mapping[str, ClassicMember] = field(default_factory=dict)
    pending: frozenset[str] = frozenset()
    """Member ids that were made and have not joined yet (MEMBER_ID_REQUIRED)."""

    @property
    def initial(self) -> bool:
        """Tell if this rebalance began without members, and therefore ends after the initial delay."""
        return self.remaining_ms is not None

    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance time-out of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    def session_timeout_ms(self) -> int:
        """The longest session time-out of the members."""
        return max((member.session_timeout_ms for member in self.members.values()), default=0)


def joining(group: ClassicGroup) -> list[str]:
    """Joining (C1): the members behind the barrier, by member id."""
    return sorted(name for name, member in group.members.items() if member.joining is not None)


def all_joined(group: ClassicGroup) -> bool:
    """AllJoined (C1): the barrier waits for no member. In a group without members, it waits for no pending id
    either."""
    if group.pending and group.members:
        return False
    return all(member.joining is not None for member in group.members.values())


def instance_holder(group: ClassicGroup, instance_id: str | None) -> str | None:
    """InstanceHolder (S1): the member with that instance id."""
    if instance_id is None:
        return None
    return next((name for name, member in group.members.items() if member.instance_id == instance_id), None)


def identity_error(group: ClassicGroup, member_id: str, instance_id: str | None) -> ErrorCode:
    """IdentityError (C1, S2): may the sender with this member id, perhaps with an instance id, act as the
    member?"""
    if instance_id is not None:
        holder = instance_holder(group, instance_id)
        if holder is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if holder != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID


def candidates(members: Collection[ClassicMember]) -> set[str]:
    """Candidates (C1): the protocols that all members support."""
    supported = [set(member.names()) for member in members]
    return set.intersection(*supported) if supported else set()


def select_protocol(group: ClassicGroup, leader: str) -> str:
    """SelectProtocol (C1): each member votes for the first of its protocols that all support; of those with
    most votes, the leader's preference decides."""
    common = candidates(group.members.values())
    votes = Counter(_first_of(member.names(), common) for member in group.members.values())
    most = max(votes.values())
    return _first_of(group.members[leader].names(), {name for name, count in votes.items() if count == most})


def _first_of(names: list[str], among: Collection[str]) -> str:
    return next(name for name in names if name in among)


def supports(group: ClassicGroup, protocol_type: str, names: Collection[str]) -> bool:
    """Supports (C1): can a member with these protocols join? The first member decides the protocol type."""
    if group.state in ("Dead", "Empty"):
        return bool(protocol_type and names)
    if protocol_type != group.protocol_type:
        return False
    return not group.members or bool(candidates(group.members.values()) & set(names))
