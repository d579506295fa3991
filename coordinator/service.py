"""The coordinator of many groups: requests, topics, time and fail-over around the handlers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import inf
from typing import Any

from coordinator.admin.groups import deletion
from coordinator.admin.handle import administer
from coordinator.admin.metrics import Metrics, Sample
from coordinator.admin.requests import AdminRequest
from coordinator.apis import OfKind, Refusal, parse
from coordinator.assignors import GroupAssignment, PartitionAssignor, RangeAssignor, UniformAssignor
from coordinator.classic.model import ClassicGroup
from coordinator.classic.request import ClassicRequest
from coordinator.computing.handle import compute, compute_error
from coordinator.connect.handlers import Worked
from coordinator.consumer.describe import describe_group
from coordinator.consumer.describe_request import DescribeRequest, consumer_group_describe
from coordinator.consumer.heartbeat import consumer_group_heartbeat
from coordinator.consumer.load import restore_volatile, volatile_of
from coordinator.consumer.membership import TIMEOUTS
from coordinator.consumer.model import Group, Topics
from coordinator.consumer.notice import notice_everywhere
from coordinator.consumer.request import JOIN_EPOCH, HeartbeatRequest, client_of
from coordinator.consumer.response import error_response
from coordinator.consumer.validation import validate_heartbeat
from coordinator.core import wire
from coordinator.core.admission import ACTIVE, Admission, Authorizer, allow_everything, known_state
from coordinator.core.answer import answered
from coordinator.core.clock import Clock, SimulatedClock, numbered_ids
from coordinator.core.cluster import changed, changes_to
from coordinator.core.config import Config, configured
from coordinator.core.dialect import Dialect
from coordinator.core.errors import AppendFailed, BadInput
from coordinator.core.fields import Json
from coordinator.core.log import Log, commit, opened, set_timer, show
from coordinator.core.step import Env, Result, Timer
from coordinator.core.storage import LogStorage
from coordinator.core.timers import Due, Timers, armed_timers, deadline_ms, one_of, run_out
from coordinator.kinds import Kind
from coordinator.loading import Loaded, loaded, read
from coordinator.migration.phases import follow
from coordinator.migration.service import convert, refuse, settled, translate
from coordinator.offsets.delete import Deletion, offset_delete, offset_delete_error
from coordinator.offsets.handlers import offset_commit, offset_commit_error, offset_fetch
from coordinator.offsets.records import Offsets
from coordinator.offsets.request import CommitRequest, FetchRequest
from coordinator.others import OtherGroups
from coordinator.record_kinds import to_wire


class Coordinator:
    """A group coordinator in this process. Callers must not change JSON that it returns: the JSON is shared.

    `ids` gives the id of a member that joins without one. `assignors` are given by name, the default first.
    `authorizer` decides on the rights of clients (admission.py); without an authorizer everyone may do
    everything. With a `storage` the coordinator continues the log there, and answers once its records are in
    it (P3). Methods raise BadInput for a caller's mistake; then nothing has changed.
    """

    def __init__(
        self,
        *,
        dialect: Dialect | None = None,
        clock: Clock | None = None,
        ids: Iterator[str] | Callable[[], str] | None = None,
        assignors: Mapping[str, PartitionAssignor] | None = None,
        config: Config | None = None,
        authorizer: Authorizer = allow_everything,
        storage: LogStorage | None = None,
    ) -> None:
        self.clock: Clock = clock or SimulatedClock()
        source = ids or numbered_ids()
        self._draw_id = source if callable(source) else source.__next__
        self._next_ids: list[str] = []
        self._scripts: dict[str, GroupAssignment | str] = {}
        self._groups: dict[str, Group] = {}
        self.others = OtherGroups()
        self._offsets: Offsets = {}
        self._log, self._admission = Log(), Admission(authorizer)
        self._started, self._opened = False, storage is not None
        self._timers, self._metrics = Timers(), Metrics()
        known = assignors or {"uniform": UniformAssignor(), "range": RangeAssignor()}
        self._env = Env(dialect or Dialect(), config or Config(), known, {}, self._scripts)
        if storage is not None:
            self._log, changes = opened(storage)
            for change in changes:
                self._env = changed(self._env, change)
            self.restart()

    @property
    def dialect(self) -> Dialect:
        """The coordinator's departures from KIP-848's text."""
        return self._env.dialect

    # Requests

    def request(self, api: str, version: int, client: Json, body: Json, id: int | str | None = None) -> Json:
        """Handle one request and return the body of its response, both as in Kafka's schema (lowerCamelCase).

        `client` has the optional strings id, host and principal. A JoinGroup or SyncGroup that must wait
        gives `classic.service.PENDING`; `others.take_completed` names it by `id`, or by its API and client.
        """
        request = parse(api, version, client, body)
        self._started = True
        if isinstance(request, OfKind):
            named = f"{api} {client.get('id', '')}" if id is None else id
            return self._other_request(*request, named, client_of(client)[2])
        if isinstance(request, DescribeRequest):
            may = self._admission.allows
            return consumer_group_describe(self._env, self._groups, request, may, self._admission.state)
        if isinstance(request, FetchRequest):
            admit = partial(self._admission.admit, request.principal, "DESCRIBE")
            verify = partial(self.others.verify_member, self._env, self._groups)
            return offset_fetch(self._env, self._offsets, request, admit, verify)
        if isinstance(request, AdminRequest):
            return self._administer(request)
        sent = request.group_id, request.principal
        if isinstance(request, CommitRequest):
            handle = partial(self._offset_commit, request)
            return self._answer(*sent, partial(offset_commit_error, request), handle)
        if isinstance(request, HeartbeatRequest):
            return self._answer(*sent, error_response, partial(self._heartbeat, request))
        handle = partial(compute, self._env, self._groups.get(request.group_id), request, self.clock.now_ms())
        return self._answer(*sent, compute_error(request), handle)

    def _administer(self, request: AdminRequest) -> Json:
        every, may = (self._groups, self.others.listed(), self._offsets), self._admission
        return administer(request, self._env, every, may.allows, may.state, self._delete, self._set_configs)

    def delete_offsets(self, request: Deletion) -> Json:
        """OffsetDelete, which the line protocol does not have (D1)."""
        here = self._env, self._groups, self.others.subscribed, self._offsets
        admit = partial(self._admission.admit, request.principal, "DELETE", request.group_id)
        return answered(admit, offset_delete_error, partial(offset_delete, *here, request), self._commit)

    def _delete(self, group_id: str) -> None:
        now_ms = self.clock.now_ms()
        if group_id in self.others:
            return self.others.delete(group_id, self._offsets, self._log, self._env, now_ms)
        self._commit(*deletion(self._env, self._groups, self._offsets, group_id, now_ms))

    def _set_configs(self, change: Json) -> None:
        self._commit(change=change)
        self._env = changed(self._env, change)

    def _heartbeat(self, request: HeartbeatRequest) -> Result:
        validate_heartbeat(request, self._env.assignors, self.dialect)
        group, now_ms = self._groups.get(request.group_id), self.clock.now_ms()
        joins, classic = request.member_epoch == JOIN_EPOCH, self.others.classic
        converts = classic.groups.get(request.group_id) if joins else None
        if converts is None:
            self.others.refuse_consumers(request.group_id, self.dialect)
        if joins and not request.member_id:
            request = request._replace(member_id=self._new_id(converts or group))
        if converts is not None:
            return convert(self._env, converts, classic.saved.get(converts.id), request, now_ms)
        return consumer_group_heartbeat(self._env, group, request, now_ms)

    def _other_request(self, kind: Kind[Any], request: Any, waits: int | str, principal: str) -> Json:
        admit = partial(self._admission.admit, principal, "READ")
        here = self._groups, self._new_id, self._log, self._env, self.clock.now_ms()
        other = partial(self.others.request, kind, request, waits, admit, *here)
        if not isinstance(request, ClassicRequest) or request.group_id not in self._groups:
            return other()
        group, id, now_ms = self._groups[request.group_id], self._new_id, self.clock.now_ms()
        handle = partial(translate, self._env, group, request, waits, id, now_ms, self._commit, other)
        return self._answer(request.group_id, principal, partial(refuse, request), handle)

    def _offset_commit(self, request: CommitRequest) -> Result:
        group = self._groups.get(request.group_id)
        return offset_commit(self._env, group, self.others.fence(self._env, request), self.clock.now_ms())

    def _answer(self, group_id: str, principal: str, error: Refusal, handle: Callable[[], Result]) -> Json:
        admit = partial(self._admission.admit, principal, "READ", group_id)
        return answered(admit, error, handle, self._commit)

    def _new_id(self, group: Group | ClassicGroup | None) -> str:
        """H1, C1: an id that no member of the group has: a repeated id would make the join a rejoin."""
        while True:
            member_id = self._next_ids.pop(0) if self._next_ids else self._draw_id()
            if group is None or member_id not in group.members:
                return member_id

    def _commit(self, *results: Result, change: Json | None = None, work: Sequence[Worked] = ()) -> None:
        """Take steps and a change of the cluster, all or none; AppendFailed where the log refuses."""
        if change is None and not work and len(results) == 1 and results[0].writes_nothing:
            show(self._groups, self._offsets, results[0])
            return self._follow(results[0].group_id, results[0].timers)
        limit, now_ms = self._env.config.max_batch_bytes, self.clock.now_ms()
        taken = settled(self._env, self._groups, results, now_ms)
        here = self._log, self._groups, self._offsets
        commit(*here, taken, limit, change, self.dialect.initial_epoch, [one.records for one in work])
        for worked in work:
            self.others.connect.show(worked, now_ms)
        self._metrics.committed(taken, now_ms)
        for result in taken:
            if result.script_used:
                del self._scripts[result.group_id]
            if result.classic_step is not None:
                self.others.classic.show(result.classic_step)
            self._follow(result.group_id, result.timers)

    def _follow(self, group_id: str, timers: Sequence[Timer]) -> None:
        """Arm the timers that a step set, and those of members that must rejoin after it (M3)."""
        group = self._groups.get(group_id)
        more = follow(group, self.clock.now_ms()) if group is not None else []
        for timer in more:
            set_timer(self._groups[group_id], timer)
        for timer in (*timers, *more):
            if timer.deadline_ms is not None:
                self._timers.arm(Due(timer.deadline_ms, group_id, timer.name, timer.member_id))

    def use_ids(self, ids: Sequence[str]) -> None:
        """Set the ids of the next members that join without one; after them come those of the source."""
        self._next_ids.extend(ids)

    # Topics

    @property
    def topics(self) -> Topics:
        """The cluster's topics: name -> id and number of partitions."""
        return self._env.topics

    def upsert_topic(self, name: str, topic_id: str, partitions: int) -> None:
        """Create a topic, add partitions to it, or recreate it under another id (T2)."""
        self.set_topics([{"name": name, "id": topic_id, "partitions": partitions}], [])

    def delete_topic(self, name: str) -> None:
        """Delete a topic; members that hold its partitions are told to revoke them."""
        self.set_topics([], [name])

    def set_topics(self, upsert: Sequence[object], delete: Sequence[str]) -> None:
        """Change topics, all at once: upsert [{"name", "id", "partitions"}], delete names.

        Groups notice the change at once (E1). Raises AppendFailed when the log refuses their records.
        """
        change = {"topics": {"upsert": list(upsert), "delete": list(delete)}}
        env = changed(self._env, change)
        deleted = not self._env.names_by_id.keys() <= env.names_by_id.keys()
        results, work = self._notice_topics(env, deleted) if self._admission.active else ([], [])
        try:
            self._commit(*results, change=change, work=work)
        except AppendFailed as refused:
            raise AppendFailed(f"{refused}; the topics are as they were") from None
        self._env = env

    def _notice_topics(self, env: Env, deleted: bool) -> tuple[list[Result], list[Worked]]:
        now_ms = self.clock.now_ms()
        results = notice_everywhere(env, self._groups, self._offsets, deleted, now_ms)
        return results, self.others.connect.notice_topics(env, now_ms)

    # Time

    def advance(self, ms: int) -> list[Json]:
        """Move a simulated clock, firing every timer at its time: [{"timer", "group", "member"}] in order."""
        if not isinstance(self.clock, SimulatedClock):
            raise BadInput("only a simulated clock can be advanced; this coordinator's is real")
        end_ms = self.clock.later(ms)
        fired = self._fire_until(end_ms, self.clock)
        self.clock.set(end_ms)
        return fired

    def fire_due(self, patience_ms: float = inf) -> list[Json]:
        """Fire timers that are due by the clock, for `patience_ms` at most; others fire at the next call."""
        return self._fire_until(self.clock.now_ms(), None, self.clock.now_ms() + patience_ms)

    def _fire_until(self, end_ms: int, simulated: SimulatedClock | None, last_ms: float = inf) -> list[Json]:
        def fire(due: Due) -> bool:
            if simulated is not None:
                simulated.set(max(simulated.now_ms(), due.deadline_ms))
            return self._fire(due)

        return run_out(partial(self._next_due, end_ms, last_ms), fire, self._put_off)

    def fire(self, timer: str, group: str, member: str = "") -> bool:
        """Fire this timer alone, at any time; BadInput if the timer is not armed. False: the log refused."""
        if not self._admission.active:
            raise BadInput(f"no timer fires while the coordinator is {self._admission.state}")
        armed = armed_timers(self._groups[group]) if group in self._groups else self.others.armed(group)
        return self._fire(one_of(armed, timer, group, member))

    def _next_due(self, now_ms: int, last_ms: float) -> Due | None:
        if not self._admission.active or self.clock.now_ms() > last_ms:
            return None
        first = self._timers.next_due(partial(deadline_ms, self._groups), now_ms)
        return min(filter(None, (first, *self.others.next_due(now_ms))), default=None)

    def _fire(self, due: Due) -> bool:
        """Run the handler of a timer; a timer whose records are refused runs out again a moment later."""
        now_ms = self.clock.now_ms()
        if due.group_id in self.others:
            return self.others.fire(due, self._offsets, self._log, self._env, now_ms)
        name, group, member_id = due.timer, self._groups[due.group_id], due.member_id
        if name in TIMEOUTS:
            results = [TIMEOUTS[name](self._env, group, member_id, now_ms)]
        else:
            results = deletion(self._env, self._groups, self._offsets, group.id, now_ms)
        try:
            self._commit(*results)
        except AppendFailed:
            self._put_off(due)
            return False
        return True

    def _put_off(self, due: Due) -> None:
        now_ms, first_ms = self.clock.now_ms(), self._env.config.timer_retry_ms
        if due.group_id in self.others:
            self.others.put_off(due, now_ms, first_ms)
        elif deadline_ms(self._groups, due) is not None:
            retry_ms = self._timers.put_off(due, now_ms, first_ms)
            set_timer(self._groups[due.group_id], Timer(due.timer, due.member_id, retry_ms))

    # Reading

    def describe(self, group: str, principal: str | None = None) -> Json:
        """The whole state of a group (describe.py); Dead where it does not exist. For a principal:
        RequestRejected where it may not see the group (D5), or the coordinator is not active (H5)."""
        if principal is not None:
            self._admission.admit(principal, "DESCRIBE", group)
        if group in self.others:
            return self.others.describe(group)
        return describe_group(self._groups.get(group) or Group(group), self._env.group_configs.get(group, {}))

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return len(self._log.records)

    def records(self, since: int = 0) -> list[Json]:
        """The records from that offset on."""
        if type(since) is not int or not 0 <= since <= self.end:
            raise BadInput(f"records can be read from 0 to {self.end}, not from {since!r}")
        return [to_wire(record, since + n) for n, record in enumerate(self._log.records[since:])]

    def compact(self) -> None:
        """Keep the last record of each key (P3). AppendFailed where the log refuses: nothing has changed."""
        self._log = self._log.compacted(changes_to(self._env))

    def volatile(self, group: str | None = None) -> Json:
        """The state that records do not hold, of one group or of all (load.py)."""
        groups = [one for name, one in sorted(self._groups.items()) if group in (None, name)]
        shown = {name: own for name, own in self._env.group_configs.items() if group in (None, name)}
        known = volatile_of(groups, self.clock.now_ms(), shown)
        return {**known, **self.others.volatile(group), **self._admission.volatile()}

    def metrics(self, waiting: int = 0) -> list[Sample]:
        """The broker's metrics (metrics.py); `waiting` is the number of requests that a shell holds back."""
        every = (self._groups, self.others.listed(), self._offsets)
        return self._metrics.samples(*every, self._admission.state, waiting, self.clock.now_ms())

    # Fail-over

    def restart(self, keep: int | None = None) -> None:
        """Become a new coordinator that loads the first `keep` records, by default all (P2).

        The records of one step are one batch: a batch that is not kept whole is lost whole. The new
        coordinator arms every timer anew, and computes the due target. A log that failed takes records again.
        BadInput where the kept records are no valid log, as in a log that was changed by hand.
        """
        if keep is not None and (type(keep) is not int or not 0 <= keep <= self.end):
            raise BadInput(f"a restart can keep 0 to {self.end} records, not {keep!r}")
        started_ms, count = self.clock.now_ms(), self.end if keep is None else keep
        # First the step that may fail: a log whose part is not valid stays as it is, also on the storage.
        groups, offsets, _ = loaded(self._log.whole(count), {}, self._env, started_ms)
        log = self._log.kept(count, changes_to(self._env))
        self._replace(log, groups, offsets)
        self.others.replay(log.records, self._env, self.clock.now_ms())
        results, work = self._notice_topics(self._env, deleted=True)
        with suppress(AppendFailed):  # a refused change is noticed at the next change of topics
            self._commit(*results, work=work)
        # DeriveRevocations: the partitions that a member must give up follow from the target that was due.
        restore_volatile(groups, {}, self._env, self.clock.now_ms(), self.dialect.RevocationRecorded)
        self._timers.arm_all(groups.values())
        for group_id in groups:
            self._follow(group_id, [])
        self._metrics.loaded(self.clock.now_ms() - started_ms)

    def load(self, records: Sequence[object], topics: Sequence[object], volatile: Json) -> None:
        """Replace the whole state: records as `records` gives them, topics [{"name", "id", "partitions"}],
        volatile state as `volatile` gives it ({} for none). A simulated clock moves to its clockMs.

        Nothing is computed: `describe` gives the same as the source's. A log that failed takes records again.
        """
        self.become(self.read(records, topics, volatile))

    def read(self, records: Sequence[object], topics: Sequence[object], volatile: Json) -> Loaded:
        """Read a state for `become`, in the form of `load`; the configuration is the coordinator's."""
        return read(records, topics, volatile, self._env, self.clock)

    def become(self, state: Loaded) -> None:
        """Replace the whole state by one that no coordinator has become before."""
        admission = self._admission.restored(state.volatile)
        self._replace(
            self._log.replaced(state.records, None, changes_to(state.env)), state.groups, state.offsets
        )
        self._env, self.others, self._admission = state.env, state.others, admission
        self._scripts.clear()
        self._next_ids, self._started, self._opened = [], False, False
        if isinstance(self.clock, SimulatedClock):
            self.clock.set(state.now_ms)

    def _replace(self, log: Log, groups: dict[str, Group], offsets: Offsets) -> None:
        self._log, self._groups, self._offsets = log, groups, offsets
        self._timers, self._admission.state = Timers(), ACTIVE
        self._timers.arm_all(groups.values())

    # Controls

    def set_state(self, state: str) -> None:
        """Become "loading", "moved" or "unavailable" (H5): all requests are refused, also waiting ones, and
        no timer fires; or "active", as a new coordinator that loads the log and notices changes (P2)."""
        if known_state(state) != ACTIVE:
            self._admission.state = state
            self.others.refuse_waiting(state, self.clock.now_ms())
        elif not self._admission.active:
            self.restart()

    def deny(self, operations: Sequence[str]) -> None:
        """Deny these operations (H5, D5), on every group and on the cluster, to every client, until the next
        call or `load`; () restores the rights of the authorizer."""
        self._admission.deny(operations)

    def script_target(self, group: str, target: Mapping[str, object] | str) -> None:
        """Set the next target, for one use: {member id: partitions}; or the message of a failing assignor."""
        self._scripts[group] = wire.scripted(target)

    def scripted_groups(self) -> set[str]:
        """The groups whose scripted target has not been used yet."""
        return set(self._scripts)

    def fail_appends(self, failing: bool) -> None:
        """Let the log refuse every record, or take them again."""
        self._log.failing = failing

    def configure(self, settings: Mapping[str, object]) -> None:
        """Change the configuration by Kafka's names, before the first request; timers are armed anew."""
        if self._started:
            raise BadInput("the configuration can only be changed before the first request")
        config, assignors = configured(self._env.config, self._env.assignors, settings)
        self._env = dataclasses.replace(self._env, config=config, assignors=assignors)
        if self._opened and self._admission.active:  # the log was loaded with the values before
            self.restart()
