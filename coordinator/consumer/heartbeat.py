"""ConsumerGroupHeartbeat (KIP-848 "Request Handling"), in the three steps of the specification:

1. UpdateMember (membership.py)  2. UpdateTarget (target.py)  3. Reconcile (reconcile.py)

Every heartbeat takes its member as far as the others allow, so that a group converges on heartbeats alone
(R8). An acknowledgement has only an epoch and owned partitions; the network must ensure that no older
heartbeat passes for an acknowledgement (R9).
"""

from __future__ import annotations

from typing import Literal

from coordinator.computing.offers import check_versions
from coordinator.computing.select import should_compute
from coordinator.consumer.membership import (
    add_member,
    new_member_metadata,
    remove_member,
    update_subscription,
)
from coordinator.consumer.model import AWAY, NO_TARGET, NOTHING, Group, Member, Target
from coordinator.consumer.reconcile import Reconciled, gave_up, reconcile, record_changes, write_current
from coordinator.consumer.request import JOIN_EPOCH, LEAVE_EPOCH, HeartbeatRequest
from coordinator.consumer.response import (
    answered_member_id,
    assignment_to_wire,
    error_response,
    heartbeat_response,
    leave_response,
)
from coordinator.consumer.static_members import (
    check_instance,
    keep_place,
    returning_member,
    returns_to,
    take_place,
)
from coordinator.consumer.target import update_target
from coordinator.core.dialect import Dialect
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env, Result, Step, Timer, Volatile
from coordinator.migration.phases import rejoined

Kind = Literal["join", "keep", "current", "retry"]
"""The kind of an accepted request: (re)join as a fresh member, rejoin that keeps, heartbeat, retry."""


def consumer_group_heartbeat(env: Env, group: Group | None, request: HeartbeatRequest, now_ms: int) -> Result:
    """One valid request to one group (None where the group does not exist). Raises RequestRejected."""
    if group is not None:
        check_versions(group, request, returns_to(group, request))
        if refuses_first(env, group, request):
            check_size(env, group, request)
        if request.member_epoch == JOIN_EPOCH or request.member_id not in group.classic:  # else unknown (M2)
            check_instance(env.dialect, group, request)
    if request.member_epoch == JOIN_EPOCH:
        group = group or Group(request.group_id)
        place_of = returns_to(group, request)
        if place_of is not None:
            return return_member(env, group, place_of, request, now_ms)
        if request.member_id in group.members:
            return rejoin(env, group, request, now_ms)
        check_size(env, group, request)
        return join(env, group, request, now_ms)
    if group is None:
        raise RequestRejected(
            ErrorCode[env.dialect.UnknownGroupError],
            f"Group {request.group_id} does not exist; join it with member epoch 0.",
        )
    member = group.members.get(request.member_id)
    if member is None or member.metadata.classic is not None:
        raise RequestRejected(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member {request.member_id} is not in group {request.group_id}; join it with member epoch 0.",
        )
    if request.member_epoch == LEAVE_EPOCH:
        return leave(env, group, request, now_ms)
    if request.member_epoch == AWAY:
        return leave_temporarily(env, group, member, request, now_ms)
    return heartbeat(env, group, member, request, now_ms)


def join(env: Env, group: Group, request: HeartbeatRequest, now_ms: int) -> Result:
    """Join (H1): a member id that the group does not have. The owned partitions of the request are
    ignored."""
    step = Step(env, group, now_ms)
    metadata = new_member_metadata(request)
    add_member(step, request.member_id, metadata)
    return accept(step, Member(metadata), request, "join")


def refuses_first(env: Env, group: Group, request: HeartbeatRequest) -> bool:
    """FullGroupRefuses (H5): does the size of the group come before all other checks of the request?"""
    if env.dialect.FullGroupRefuses == "newcomers" and request.instance_id in group.instances:
        return False
    return env.dialect.FullGroupRefuses != "joins" and request.member_epoch >= JOIN_EPOCH


def check_size(env: Env, group: Group, request: HeartbeatRequest) -> None:
    """Full (H5). Raises RequestRejected with GROUP_MAX_SIZE_REACHED where the group has no place for another
    member."""
    if request.member_id not in group.members and len(group.members) >= env.config.group_max_size:
        raise RequestRejected(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"Group {group.id} has {len(group.members)} members and may not have more; "
            "stop a member or raise group.consumer.max.size.",
        )


