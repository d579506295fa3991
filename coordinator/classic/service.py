"""The classic groups of a coordinator: requests, time and fail-over around the handlers.

Steps become visible one at a time: when the log has taken the records, the group of the step replaces the
group before, and the answers to requests that waited can be fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from coordinator.admin.groups import CLASSIC, listed
from coordinator.classic import handlers
from coordinator.classic.describe import describe_classic, described
from coordinator.classic.model import ClassicGroup, RequestId, joining
from coordinator.classic.rebalance import ClassicStep
from coordinator.classic.records import ClassicRecord, GroupMetadata, loaded
from coordinator.classic.request import (
    ClassicRequest,
    HeartbeatRequest,
    JoinRequest,
    LeaveRequest,
    SyncRequest,
)
from coordinator.classic.request import invalid as invalid_error
from coordinator.classic.response import heartbeat_response, join_error, leave_response, sync_error
from coordinator.classic.timers import Deadlines, followed, restarted, started
from coordinator.core import fields
from coordinator.core.dialect import Dialect
from coordinator.core.errors import AppendFailed, BatchTooLarge, ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env
from coordinator.core.timers import Due, Timers
from coordinator.offsets.deleted import append_deletion
from coordinator.offsets.records import Offsets
from coordinator.offsets.request import NO_MEMBER_EPOCH, CommitRequest

if TYPE_CHECKING:
    from coordinator.core.log import Log

PENDING: Final[Json] = {}
"""The value in place of a response that comes later, with the answers of `take_completed`."""
MOST_PENDING: Final = 1_000
"""The number of member ids of a group that were given out (MEMBER_ID_REQUIRED) and have not joined."""


class ClassicGroups:
    """The groups of a coordinator that members join with JoinGroup, and the requests that wait."""

    def __init__(self) -> None:
        self.groups: dict[str, ClassicGroup] = {}
        self.saved: dict[str, GroupMetadata] = {}
        """The last record of each group."""
        self._deadlines: dict[str, Deadlines] = {}
        self._timers = Timers()
        self._completed: list[Json] = []

    # Requests

    def request(
        self,
        request: ClassicRequest,
        waits: RequestId,
        admit: Callable[[str], None],
        others: Container[str],
        draw_id: Callable[[ClassicGroup | None], str],
        log: Log,
        env: Env,
        now_ms: int,
    ) -> Json:
        """Handle one request: its response, or PENDING while it waits under the id `waits`.

        `admit` raises RequestRejected for a group that the client may not use; `others` are groups of another
        kind, which a JoinGroup cannot join (C1).
        """
        try:
            admit(request.group_id)
        except RequestRejected as rejected:
            return refusal(request, rejected.code)
        error = invalid_error(request, env.config)
        if not error and isinstance(request, JoinRequest) and request.group_id in others:
            error = ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        if error:
            return refusal(request, error)
        group = self.groups.get(request.group_id) or ClassicGroup(request.group_id)
        step = ClassicStep(group, now_ms, env.config, env.dialect)
        response = _handled(step, request, waits, partial(draw_id, group))
        if len(step.group.pending) > MOST_PENDING:
            self._forget_one(step)
        try:
            self._commit(step, log)
        except AppendFailed as refused:
            return refusal(request, refused.code)
        return PENDING if response is None else response

    def _forget_one(self, step: ClassicStep) -> None:
        """C1: end the session of the pending member id that would end first, so that requests without a
        member id neither fill the memory nor make each other slow. The client of that id begins anew."""
        sessions = self._deadlines[step.group.id]
        known = [name for name in step.group.pending if ("session", name) in sessions]
        first = min(known, key=lambda name: (sessions["session", name], name))
        step.become(pending=step.group.pending - {first})

    def fence(self, request: CommitRequest) -> CommitRequest:
        """O2: an OffsetCommit to a classic group is fenced by its generation alone; the request that remains
        has no member. Raises RequestRejected; a request to another group stays as it is."""
        group = self.groups.get(request.group_id)
        if group is None:
            return request
        error = handlers.commit_error(group, request.member_id, request.instance_id, request.member_epoch)
        if error:
            message = f"Generation {request.member_epoch} may not commit now; rejoin the group."
            raise RequestRejected(error, message)
        return request._replace(member_id="", member_epoch=NO_MEMBER_EPOCH)

    def verify_member(self, group_id: str, member_id: str, generation: int) -> bool:
        """O2: tell if the group is a classic group; then an OffsetFetch that names a member is fenced by its
        generation. Raises RequestRejected with UNKNOWN_MEMBER_ID or ILLEGAL_GENERATION."""
        group = self.groups.get(group_id)
        if group is None:
            return False
        error = handlers.generation_error(group, member_id, None, generation)
        if error:
            raise RequestRejected(error, f"{member_id!r} is no member of generation {generation}; rejoin.")
        return True

    def refuse_consumers(self, group_id: str, dialect: Dialect) -> None:
        """Raises RequestRejected for a ConsumerGroupHeartbeat to a classic group, unless the heartbeat joins:
        that would convert the group (M1). The sender is not a member of this group (H5)."""
        if group_id in self.groups:
            raise RequestRejected(
                ErrorCode[dialect.UnknownGroupError],
                f"Group {group_id} is a classic group; join it first.",
            )

    def refuse_waiting(self, code: ErrorCode, now_ms: int) -> None:
        """Answer each waiting request with this error (H5): this coordinator no longer serves its group.

        Nothing is written: the log belongs to another coordinator. No member waits any more, so that none is
        answered twice, and sessions begin anew, as after any answer.
        """
        self._complete([one for group in self.groups.values() for one in self._dismiss(group, code, now_ms)])

    def _dismiss(
        self,
        group: ClassicGroup,
        code: ErrorCode,
        now_ms: int,
        anew: Deadlines | None = None,
    ) -> list[tuple[RequestId, Json]]:
        """Let no member of the group wait any more, and start their sessions and the timers `anew`; the
        answers."""
        answers: list[tuple[RequestId, Json]] = []
        members, sessions = dict(group.members), {}
        for name, member in group.members.items():
            if member.waits:
                sessions["session", name] = now_ms + member.session_timeout_ms
            if member.joining is not None:
                answers.append((member.joining, join_error(name, code)))
            if member.syncing is not None:
                answers.append((member.syncing, sync_error(code)))
            members[name] = replace(member, joining=None, syncing=None)
        self.groups[group.id] = replace(group, members=members)
        timers = {**sessions, **(anew or {})}
        self._deadlines[group.id] = followed(self.groups[group.id], self._deadlines[group.id], timers)
        for due in self.armed(group.id):
            self._timers.arm(due)
        return answers

    def _complete(self, answers: Iterable[tuple[RequestId, Json]]) -> None:
        ordered = sorted(answers, key=lambda answer: str(answer[0]))
        self._completed += [{"id": request, "body": body} for request, body in ordered]

    def take_completed(self) -> list[Json]:
        """The answers, since the last call, to requests that waited: [{"id", "body"}]."""
        completed, self._completed = self._completed, []
        return completed

    def _commit(self, step: ClassicStep, log: Log) -> None:
        """Make a step durable, and then visible (P3). AppendFailed where the log refuses its records."""
        log.append([[record] for record in step.records], step.config.max_batch_bytes)
        self.show(step)

    def show(self, step: ClassicStep) -> None:
        """Make a step visible, once its records are durable."""
        group = step.group
        for record in step.records:
            if record.value is not None:
                self.saved[group.id] = record.value
        if group.state == "Dead":
            self.groups.pop(group.id, None)
            self.saved.pop(group.id, None)
            self._deadlines.pop(group.id, None)
        else:
            before = self._deadlines.get(group.id, {})
            unchanged = self.groups.get(group.id) is group
            self._deadlines[group.id] = (
                restarted(before, step.timers) if unchanged else followed(group, before, step.timers)
            )
            self.groups[group.id] = group
            for (timer, member_id), deadline_ms in step.timers.items():
                self._timers.arm(Due(deadline_ms, group.id, timer, member_id))
        self._complete(step.answers)

    # Time

    def next_due(self, now_ms: int) -> Due | None:
        """The first timer that is due by then."""
        return self._timers.next_due(self._deadline_ms, now_ms)

    def _deadline_ms(self, due: Due) -> int | None:
        return self._deadlines.get(due.group_id, {}).get((due.timer, due.member_id))

    def armed(self, group_id: str) -> list[Due]:
        """All timers of a group."""
        deadlines = self._deadlines.get(group_id, {})
        return [Due(deadline_ms, group_id, *timer) for timer, deadline_ms in deadlines.items()]

    def fire(self, due: Due, offsets: Offsets, log: Log, env: Env, now_ms: int) -> bool:
        """Let a timer run out; a deleted group's offsets are deleted with it. False: the log refused."""
        before = self.groups[due.group_id]
        step = ClassicStep(before, now_ms, env.config, env.dialect)
        if due.timer == "session":
            handlers.session_timeout(step, due.member_id)
        elif due.timer == "join":
            handlers.join_timeout(step)
        elif due.timer == "sync":
            handlers.sync_timeout(step)
        else:
            handlers.delete_group(step)
        try:
            if due.timer == "group":
                self._delete(step, offsets, log)
            else:
                self._commit(step, log)
        except AppendFailed as refused:
            waited = isinstance(refused, BatchTooLarge) and self._end_barrier(before, refused.code, now_ms)
            if waited and due.timer == "join":
                return True
            self.put_off(due, now_ms, env.config.timer_retry_ms)
            return False
        anew_ms = step.timers.get((due.timer, due.member_id))
        if step.group == before and anew_ms is not None:
            # Nothing has changed, and nothing will before a session ends, which a log that refuses delays.
            armed = self._deadlines[due.group_id]
            ends_ms = [end_ms for (timer, _), end_ms in armed.items() if timer == "session"]
            armed[due.timer, due.member_id] = max(anew_ms, *ends_ms)
        return True

    def put_off(self, due: Due, now_ms: int, first_ms: int) -> None:
        """Let a timer run out later, if it is still armed (kinds.py)."""
        if self._deadline_ms(due) is not None:
            retry_ms = self._timers.put_off(due, now_ms, first_ms)
            self._deadlines[due.group_id][due.timer, due.member_id] = retry_ms

    def _end_barrier(self, group: ClassicGroup, code: ErrorCode, now_ms: int) -> bool:
        """Answer the members behind the barrier, whose generation no batch can hold (P4). False: there are
        none.

        The log is as it was, so that the group is still between two generations: who wants to be in the next
        one joins again before the time-out, which starts anew. Members that do not are removed then, as ever,
        and the rest may fit. The initial delay is over, and each client has its member id by this answer.
        """
        if not joining(group):
            return False
        members = {name: replace(member, fresh=False) for name, member in group.members.items()}
        began = replace(group, members=members, remaining_ms=None, new_member=False)
        anew = {("join", ""): now_ms + group.rebalance_timeout_ms()}
        self._complete(self._dismiss(began, code, now_ms, anew))
        return True

    def delete(self, group_id: str, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """DeleteGroups (D1): delete a group without members, and its offsets.

        Raises RequestRejected where the group has members or waits for some, AppendFailed where the log
        refuses.
        """
        group = self.groups[group_id]
        if group.state != "Empty":
            raise RequestRejected(
                ErrorCode.NON_EMPTY_GROUP, f"Group {group_id} has members; stop them first."
            )
        step = ClassicStep(group, now_ms, env.config, env.dialect)
        handlers.delete_group(step)
        self._delete(step, offsets, log)

    def _delete(self, step: ClassicStep, offsets: Offsets, log: Log) -> None:
        append_deletion(log, offsets, step.group.id, step.records, step.config.max_batch_bytes)
        self.show(step)

    # Reading and fail-over

    def listed(self) -> list[Json]:
        """The groups, as ListGroups has them (D1)."""
        return [listed(group.id, group.protocol_type, group.state, CLASSIC) for group in self.groups.values()]

    def describe(self, group_id: str) -> Json:
        """The whole state of a group that is here."""
        return describe_classic(self.groups[group_id], self._deadlines[group_id])

    def volatile(self, group: str | None) -> Json:
        """The state that `restore` takes: of one group or of all."""
        return {name: self.describe(name) for name in sorted(self.groups) if group in (None, name)}

    def replay(self, records: Iterable[object], env: Env, now_ms: int) -> None:
        """C2, P2: restore the groups of the log. Requests that waited are lost, and timers start anew."""
        last = {record.group_id: record.value for record in records if isinstance(record, ClassicRecord)}
        self._completed.clear()
        self.saved = {name: value for name, value in last.items() if value is not None}
        self.groups = {name: loaded(name, value) for name, value in self.saved.items()}
        self._deadlines = {
            name: started(group, now_ms, env.config.empty_retention_ms) for name, group in self.groups.items()
        }
        self._arm_all()

    def restore(self, volatile: Mapping[str, object], now_ms: int) -> None:
        """Replace groups by those that a coordinator's volatile state has. BadInput where it is none."""
        shift_ms = now_ms - (fields.optional_integer(volatile, "clockMs", "volatile") or 0)
        given = fields.mapping(volatile, "classic", "volatile") if "classic" in volatile else {}
        read = {
            name: described(fields.as_object(one, f"volatile classic group {name!r}"), name, shift_ms)
            for name, one in given.items()
        }
        self.groups |= {name: group for name, (group, _) in read.items()}
        self._deadlines |= {name: deadlines for name, (_, deadlines) in read.items()}
        self._arm_all()

    def _arm_all(self) -> None:
        self._timers = Timers()
        for group_id in self.groups:
            for due in self.armed(group_id):
                self._timers.arm(due)


def _handled(
    step: ClassicStep, request: ClassicRequest, waits: RequestId, draw_id: Callable[[], str]
) -> Json | None:
    if isinstance(request, JoinRequest):
        member_id = request.member_id or draw_id()
        while not request.member_id and member_id in step.group.pending:
            member_id = draw_id()
        return handlers.join_group(step, request, member_id, waits)
    if isinstance(request, SyncRequest):
        return handlers.sync_group(step, request, waits)
    if isinstance(request, HeartbeatRequest):
        return handlers.heartbeat(step, request)
    return handlers.leave_group(step, request)


def refusal(request: ClassicRequest, code: ErrorCode) -> Json:
    """A response that is nothing but an error."""
    if isinstance(request, JoinRequest):
        return join_error(request.member_id, code)
    if isinstance(request, SyncRequest):
        return sync_error(code)
    return leave_response(code) if isinstance(request, LeaveRequest) else heartbeat_response(code)
