"""The Connect groups of a coordinator: requests, events, time and fail-over around the handlers (W1).

A Connect group is a consumer group, with its records and timers, and its work (model.py). Connectors are
represented as topics: a connector with n - 1 tasks is a topic with n partitions (spec/Connect.tla, 11).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping
from typing import TYPE_CHECKING

from coordinator.admin.groups import CONNECT, check_deletion, listed
from coordinator.connect import handlers
from coordinator.connect.describe import ASSIGNMENT, describe_connect, restore, timers_of, volatile_of
from coordinator.connect.handlers import Worked
from coordinator.connect.model import NO_WORK, Work, target_is_due, workers_of
from coordinator.connect.records import ConnectRecord, Lost, shared_record
from coordinator.connect.request import ConnectRequest, PrepareRequest, WorkerHeartbeat, validate
from coordinator.connect.response import heartbeat_error, install_response, prepare_error
from coordinator.consumer.load import groups_from, restore_volatile
from coordinator.consumer.membership import delete_group, rebalance_timeout, session_timeout
from coordinator.consumer.metadata import notice_topics
from coordinator.consumer.model import Group, Partition, TopicImage, group_state
from coordinator.consumer.notice import follows
from coordinator.consumer.request import JOIN_EPOCH
from coordinator.core import fields
from coordinator.core.dialect import Dialect
from coordinator.core.errors import AppendFailed, BadInput, ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env, Timer
from coordinator.core.timers import Due, Timers
from coordinator.offsets.deleted import append_deletion
from coordinator.offsets.records import Offsets

if TYPE_CHECKING:
    from coordinator.core.log import Log


class ConnectGroups:
    """The groups of a coordinator that workers join with ConnectGroupHeartbeat."""

    def __init__(self) -> None:
        self.groups: dict[str, Group] = {}
        self._work: dict[str, Work] = {}
        self._assignment_ms: dict[str, int] = {}
        """The time by which a group's chosen worker must have installed a target."""
        self._timers = Timers()
        self._envs: tuple[Env, Env] | None = None

    # Requests

    def request(
        self,
        request: ConnectRequest,
        waits: int | str,
        admit: Callable[[str], None],
        others: Container[str],
        draw_id: Callable[[Group | None], str],
        log: Log,
        env: Env,
        now_ms: int,
    ) -> Json:
        """Handle one request. `admit` raises RequestRejected for a group that the client may not use;
        `others` are groups of another kind. Requests of workers never wait, and workers bring their own
        ids."""
        group_id = request.group_id
        try:
            admit(group_id)
            validate(request, self._waits(request))
            if group_id in others:
                heartbeat = isinstance(request, WorkerHeartbeat)
                error = env.dialect.OtherKindError if heartbeat else "GROUP_ID_NOT_FOUND"
                raise RequestRejected(ErrorCode[error], f"Group {group_id} is no Connect group.")
            worked = self._handled(request, self._env(env), now_ms)
            self._commit(worked, log, env, now_ms)
        except RequestRejected as rejected:
            return refusal(request, rejected.code, rejected.message)
        except AppendFailed as refused:
            return refusal(request, refused.code, refused.sentence)
        return worked.response or {}

    def _waits(self, request: ConnectRequest) -> bool:
        """Waits (W1): has the worker joined, without a target so far that was computed with it?"""
        group = self.groups.get(request.group_id)
        if group is None or not isinstance(request, WorkerHeartbeat):
            return False
        member = group.members.get(request.heartbeat.member_id)
        return member is not None and member.epoch == JOIN_EPOCH

    def _handled(self, request: ConnectRequest, env: Env, now_ms: int) -> Worked:
        group, work = self.groups.get(request.group_id), self._work.get(request.group_id, NO_WORK)
        if isinstance(request, WorkerHeartbeat):
            return handlers.connect_group_heartbeat(env, group, work, request.heartbeat, now_ms)
        if isinstance(request, PrepareRequest):
            return handlers.prepare_assignment(group, work, request)
        return handlers.install_assignment(group, work, request)

    def refuse_consumers(self, group_id: str, dialect: Dialect) -> None:
        """Raises RequestRejected for a ConsumerGroupHeartbeat to a group that is here (H5)."""
        if group_id in self.groups:
            raise RequestRejected(ErrorCode[dialect.OtherKindError], f"Group {group_id} is a Connect group.")

    def _env(self, env: Env) -> Env:
        """The environment of the shared handlers: connectors as topics, and targets that workers compute. The
        records have the draft's fields, which no dialect changes."""
        if self._envs is None or self._envs[0] is not env:
            topics = {name: TopicImage(name, image.partitions) for name, image in env.topics.items()}
            dialect = dataclasses.replace(env.dialect, RevocationRecorded=False, PartitionEpochs=False)
            self._envs = env, dataclasses.replace(env, dialect=dialect, topics=topics, client_side=True)
        return self._envs[1]

    def _commit(self, worked: Worked, log: Log, env: Env, now_ms: int) -> None:
        """Make a step durable, and then visible (P3). AppendFailed where the log refuses its records."""
        log.append([worked.records], env.config.max_batch_bytes)
        self.show(worked, now_ms)

    def show(self, worked: Worked, now_ms: int) -> None:
        """Make a step visible, once its records are durable."""
        from coordinator.core.log import show

        group_id = worked.result.group_id
        before = self.groups.get(group_id)
        epoch = None if before is None else before.assignment_epoch
        was = self._work.get(group_id, NO_WORK).chosen
        show(self.groups, {}, worked.result, 0)
        group = self.groups.get(group_id)
        if group is None:
            self._work.pop(group_id, None)
            return
        self._work[group_id] = worked.work
        self._follow_assignment(
            group, now_ms, anew=was != worked.work.chosen or epoch != group.assignment_epoch
        )
        for due in self.armed(group_id):
            self._timers.arm(due)

    def _follow_assignment(self, group: Group, now_ms: int, anew: bool = False) -> None:
        """W1: the chosen worker's rebalance time-out starts when a target becomes due, or when the worker is
        chosen.

        A worker that should be removed but that the log keeps is waited for until the log is tried again:
        otherwise workers that cannot be removed would be chosen in circles.
        """
        chosen = self._work[group.id].chosen
        if not chosen or not target_is_due(group):
            self._assignment_ms.pop(group.id, None)
        elif anew or group.id not in self._assignment_ms:
            member = group.members[chosen]
            deadline_ms = now_ms + member.metadata.rebalance_timeout_ms
            session = Due(member.session_deadline_ms, group.id, "session", chosen)
            if self._timers.is_put_off(session):
                deadline_ms = max(deadline_ms, member.session_deadline_ms)
            self._assignment_ms[group.id] = deadline_ms

    # Events

    def notice_topics(self, env: Env, now_ms: int) -> list[Worked]:
        """E1: the groups' reaction to the connectors and tasks of `env`; it becomes visible by `show`. A
        group that cannot follow (`follows`) is left out."""
        ours = self._env(env)
        steps = [
            handlers.follow_work(group, notice_topics(ours, group, now_ms), self._work[group_id])
            for group_id, group in sorted(self.groups.items())
        ]
        limit = env.config.max_batch_bytes
        return [one for one in steps if follows(one.result.group_id, one.records, limit)]

    def next_due(self, now_ms: int) -> Due | None:
        """The first timer that is due by then."""
        return self._timers.next_due(self._deadline_ms, now_ms)

    def _deadline_ms(self, due: Due) -> int | None:
        armed = {one[1:]: one.deadline_ms for one in self.armed(due.group_id)}
        return armed.get(due[1:])

    def armed(self, group_id: str) -> list[Due]:
        """All timers of a group."""
        group = self.groups.get(group_id)
        if group is None:
            return []
        return timers_of(group, self._work[group_id], self._assignment_ms.get(group_id))

    def fire(self, due: Due, offsets: Offsets, log: Log, env: Env, now_ms: int) -> bool:
        """Let a timer run out. False: the log refused, and the timer runs out again a moment later."""
        ours, group, work = self._env(env), self.groups[due.group_id], self._work[due.group_id]
        if due.timer == ASSIGNMENT:
            self._work[group.id] = handlers.choose_another(group, work)
            self._follow_assignment(group, now_ms, anew=True)
            for armed in self.armed(group.id):
                self._timers.arm(armed)
            return True
        try:
            if due.timer == "group":
                self._delete(group, offsets, log, env, now_ms)
            else:
                run_out = session_timeout if due.timer == "session" else rebalance_timeout
                result = run_out(ours, group, due.member_id, now_ms)
                self._commit(handlers.follow_work(group, result, work), log, env, now_ms)
        except AppendFailed:
            self.put_off(due, now_ms, env.config.timer_retry_ms)
            return False
        return True

    def put_off(self, due: Due, now_ms: int, first_ms: int) -> None:
        """Let a timer run out later, if it is still armed (kinds.py)."""
        from coordinator.core.log import set_timer

        if self._deadline_ms(due) is None:
            return
        retry_ms = self._timers.put_off(due, now_ms, first_ms)
        if due.timer == ASSIGNMENT:
            self._assignment_ms[due.group_id] = retry_ms
        else:
            set_timer(self.groups[due.group_id], Timer(due.timer, due.member_id, retry_ms))

    def delete(self, group_id: str, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """DeleteGroups (D1), as `check_deletion` allows it. AppendFailed where the log refuses."""
        check_deletion(self.groups, {}, group_id)
        self._delete(self.groups[group_id], offsets, log, env, now_ms)

    def _delete(self, group: Group, offsets: Offsets, log: Log, env: Env, now_ms: int) -> None:
        """E5: delete the group and its offsets. AppendFailed where the log refuses."""
        result = delete_group(self._env(env), group, now_ms)
        worked = handlers.follow_work(group, result, self._work[group.id])
        append_deletion(log, offsets, group.id, worked.records, env.config.max_batch_bytes)
        self.show(worked, now_ms)

    # Reading and fail-over

    def listed(self) -> list[Json]:
        """The groups, as ListGroups has them (D1)."""
        return [listed(group.id, CONNECT, group_state(group), CONNECT) for group in self.groups.values()]

    def describe(self, group_id: str) -> Json:
        """The whole state of a group that is here."""
        return describe_connect(
            self.groups[group_id], self._work[group_id], self._assignment_ms.get(group_id)
        )

    def volatile(self, group: str | None) -> Json:
        """The state in the form of `load`: of one group or of all."""
        return {
            name: volatile_of(one, self._work[name], self._assignment_ms.get(name))
            for name, one in sorted(self.groups.items())
            if group in (None, name)
        }

    def replay(self, records: Iterable[object], env: Env, now_ms: int) -> None:
        """P2: restore the groups of the log: lost work is kept, the computing worker is chosen anew, and all
        timers are armed."""
        ours = [record for record in records if isinstance(record, ConnectRecord)]
        shared = [one for one in map(shared_record, ours) if one is not None]
        self.groups = groups_from(shared, 0)
        if self.groups:
            restore_volatile(self.groups, {}, self._env(env), now_ms)
        lost: dict[str, dict[Partition, str]] = {name: {} for name in self.groups}
        last = {
            (record.group_id, record.member_id): record.value
            for record in ours
            if shared_record(record) is None
        }
        for (group_id, worker), value in last.items():
            if isinstance(value, Lost) and group_id in lost:
                lost[group_id].update(dict.fromkeys(value.resources, worker or ""))
        self._work, self._assignment_ms, self._timers = {}, {}, Timers()
        for name, group in self.groups.items():
            self._work[name] = handlers.choose(Work(lost=lost[name]), workers_of(group))
            self._follow_assignment(group, now_ms)
        self._arm_all()

    def restore(self, volatile: Mapping[str, object], now_ms: int) -> None:
        """Give groups their part of a coordinator's volatile state. BadInput where it is no such state."""
        shift_ms = now_ms - (fields.optional_integer(volatile, "clockMs", "volatile") or 0)
        given = fields.mapping(volatile, "connect", "volatile") if "connect" in volatile else {}
        for name in given:
            if name not in self.groups:
                raise BadInput(f"volatile names the Connect group {name!r}, which the records do not have")
            known = fields.mapping(given, name, "volatile")
            self._work[name], due_ms = restore(self.groups[name], self._work[name], known, shift_ms)
            if due_ms is not None:
                self._assignment_ms[name] = due_ms
        self._arm_all()

    def _arm_all(self) -> None:
        self._timers = Timers()
        for group_id in self.groups:
            for due in self.armed(group_id):
                self._timers.arm(due)


def refusal(request: ConnectRequest, code: ErrorCode, message: str) -> Json:
    """A response with an error and no other data."""
    if isinstance(request, WorkerHeartbeat):
        return heartbeat_error(code, message)
    if isinstance(request, PrepareRequest):
        return prepare_error(code, message)
    return install_response(code, message)
