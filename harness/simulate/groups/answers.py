"""The invariants of answers to heartbeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.simulate.groups.cause import (
    AWAY,
    FENCED_MEMBER_EPOCH,
    INVALID_REQUEST,
    NOBODY,
    NOTHING,
    UNKNOWN_MEMBER_ID,
    UNRELEASED_INSTANCE_ID,
    Cause,
    Seen,
)
from harness.simulate.groups.coordinator_view import GroupWatch
from harness.simulate.groups.membership import target_of
from harness.simulate.groups.parts import GroupView, MemberView, Partitions, Violation, from_wire, shown
from harness.targets.base import Json

RETRIABLE: Final = frozenset({14, 15, 16})
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
UNSUPPORTED_ASSIGNOR: Final = 112
_REASONS: Final = frozenset({UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID})
"""The other errors of requests that simulated members send."""


@dataclass(frozen=True, slots=True)
class Before:
    """The sender of a heartbeat before that, if it was in the group, with its target then; the body that it
    `sent`. `serves` tells if the coordinator takes requests, and its log records; `conflict`, if another
    member has the instance id of the request (S2)."""

    seen: Seen | None
    epoch: int
    target: Partitions
    sent: Json
    serves: bool
    conflict: bool

    @property
    def retries(self) -> int:
        """The epoch of a retry (H6); NOBODY for none."""
        return NOBODY if self.seen is None else self.seen.previous


def before_of(watch: GroupWatch, group: GroupView | None, sent: Json, serves: bool) -> Before:
    """The facts that `check_answer` needs about the member that has `sent` a heartbeat."""
    member, instance = sent["memberId"], sent["instanceId"]
    seen = watch.members.get(member)
    target = NOTHING if group is None else target_of(group, member)
    conflict = instance is not None and any(
        name != member
        and one.subscriber.instance_id == instance
        and (sent["memberEpoch"], one.epoch) != (0, AWAY)
        for name, one in watch.members.items()
    )
    return Before(seen, seen.epoch if seen is not None else 0, target, sent, serves, conflict)


def check_answer(group: GroupView | None, before: Before, body: Json, cause: Cause) -> None:
    """H5, H6, R5: check the answer to a heartbeat."""
    if cause.error:
        _check_refusal(group, before, cause)
        return
    if cause.epoch < 0 and before.seen is None:
        raise Violation("H5", "ErrorsExactly", f"{cause.member} is no member, and its leave was accepted")
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
    _check_assignment(group, member, body["assignment"], cause)


def _check_assignment(group: GroupView, member: MemberView, given: Json | None, cause: Cause) -> None:
    """R5, H9: the answer has the member's assignment; a heartbeat of a member that has all its target may
    leave it out."""
    if given is None:
        settled = member.epoch == group.assignment_epoch and not member.revoking
        if cause.epoch == 0:
            raise Violation("R5", "JoinIsAnswered", f"{cause.member} joins, and is given no assignment")
        if not settled or member.assigned != target_of(group, cause.member):
            raise Violation(
                "R5", "ResponseMatches", f"{cause.member} is not at its target, and is given no assignment"
            )
        return
    assigned, pending = (from_wire(given[f"{name}TopicPartitions"]) for name in ("assigned", "pending"))
    if assigned != member.assigned or assigned & pending:
        raise Violation(
            "R5",
            "ResponseMatches",
            f"{cause.member} was told {shown(assigned)}, with {shown(pending)} to come, and is assigned "
            f"{shown(member.assigned)}",
        )


def _check_refusal(group: GroupView | None, before: Before, cause: Cause) -> None:
    sender = cause.member or "a new member"
    if cause.error == INVALID_REQUEST:
        raise Violation("H3", "MembersAskRightly", f"a request of {sender} is invalid")
    if cause.error in RETRIABLE:
        if before.serves:
            raise Violation("H5", "ErrorsExactly", f"an active coordinator answers {cause.error}")
        return
    if cause.error == UNRELEASED_INSTANCE_ID and not before.conflict:
        raise Violation("S2", "ErrorsExactly", f"{sender} was refused an instance id that is free")
    lacks_assignor = cause.error == UNSUPPORTED_ASSIGNOR and _names_assignor(before.sent)
    if cause.error not in _REASONS and not lacks_assignor:
        raise Violation("H5", "ErrorsExactly", f"{sender} was answered {cause.error} without a reason")
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


def _names_assignor(sent: Json) -> bool:
    """Tell if a request names an assignor, which the group may not have (A2, A8)."""
    return bool(sent["serverAssignor"] or sent.get("clientAssignors"))
