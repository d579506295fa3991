"""The invariants of answers to heartbeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.simulate.groups.coordinator_view import NOBODY, NOTHING, Cause, GroupWatch, Seen
from harness.simulate.groups.parts import GroupView, Partitions, Violation, shown
from harness.targets.base import Json

UNKNOWN_MEMBER_ID: Final = 25
INVALID_REQUEST: Final = 42
FENCED_MEMBER_EPOCH: Final = 110


@dataclass(frozen=True, slots=True)
class Before:
    """A member before its heartbeat, if it was in the group, with its target then."""

    seen: Seen | None
    epoch: int
    target: Partitions

    @property
    def retries(self) -> int:
        """The epoch of a retry (H6); NOBODY for none."""
        return NOBODY if self.seen is None else self.seen.previous


def before_of(watch: GroupWatch, group: GroupView | None, member: str) -> Before:
    """The facts that `check_answer` needs about the member that sends a heartbeat."""
    seen = watch.members.get(member)
    target = group.targets[member].partitions if group is not None and member in group.targets else NOTHING
    return Before(seen, seen.epoch if seen is not None else 0, target)


def check_answer(
    group: GroupView | None, before: Before, body: Json, cause: Cause, assigned: Partitions | None
) -> None:
    """H5, H6, R5: check the answer to a heartbeat; `told` is the answer's assignment."""
    if cause.error:
        _check_refusal(group, before, cause)
        return
    if cause.epoch < 0 and before.seen is None:
        raise Violation("H5", "ErrorsExactly", f"{cause.member}, which is no member, was let leave")
    if cause.epoch < 0 or group is None:
        return
    if cause.epoch and cause.epoch != before.epoch:
        if before.seen is None or cause.epoch != before.retries:
            raise Violation("H5", "ErrorsExactly", f"epoch {cause.epoch} was accepted of {cause.member}")
        if cause.owned is not None and not cause.owned <= before.target:
            raise Violation(
                "H6", "RetryOwnsItsTarget", f"a retry of {cause.member} owned more than its target"
            )
    member = group.members.get(cause.member)
    if member is None or body["memberEpoch"] != member.epoch:
        raise Violation("H9", "ResponseMatches", f"{cause.member} was told epoch {body['memberEpoch']}")
    if body.get("shouldComputeAssignment") and group.computation.chosen != cause.member:
        raise Violation("A5", "OnlyTheChosen", f"{cause.member} was told to compute, and was not chosen")
    if assigned is not None and assigned != member.assigned:
        raise Violation(
            "R5",
            "ResponseMatches",
            f"{cause.member} was told {shown(assigned)}, and is assigned {shown(member.assigned)}",
        )


def _check_refusal(group: GroupView | None, before: Before, cause: Cause) -> None:
    if cause.error == INVALID_REQUEST:
        raise Violation(
            "H3", "MembersAskRightly", f"a request of {cause.member or 'a new member'} is invalid"
        )
    if cause.epoch == 0 and cause.error in (UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH):
        raise Violation("H1", "JoinIsAccepted", f"a join of {cause.member} was answered {cause.error}")
    if cause.error == UNKNOWN_MEMBER_ID and before.seen is not None and cause.epoch >= 0:
        raise Violation("H5", "ErrorsExactly", f"{cause.member}, a member, was told UNKNOWN_MEMBER_ID")
    if cause.error != FENCED_MEMBER_EPOCH or before.seen is None:
        return
    if before.epoch == cause.epoch:
        raise Violation("H5", "ErrorsExactly", f"{cause.member} was fenced at its own epoch {cause.epoch}")
    if cause.epoch == before.retries and (cause.owned is None or cause.owned <= before.target):
        raise Violation("H6", "RetryIsAccepted", f"a retry of {cause.member} was fenced")
    if group is not None and cause.member in group.members:
        raise Violation("H5", "FencedIsRemoved", f"{cause.member} was fenced, and is a member still")