def return_member(env: Env, group: Group, place_of: str, request: HeartbeatRequest, now_ms: int) -> Result:
    """Return (S1): a join with the instance id of a member that is away; the new process owns nothing."""
    step = Step(env, group, now_ms)
    metadata = returning_member(env.dialect, group.members[place_of].metadata, request)
    take_place(step, place_of, request.member_id, metadata)
    return accept(step, Member(metadata), request, "join")


def rejoin(env: Env, group: Group, request: HeartbeatRequest, now_ms: int) -> Result:
    """Rejoin (H1): memberEpoch 0 from a member of the group; the request replaces its former incarnation."""
    member = group.members[request.member_id]
    departure = env.dialect.RejoinOfLiveMember
    if departure == "fenced" and not is_retry(
        env, member, group.targets.get(request.member_id, NO_TARGET), request
    ):
        raise RequestRejected(ErrorCode.FENCED_MEMBER_EPOCH, _fenced(request))
    if departure != "replaces":
        step = Step(env, group, now_ms)
        update_subscription(step, request.member_id, member.metadata, request)
        return accept(step, member, request, "keep")
    return join(env, group, request, now_ms)


def leave(env: Env, group: Group, request: HeartbeatRequest, now_ms: int) -> Result:
    """Leave (H2): accepted whatever the member's epoch."""
    step = Step(env, group, now_ms)
    remove_member(step, request.member_id)
    step.result.response = leave_response(answered_member_id(env.dialect, request), LEAVE_EPOCH)
    return step.result


def leave_temporarily(
    env: Env, group: Group, member: Member, request: HeartbeatRequest, now_ms: int
) -> Result:
    """LeaveTemporarily (H2, S1): the member keeps its place and its assignment until the session times
    out."""
    if member.metadata.instance_id != request.instance_id:
        raise RequestRejected(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member {request.member_id} does not have the instance id {request.instance_id}; "
            "leave with its own, or with member epoch -1.",
        )
    step = Step(env, group, now_ms)
    keep_place(step, request.member_id, member)
    step.result.response = leave_response(answered_member_id(env.dialect, request), AWAY)
    return step.result


def heartbeat(env: Env, group: Group, member: Member, request: HeartbeatRequest, now_ms: int) -> Result:
    """Heartbeat: with the current epoch, a retry with the previous epoch (H6), or fenced (H5)."""
    kind: Kind = "current"
    if request.member_epoch != member.epoch:
        if not is_retry(env, member, group.targets.get(request.member_id, NO_TARGET), request):
            return fence(env, group, request, now_ms)
        kind = "retry"
    step = Step(env, group, now_ms)
    update_subscription(step, request.member_id, member.metadata, request)
    return accept(step, member, request, kind)


def is_retry(env: Env, member: Member, target: Target, request: HeartbeatRequest) -> bool:
    """IsRetry (H6): the member sends its previous epoch, because the answer with the current one was lost."""
    if request.member_epoch != member.previous_epoch or member.epoch == AWAY:
        return False
    if env.dialect.RetrySubsetOf == "assigned":
        return request.owned is not None and request.owned <= member.assigned
    return request.owned is None or request.owned <= target.partitions


def fence(env: Env, group: Group, request: HeartbeatRequest, now_ms: int) -> Result:
    """H5: FENCED_MEMBER_EPOCH; the member is removed, which bumps the group epoch."""
    step = Step(env, group, now_ms)
    if env.dialect.FencedMemberIsRemoved:
        remove_member(step, request.member_id)
    step.result.response = error_response(ErrorCode.FENCED_MEMBER_EPOCH, _fenced(request))
    return step.result


def _fenced(request: HeartbeatRequest) -> str:
    return (
        f"Member epoch {request.member_epoch} of member {request.member_id} is fenced; "
        "give up all partitions and rejoin with member epoch 0."
    )


def acknowledges_revocation(dialect: Dialect, member: Member, request: HeartbeatRequest, kind: Kind) -> bool:
    """Acknowledges (R1): the request has the current epoch, and reports owned partitions without any that is
    being revoked.

    Where a revocation may move the member to its epoch (AcknowledgedEpoch), the previous epoch acknowledges,
    too.
    """
    if kind == "current" or (kind == "retry" and dialect.AcknowledgedEpoch == "next"):
        return request.owned is not None and not request.owned & member.revoking
    return kind == "keep"


