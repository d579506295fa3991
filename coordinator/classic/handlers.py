"""Handlers of a classic group's requests and time-outs (C1), with the names of spec/ClassicCoordinator.tla.

A handler gets a step that has the group before it, and changes the step's group. It returns the response, or
None for a request that waits.
"""

from __future__ import annotations

from dataclasses import replace

from coordinator.classic.model import (
    ClassicGroup,
    ClassicMember,
    RequestId,
    identity_error,
    instance_holder,
    select_protocol,
    supports,
)
from coordinator.classic.rebalance import (
    ClassicStep,
    add_member,
    complete_join,
    prepare,
    rebalance,
    remove_member,
    synchronise,
    unanswered,
    without,
)
from coordinator.classic.records import ClassicRecord
from coordinator.classic.request import HeartbeatRequest, JoinRequest, LeaveRequest, SyncRequest
from coordinator.classic.response import (
    heartbeat_response,
    join_error,
    join_response,
    leave_response,
    sync_error,
    sync_response,
)
from coordinator.core.errors import ErrorCode
from coordinator.core.fields import Json


def join_group(step: ClassicStep, request: JoinRequest, member_id: str, waits: RequestId) -> Json | None:
    """JoinGroup (C1). `member_id` is that of the request, or the id that was made for a join without one;
    `waits` names the request while it waits at the barrier."""
    group = step.group
    if group.state == "Dead" and request.member_id:
        return join_error(request.member_id, ErrorCode.UNKNOWN_MEMBER_ID)
    if not supports(group, request.protocol_type, [name for name, _ in request.protocols]):
        return join_error(request.member_id, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    if not request.member_id:
        return _join_unknown(step, request, member_id, waits)
    if member_id in group.pending and request.instance_id is None:
        return _added(step, request, member_id, waits)
    error = identity_error(group, member_id, request.instance_id)
    if error:
        return join_error(request.member_id, error)
    return rejoin(step, request, waits)


def _join_unknown(step: ClassicStep, request: JoinRequest, member_id: str, waits: RequestId) -> Json | None:
    """A join without a member id: a dynamic member must join again with the id that the answer gives it
    (MEMBER_ID_REQUIRED), so that a lost answer leaves no member whose id no client knows."""
    if request.instance_id is None:
        create(step)
        step.become(pending=step.group.pending | {member_id})
        step.arm("session", member_id, request.session_timeout_ms)
        return join_error(member_id, ErrorCode.MEMBER_ID_REQUIRED)
    holder = instance_holder(step.group, request.instance_id)
    if holder is not None:
        return replace_static(step, request, holder, member_id, waits)
    create(step)
    return _added(step, request, member_id, waits)


def create(step: ClassicStep) -> None:
    """CreatedClassic: the record of a new group is in the log before the group has members."""
    if step.group.state == "Dead":
        step.become(state="Empty")
        step.arm("group", "", step.config.empty_retention_ms)
        step.save()


def _added(step: ClassicStep, request: JoinRequest, member_id: str, waits: RequestId) -> Json | None:
    member = ClassicMember(
        request.instance_id,
        request.client_id,
        request.client_host,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        request.protocols,
        fresh=True,
        joining=waits,
    )
    add_member(step, member_id, member, request.protocol_type)
    return _own(step, waits)


def _own(step: ClassicStep, waits: RequestId) -> Json | None:
    """The answer to the request at hand, if its own step gave it."""
    for place, (request, body) in enumerate(step.answers):
        if request == waits:
            del step.answers[place]
            return body
    return None


def joins_with(member: ClassicMember, request: JoinRequest, waits: RequestId | None) -> ClassicMember:
    """JoinsWith: the member of a JoinGroup, with the fields of the request."""
    return replace(
        member,
        protocols=request.protocols,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        joining=waits,
    )


def replace_static(
    step: ClassicStep, request: JoinRequest, old_id: str, new_id: str, waits: RequestId
) -> Json | None:
    """ReplaceStatic (S1): a process with the instance id of a member takes its place.

    A request that waited under the old member id is fenced. In a group that is Stable and keeps its protocol
    no other member is disturbed; a leader that returns is told to assign nothing.
    """
    unanswered(step, old_id, old_id, ErrorCode.FENCED_INSTANCE_ID)
    group = step.group
    old = replace(
        group.members[old_id],
        fresh=False,
        syncing=None,
        client_id=request.client_id,
        client_host=request.client_host,
    )
    members = {name: member for name, member in group.members.items() if name != old_id}
    leader = new_id if group.leader == old_id else group.leader
    step.become(members={**members, new_id: joins_with(old, request, waits)}, leader=leader)
    if group.state == "Stable" and select_protocol(step.group, leader or "") == group.protocol:
        step.change(new_id, joining=None)
        step.arm_session(new_id)
        step.save()
        return join_response(step.group, new_id, skip_assignment=new_id == leader)
    rebalance(step)
    return _own(step, waits)


def rejoin(step: ClassicStep, request: JoinRequest, waits: RequestId) -> Json | None:
    """Rejoined, RejoinClassic (C1, C2): a member that lost the answer gets the present generation once the
    group is synchronised; before that, its JoinGroup aborts the synchronization. The leader forces a
    rebalance (topics may have changed), and so does a member with other metadata."""
    group, member_id = step.group, request.member_id
    member = group.members[member_id]
    same = member.protocols == request.protocols
    goes_on = group.state == "CompletingRebalance" and not step.dialect.aborts_synchronization
    if same and (goes_on or (group.state == "Stable" and member_id != group.leader)):
        return join_response(group, member_id)
    superseded = member.joining
    step.become(members={**group.members, member_id: joins_with(member, request, waits)})
    rebalance(step)
    own = _own(step, waits)
    step.answer(superseded, join_error(member_id, ErrorCode.NOT_COORDINATOR))
    return own


def generation_error(
    group: ClassicGroup, member_id: str, instance_id: str | None, generation: int
) -> ErrorCode:
    """GenerationError (C1): may this member send a request of the group's generation?"""
    if group.state in ("Dead", "Empty"):
        return ErrorCode.UNKNOWN_MEMBER_ID
    error = identity_error(group, member_id, instance_id)
    if not error and generation != group.generation:
        return ErrorCode.ILLEGAL_GENERATION
    return error


def sync_group_error(group: ClassicGroup, request: SyncRequest) -> ErrorCode:
    """SyncError (C1)."""
    error = generation_error(group, request.member_id, request.instance_id, request.generation)
    if error:
        return error
    if request.protocol_type not in (None, group.protocol_type) or request.protocol not in (
        None,
        group.protocol,
    ):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state == "PreparingRebalance" else ErrorCode.NONE


def sync_group(step: ClassicStep, request: SyncRequest, waits: RequestId) -> Json | None:
    """SyncGroup (C1): a member waits for its part of the assignment until the leader sends the assignment."""
    group, member_id = step.group, request.member_id
    error = sync_group_error(group, request)
    if error:
        return sync_error(error)
    superseded = group.members[member_id].syncing
    if group.state == "Stable":
        step.change(member_id, owes_sync=False)
        return sync_response(step.group, member_id)
    step.change(member_id, owes_sync=False, syncing=waits)
    own = None
    if member_id == group.leader:
        synchronise(step, request.assignments)
        own = _own(step, waits)
    step.answer(superseded, sync_error(ErrorCode.NOT_COORDINATOR))
    return own


def heartbeat(step: ClassicStep, request: HeartbeatRequest) -> Json:
    """ClassicHeartbeat (C1, H8): the answer tells the member to go on or to rejoin; the session starts anew
    in both cases."""
    group, member_id = step.group, request.member_id
    error = generation_error(group, member_id, request.instance_id, request.generation)
    if error:
        return heartbeat_response(error)
    if not group.members[member_id].waits:
        step.arm_session(member_id)
    preparing = group.state == "PreparingRebalance"
    return heartbeat_response(ErrorCode.REBALANCE_IN_PROGRESS if preparing else ErrorCode.NONE)


def leave_group(step: ClassicStep, request: LeaveRequest) -> Json:
    """LeaveGroup (C1): members leave, or an administrator removes static members by their instance ids
    alone."""
    if step.group.state == "Dead":
        return leave_response(ErrorCode.UNKNOWN_MEMBER_ID)
    answers = []
    for member_id, instance_id in request.members:
        leaving: str | None = member_id
        error = ErrorCode.NONE
        if not member_id:
            leaving = instance_holder(step.group, instance_id)
            error = ErrorCode.UNKNOWN_MEMBER_ID if leaving is None else ErrorCode.NONE
        elif member_id not in step.group.pending:
            error = identity_error(step.group, member_id, instance_id)
        if leaving is not None and not error:
            remove_member(step, leaving)
        answers.append((member_id, instance_id, error))
    return leave_response(ErrorCode.NONE, answers)


def session_timeout(step: ClassicStep, member_id: str) -> None:
    """ExpireClassic (H8)."""
    remove_member(step, member_id)


def join_timeout(step: ClassicStep) -> None:
    """ExpireJoin (C1): the barrier opens although not all have rejoined. The initial delay is prolonged for
    as long as new members come, up to the rebalance time-out in total."""
    group = step.group
    if not (group.initial and group.new_member and group.remaining_ms):
        complete_join(step)
        return
    delay_ms = min(step.config.initial_delay_ms, group.remaining_ms)
    step.become(new_member=False, remaining_ms=group.remaining_ms - delay_ms)
    step.arm("join", "", delay_ms)


def sync_timeout(step: ClassicStep) -> None:
    """ExpireSync (C1): members that have not sent a SyncGroup in time are removed; all others rejoin."""
    without(step, [name for name, member in step.group.members.items() if member.owes_sync])
    prepare(step)


def delete_group(step: ClassicStep) -> None:
    """DeleteGroup (E5): the group has been empty for the configured time."""
    step.records.append(ClassicRecord(step.group.id, None))
    step.group = ClassicGroup(step.group.id)


def commit_error(group: ClassicGroup, member_id: str, instance_id: str | None, generation: int) -> ErrorCode:
    """ClassicCommitError (O2): only a member of the generation commits, and only after it has its assignment.
    A member that was replaced by a process with its instance id is fenced (S2). A client that is no member,
    with or without an instance id, commits while the group has no members."""
    if generation < 0 and not member_id and group.state in ("Dead", "Empty"):
        return ErrorCode.NONE
    error = generation_error(group, member_id, instance_id, generation)
    if not error and group.state == "CompletingRebalance":
        return ErrorCode.REBALANCE_IN_PROGRESS
    return error
