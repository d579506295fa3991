"""The entry to online migration: the requests that are translated, and those that convert the group (M1,
M2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from coordinator.classic.model import ClassicGroup, RequestId
from coordinator.classic.rebalance import ClassicStep
from coordinator.classic.records import GroupMetadata
from coordinator.classic.request import ClassicRequest, JoinRequest, LeaveRequest, SyncRequest, invalid
from coordinator.classic.service import PENDING, refusal
from coordinator.consumer.heartbeat import consumer_group_heartbeat
from coordinator.consumer.model import Group
from coordinator.consumer.request import HeartbeatRequest
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env, Result
from coordinator.migration import handlers
from coordinator.migration.downgrade import converted_back, downgraded
from coordinator.migration.upgrade import dissolved, sessions, upgraded


def translate(
    env: Env,
    group: Group,
    request: ClassicRequest,
    waits: RequestId,
    draw_id: Callable[[Group], str],
    now_ms: int,
    commit: Callable[[Result], None],
    onward: Callable[[], Json],
) -> Result:
    """A request of the classic protocol to a consumer group. Raises RequestRejected.

    A JoinGroup that waits, because it has converted the group to a classic one, has the response PENDING. A
    JoinGroup to a group without members goes `onward`, once `commit` has made a classic group of it.
    """
    error = invalid(request, env.config)
    if error:
        raise RequestRejected(error, "The request is invalid whatever the group.")
    if empties(group, request):
        commit(downgraded(env, group, {}, now_ms))
        return Result(group.id, response=onward())
    if isinstance(request, JoinRequest):
        made_id = request.member_id or draw_id(group)
        result = handlers.join_group(env, group, request, made_id, waits, now_ms)
        return _waiting(result, waits)
    if isinstance(request, SyncRequest):
        return handlers.sync_group(env, group, request, now_ms)
    if isinstance(request, LeaveRequest):
        return handlers.leave_group(env, group, request, now_ms)
    return handlers.heartbeat(group, request, now_ms)


def refuse(request: ClassicRequest, code: ErrorCode, _: str) -> Json:
    """The response with an error; responses of the classic protocol have no field for a message."""
    return refusal(request, code)


def _waiting(result: Result, waits: RequestId) -> Result:
    """The answer to the request at hand, if its own step gave that answer."""
    step = result.classic_step
    if step is not None:
        own = [body for name, body in step.answers if name == waits]
        step.answers = [one for one in step.answers if one[0] != waits]
        result.response = own[0] if own else PENDING
    return result


def empties(group: Group, request: ClassicRequest) -> bool:
    """Tell if this JoinGroup makes a classic group of a consumer group without members (M1)."""
    return (
        isinstance(request, JoinRequest)
        and not group.members
        and not request.member_id
        and bool(request.protocol_type and request.protocols)
    )


def convert(
    env: Env, classic: ClassicGroup, saved: GroupMetadata | None, request: HeartbeatRequest, now_ms: int
) -> Result:
    """Convert (M1): the first ConsumerGroupHeartbeat that joins a classic group makes it a consumer group.

    Raises RequestRejected; then the group is unchanged. It is unchanged, too, if the log refuses.
    """
    group, records = upgraded(env, classic, saved)
    result = consumer_group_heartbeat(env, group, request, now_ms)
    step = ClassicStep(classic, now_ms, env.config, env.dialect)
    dissolved(step)
    result.records[:0] = records
    left = {} if group is None else group.members.keys() - _removed(result)
    anew = (
        [timer for timer in sessions(group, now_ms) if timer.member_id in left] if group is not None else []
    )
    result.timers[:0] = anew
    result.classic_step = step
    return result


def _removed(result: Result) -> set[str]:
    """Members whose place the step has given to another member (S1)."""
    from coordinator.consumer.records import MEMBER_METADATA, Record

    return {
        record.member_id or ""
        for record in result.records
        if isinstance(record, Record) and record.type == MEMBER_METADATA and record.value is None
    }


def settled(env: Env, groups: Mapping[str, Group], results: Sequence[Result], now_ms: int) -> list[Result]:
    """The steps; a step that removes the last member of the consumer protocol converts the group back
    (M1)."""
    return [
        converted_back(env, groups[one.group_id], one, now_ms) if one.gone and one.group_id in groups else one
        for one in results
    ]