def accept(step: Step, member: Member, request: HeartbeatRequest, kind: Kind) -> Result:
    """Steps 2 and 3 of an accepted request, and its response."""
    member_id = request.member_id
    update_target(step)
    target = step.targets.get(member_id, NO_TARGET)
    acknowledges = acknowledges_revocation(step.env.dialect, member, request, kind)
    epoch = step.assignment_epoch
    if step.env.client_side and member_id not in step.targets:
        epoch = member.epoch  # the worker waits for a target that was computed with it (W1)
    new = reconcile(
        step.env.dialect,
        step.group,
        member_id,
        member,
        target.partitions,
        epoch,
        acknowledges,
        request.owned,
        gave_up(step, member_id, member),
        step.place_of,
    )
    acknowledged = now_acknowledged(member, new, target, request, kind)
    if record_changes(step.env.dialect, member, new):
        write_current(step, member_id, new, target)
    if (
        kind == "join"
        or new.previous_epoch != member.previous_epoch
        or new.revoking != member.revoking
        or acknowledged != member.acknowledged
    ):
        step.result.volatile.append(Volatile(member_id, new.previous_epoch, new.revoking, acknowledged))
    _arm_timers(step, member_id, member, new, request, acknowledges)
    step.result.timers += rejoined(step.group, member_id)
    step.result.response = heartbeat_response(
        answered_member_id(step.env.dialect, request),
        new.epoch,
        step.env.heartbeat_interval_ms(step.group.id),
        should_compute(step, member_id),
        _assignment(step, member, new, target, request, kind, acknowledged),
    )
    return step.result


def now_acknowledged(
    member: Member, new: Reconciled, target: Target, request: HeartbeatRequest, kind: Kind
) -> bool:
    """NowAcknowledged (R5): has the member reported exactly the assignment that it was sent last?

    An assignor's error or metadata is news, too (News): the response repeats it until the member has reported
    again.
    """
    if kind in ("join", "keep") or new.assigned != member.assigned:
        return False
    if (target.error or target.metadata_version or target.metadata_bytes) and new.epoch != member.epoch:
        return False
    if kind == "current" and request.owned is not None:
        return request.owned == new.assigned
    return member.acknowledged


def _arm_timers(
    step: Step, member_id: str, member: Member, new: Reconciled, request: HeartbeatRequest, acknowledges: bool
) -> None:
    """H8: every accepted request starts the session anew.

    R4: the time-out of a revocation starts with the first response that asks for it. A revocation after an
    acknowledgement starts the time-out again. A revocation that only grew does not, unless partitions are
    added that had waited (RevocationRestart).
    """
    timers, dialect = step.result.timers, step.env.dialect
    timers.append(Timer("session", member_id, step.now_ms + step.env.session_timeout_ms(step.group.id)))
    if not step.group.members:
        timers.append(Timer("group", "", None))
    if new.revoking:
        grows = dialect.RevocationRestart == "unsubscribed" and new.revoking != member.revoking
        if not member.revoking or acknowledges or grows:
            timeout_ms = request.rebalance_timeout_ms
            if timeout_ms == -1:
                timeout_ms = member.metadata.rebalance_timeout_ms
            timers.append(Timer("rebalance", member_id, step.now_ms + timeout_ms))
    else:
        stored = step.group.members.get(member_id)
        if stored is not None and stored.rebalance_deadline_ms is not None:
            timers.append(Timer("rebalance", member_id, None))


def _assignment(
    step: Step,
    member: Member,
    new: Reconciled,
    target: Target,
    request: HeartbeatRequest,
    kind: Kind,
    acknowledged: bool,
) -> Json | None:
    """SendsAssignment and Pending (R3, R5): the assignment of the response, or None where the member has it
    already."""
    dialect = step.env.dialect
    converged = new.epoch == step.assignment_epoch and not new.revoking
    if dialect.AssignmentSent == "until-acknowledged":
        sends = not (acknowledged and converged and new.assigned == target.partitions)
    else:
        subscribes = request.subscription is not None or request.regex is not None
        full = request.owned is not None and subscribes
        sends = kind in ("join", "keep") or full or new.assigned != member.assigned
    if not sends:
        return None
    pending = target.partitions - new.assigned if converged and dialect.PendingInResponse else NOTHING
    return assignment_to_wire(new.assigned, pending, target)
