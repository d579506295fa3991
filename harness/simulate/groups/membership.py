"""The invariants of members that come, go and advance in one step of a coordinator: those of
spec/GroupProperties.tla that need the step's cause."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness.simulate.groups.cause import AWAY, FENCED_MEMBER_EPOCH, LEAVE, NOTHING, Cause, Seen
from harness.simulate.groups.parts import GroupView, MemberView, Partitions, Violation, shown


def place_of(cause: Cause, member: MemberView, before: Mapping[str, Seen]) -> str | None:
    """S1: the member that was away and whose place this member has taken by its join."""
    instance = member.metadata.instance_id
    if instance is None or not cause.joins:
        return None
    for name, seen in before.items():
        if seen.subscriber.instance_id == instance and seen.epoch == AWAY:
            return name
    return None


def target_of(group: GroupView, member: str) -> Partitions:
    """The member's part of the target assignment."""
    return group.targets[member].partitions if member in group.targets else NOTHING


def check_gone(group: GroupView, cause: Cause, gone: Collection[str], before: Mapping[str, Seen]) -> None:
    """H2, H8, R4, S1: a member that leaves is gone. Otherwise a step removes the member whose timer ran out,
    the sender of a fenced heartbeat, or the member whose place a static one takes. Raises Violation."""
    if cause.accepted and cause.epoch == LEAVE and cause.member in group.members:
        raise Violation("H2", "LeavesExactly", f"{cause.member} has left, and is still a member")
    left = set(gone)
    if cause.kind == "timer" and len(left) == 1:
        return
    if cause.epoch == LEAVE or cause.error == FENCED_MEMBER_EPOCH:
        left.discard(cause.member)
    elif cause.joins and cause.member in group.members:
        left.discard(place_of(cause, group.members[cause.member], before) or "")
    if left:
        raise Violation("H2", "LeavesExactly", f"a step ({cause.kind}) of another removed {min(left)}")


def check_place(group: GroupView, cause: Cause, before: Mapping[str, Seen]) -> None:
    """S1: a member that leaves for a while keeps its assignment; a member that takes its place gets what the
    place held of the target, at the assignment epoch. Raises Violation."""
    member = group.members.get(cause.member) if cause.accepted else None
    if member is None:
        return
    if cause.epoch == AWAY and (member.epoch, member.assigned) != (AWAY, before[cause.member].assigned):
        raise Violation("S1", "PlaceIsKept", f"{cause.member} left for a while, and its place is not kept")
    place = place_of(cause, member, before)
    if place is None:
        return
    kept = before[place].assigned & target_of(group, cause.member)
    if member.epoch != group.assignment_epoch or not kept <= member.assigned:
        raise Violation(
            "S1",
            "PlaceIsKept",
            f"{cause.member} takes the place of {place} at epoch {member.epoch}, with "
            f"{shown(member.assigned)} of {shown(kept)}",
        )


def check_unchanged(group: GroupView, cause: Cause, changed: bool) -> None:
    """H5: a request that is refused changes nothing, apart from a fenced heartbeat. Raises Violation."""
    if cause.error not in (0, FENCED_MEMBER_EPOCH) and changed:
        raise Violation(
            "H5", "ErrorsExactly", f"a request of {cause.member} was refused ({cause.error}), and changed it"
        )


def check_away(name: str, member: MemberView) -> None:
    """S1: only a static member is away, and none that is away revokes anything. Raises Violation."""
    if member.epoch == AWAY and (member.metadata.instance_id is None or member.revoking):
        raise Violation("S1", "AwayIsStatic", f"{name} is away, and is not static or has to revoke")


def check_undisturbed(name: str, member: MemberView, seen: Seen, target: Partitions) -> None:
    """R6: a member whose target stays the same gives up nothing. R1, R2: one that still revokes gets nothing.
    Raises Violation."""
    if not seen.revoking and seen.assigned == target != member.assigned:
        raise Violation(
            "R6",
            "UndisturbedIfUnchanged",
            f"{name} has {shown(member.assigned)}, and had its target already, {shown(target)}",
        )
    if seen.revoking and member.revoking and not member.held <= seen.held:
        raise Violation(
            "R1", "RevokingIsGivenNothing", f"{name} gets {shown(member.held - seen.held)}, and still revokes"
        )


def check_advances(group: GroupView, cause: Cause, before: Mapping[str, Seen]) -> None:
    """R6: a heartbeat of a member that has exactly its target takes it to the assignment epoch. Raises
    Violation."""
    seen = before.get(cause.member)
    if not cause.accepted or cause.epoch <= 0 or seen is None or cause.member not in group.members:
        return
    member = group.members[cause.member]
    if (
        not seen.revoking
        and seen.assigned == target_of(group, cause.member)
        and member.epoch != group.assignment_epoch
    ):
        raise Violation(
            "R6",
            "UndisturbedIfUnchanged",
            f"{cause.member} has its target, and stays at epoch {member.epoch} of {group.assignment_epoch}",
        )


def check_due(group: GroupView) -> None:
    """E2: a target that no member has to compute is computed at once. Raises Violation."""
    if group.assignment_epoch < group.epoch and not any(
        member.metadata.client_assignors for member in group.members.values()
    ):
        raise Violation(
            "E2",
            "DueIsComputed",
            f"the target is of epoch {group.assignment_epoch}, and the group is at {group.epoch}",
        )
