"""The coordinator of many groups: requests, topics, time and fail-over around the handlers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final

from coordinator import fields, metadata, wire
from coordinator.assignors import GroupAssignment, PartitionAssignor, RangeAssignor, UniformAssignor
from coordinator.clock import Clock, SimulatedClock, numbered_ids
from coordinator.config import CONFIG_NAMES, Config
from coordinator.describe import armed_timers, describe_group
from coordinator.dialect import Dialect
from coordinator.errors import AppendFailed, BadInput, ErrorCode, RequestRejected
from coordinator.fields import Json
from coordinator.heartbeat import consumer_group_heartbeat
from coordinator.load import groups_from, restore_volatile, volatile_of
from coordinator.log import Log, commit, set_timer
from coordinator.membership import delete_group, rebalance_timeout, session_timeout
from coordinator.model import Group, TopicImage, Topics
from coordinator.records import from_wire, to_wire
from coordinator.request import JOIN_EPOCH, HeartbeatRequest, parse_heartbeat, validate_heartbeat
from coordinator.response import error_response
from coordinator.step import Env, Result, Timer

APIS: Final = {"ConsumerGroupHeartbeat": (0, 0)}
"""Name of each API -> first and last version."""


class Coordinator:
    """A group coordinator in this process. JSON that it returns is shared: read it, do not change it.

    `ids` gives the id of a member that joins without one. `assignors` come by name, the default first.
    Methods raise BadInput for what a caller got wrong; then nothing has changed.
    """

    def __init__(
        self,
        *,
        dialect: Dialect | None = None,
        clock: Clock | None = None,
        ids: Iterator[str] | Callable[[], str] | None = None,
        assignors: Mapping[str, PartitionAssignor] | None = None,
        config: Config | None = None,
    ) -> None:
        self.clock: Clock = clock or SimulatedClock()
        source = ids or numbered_ids()
        self._draw_id = source if callable(source) else source.__next__
        self._next_ids: list[str] = []
        self._scripts: dict[str, GroupAssignment | str] = {}
        self._groups: dict[str, Group] = {}
        self._log = Log()
        self._started = False
        self._env = Env(
            dialect or Dialect(),
            config or Config(),
            assignors or {"uniform": UniformAssignor(), "range": RangeAssignor()},
            {},
            self._scripts,
        )

    @property
    def dialect(self) -> Dialect:
        """The departures from KIP-848's text that this coordinator makes."""
        return self._env.dialect

    # Requests

    def request(self, api: str, version: int, client: Mapping[str, Any], body: Mapping[str, Any]) -> Json:
        """Handle one request and return the body of its response, both as in Kafka's schema (lowerCamelCase).

        `client` has the optional strings id, host and principal.
        """
        request = self.parse(api, version, client, body)
        self._started = True
        try:
            validate_heartbeat(request, self._env.assignors)
            group = self._groups.get(request.group_id)
            if request.member_epoch == JOIN_EPOCH and not request.member_id:
                request = request._replace(member_id=self._new_id(group))
            result = consumer_group_heartbeat(self._env, group, request, self.clock.now_ms())
        except RequestRejected as rejected:
            return error_response(rejected.code, rejected.message)
        if not self._commit(result) or result.response is None:
            return error_response(ErrorCode.COORDINATOR_NOT_AVAILABLE, "The log took no records; try again.")
        return result.response

    def parse(
        self, api: str, version: int, client: Mapping[str, Any], body: Mapping[str, Any]
    ) -> HeartbeatRequest:
        """The request that this is; BadInput where it is none. Nothing is handled."""
        if api not in APIS:
            raise BadInput(f"this coordinator has no API {api!r}; it has {', '.join(APIS)}")
        first, last = APIS[api]
        if type(version) is not int or not first <= version <= last:
            raise BadInput(f"{api} has the versions {first} to {last}, not {version!r}")
        return parse_heartbeat(client, body)

    def _new_id(self, group: Group | None) -> str:
        """H1: an id that no member of the group has: it would be taken for a rejoin."""
        while True:
            member_id = self._next_ids.pop(0) if self._next_ids else self._draw_id()
            if group is None or member_id not in group.members:
                return member_id

    def _commit(self, result: Result) -> bool:
        committed = commit(self._log, self._groups, result)
        if committed and result.script_used:
            del self._scripts[result.group_id]
        return committed

    def use_ids(self, ids: Sequence[str]) -> None:
        """The ids of the next members that join without one, before those of the source."""
        self._next_ids.extend(ids)

    # Topics

    def upsert_topic(self, name: str, topic_id: str, partitions: int) -> None:
        """Create a topic, add partitions to it, or recreate it under another id (T2)."""
        self.set_topics([{"name": name, "id": topic_id, "partitions": partitions}], [])

    def delete_topic(self, name: str) -> None:
        """Delete a topic; members that hold its partitions are told to revoke them."""
        self.set_topics([], [name])

    def set_topics(self, upsert: Sequence[object], delete: Sequence[str]) -> None:
        """Change topics, all at once: upsert [{"name", "id", "partitions"}], delete names.

        Groups notice at once (E1). Raises AppendFailed when the log refuses their records.
        """
        topics = self._env.topics
        for name in delete:
            topics = metadata.delete_topic(topics, name)
        for entry in upsert:
            topics = _upsert(topics, entry, delete)
        env = dataclasses.replace(self._env, topics=topics)
        now_ms = self.clock.now_ms()
        results = [metadata.notice_topics(env, group, now_ms) for _, group in sorted(self._groups.items())]
        if self._log.failing and any(result.records for result in results):
            raise AppendFailed("the log took no records, so the topics are as they were")
        self._env = env
        for result in results:
            self._commit(result)

    # Time

    def advance(self, ms: int) -> list[Json]:
        """Move a simulated clock, firing every timer at its time: [{"timer", "group", "member"}] in order."""
        if not isinstance(self.clock, SimulatedClock):
            raise BadInput("only a simulated clock can be advanced; this coordinator's is real")
        if type(ms) is not int or ms < 0:
            raise BadInput(f"time advances by a whole number of milliseconds from 0, not {ms!r}")
        end_ms = self.clock.now_ms() + ms
        fired = []
        while (timer := self._next_due(end_ms)) is not None:
            self.clock.set(max(self.clock.now_ms(), timer["deadlineMs"]))
            if self._fire(timer):
                fired.append(_fired(timer))
        self.clock.set(end_ms)
        return fired

    def fire_due(self) -> list[Json]:
        """Fire what is due by the clock as it is: what a shell with a real clock calls now and then."""
        now_ms = self.clock.now_ms()
        fired = []
        while (timer := self._next_due(now_ms)) is not None:
            if self._fire(timer):
                fired.append(_fired(timer))
        return fired

    def fire(self, timer: str, group: str, member: str = "") -> bool:
        """Fire this timer alone, whatever the time; BadInput if it is not armed. False: the log refused."""
        armed = armed_timers(self._groups[group]) if group in self._groups else []
        for candidate in armed:
            if candidate["timer"] == timer and candidate["member"] == member:
                return self._fire(candidate)
        listed = ", ".join(f"{other['timer']} {other['member']}".strip() for other in armed) or "none"
        raise BadInput(f"timer {timer!r} of {member!r} in group {group!r} is not armed; armed: {listed}")

    def _next_due(self, now_ms: int) -> Json | None:
        armed = [timer for group in self._groups.values() for timer in armed_timers(group)]
        due = [timer for timer in armed if timer["deadlineMs"] <= now_ms]
        return min(due, key=itemgetter("deadlineMs", "group", "timer", "member"), default=None)

    def _fire(self, timer: Json) -> bool:
        """Run the handler of a timer; one whose records are refused is put off for a moment."""
        name, group, member_id = timer["timer"], self._groups[timer["group"]], timer["member"]
        now_ms = self.clock.now_ms()
        if name == "session":
            result = session_timeout(self._env, group, member_id, now_ms)
        elif name == "rebalance":
            result = rebalance_timeout(self._env, group, member_id, now_ms)
        else:
            result = delete_group(self._env, group, now_ms)
        committed = self._commit(result)
        if not committed:
            set_timer(group, Timer(name, member_id, now_ms + self._env.config.timer_retry_ms))
        return committed

    # Reading

    def describe(self, group: str) -> Json:
        """The whole state of a group (describe.py); Dead where it does not exist."""
        found = self._groups.get(group)
        return describe_group(Group(group) if found is None else found)

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return len(self._log.records)

    def records(self, since: int = 0) -> list[Json]:
        """The records from that offset on."""
        if type(since) is not int or not 0 <= since <= self.end:
            raise BadInput(f"records can be read from 0 to {self.end}, not from {since!r}")
        return [to_wire(record, since + n) for n, record in enumerate(self._log.records[since:])]

    def volatile(self, group: str | None = None) -> Json:
        """What records do not hold, of one group or of all (load.py)."""
        groups = [found for name, found in sorted(self._groups.items()) if group in (None, name)]
        return volatile_of(groups, self.clock.now_ms())

    # Fail-over

    def restart(self, keep: int | None = None) -> None:
        """Become a new coordinator that loads the first `keep` records, all by default (P2).

        The records of one step are one batch: one that is not kept whole is lost whole. The new coordinator
        arms every timer anew, and computes what target is due. A log that failed takes records again.
        """
        if keep is not None and (type(keep) is not int or not 0 <= keep <= self.end):
            raise BadInput(f"a restart can keep 0 to {self.end} records, not {keep!r}")
        log = self._log.kept(self.end if keep is None else keep)
        groups = groups_from(log.records)
        now_ms = self.clock.now_ms()
        restore_volatile(groups, {}, self._env.config, now_ms)
        self._log, self._groups = log, groups
        for _, group in sorted(groups.items()):
            self._commit(metadata.notice_topics(self._env, group, now_ms))

    def load(
        self, records: Sequence[object], topics: Sequence[object], volatile: Mapping[str, object]
    ) -> None:
        """Replace the whole state: records as `records` gives them, topics [{"name", "id", "partitions"}],
        volatile state as `volatile` gives it ({} for none). A simulated clock moves to its clockMs.

        Nothing is computed: `describe` gives what the source's gave. A log that failed takes records again.
        """
        loaded: Topics = {}
        for entry in topics:
            loaded = _upsert(loaded, entry, ())
        log = Log([from_wire(record) for record in records])
        groups = groups_from(log.records)
        clock_ms = fields.optional_integer(volatile, "clockMs", "volatile")
        simulated = self.clock if isinstance(self.clock, SimulatedClock) else None
        now_ms = clock_ms if simulated and clock_ms is not None else self.clock.now_ms()
        restore_volatile(groups, volatile, self._env.config, now_ms)
        self._env = dataclasses.replace(self._env, topics=loaded)
        self._log, self._groups = log, groups
        self._scripts.clear()
        if simulated:
            simulated.set(now_ms)

    # Controls

    def script_target(self, group: str, target: Mapping[str, object] | str) -> None:
        """The next target of a group instead of the assignor's, once: {member id: topic partitions}, or the
        message of an assignor that fails. Members that are not in the group by then are left out."""
        if isinstance(target, str):
            self._scripts[group] = target
        else:
            where = "the scripted target"
            self._scripts[group] = {
                member_id: wire.from_wire(value, f"{where} of {member_id!r}")
                for member_id, value in target.items()
            }

    def scripted_groups(self) -> set[str]:
        """The groups whose scripted target has not been used yet."""
        return set(self._scripts)

    def fail_appends(self, failing: bool) -> None:
        """Let the log refuse every record, or take them again."""
        self._log.failing = failing

    def configure(self, settings: Mapping[str, object]) -> None:
        """Change the configuration by Kafka's names, before the first request; times in milliseconds.

        group.consumer.assignors is a list of names, the default first.
        """
        if self._started:
            raise BadInput("the configuration can only be changed before the first request")
        fields.known(settings, (*CONFIG_NAMES, "group.consumer.assignors"), "the configuration")
        where = "the configuration"
        changes = {
            field: fields.integer(settings, name, where, least=0 if field == "assignment_interval_ms" else 1)
            for name, field in CONFIG_NAMES.items()
            if name in settings
        }
        assignors = self._env.assignors
        if "group.consumer.assignors" in settings:
            chosen = fields.names(settings, "group.consumer.assignors", where)
            if not chosen or not set(chosen) <= set(assignors):
                raise BadInput(
                    f"group.consumer.assignors must be some of {', '.join(assignors)}, not {chosen}"
                )
            assignors = {name: assignors[name] for name in chosen}
        self._env = dataclasses.replace(
            self._env, config=dataclasses.replace(self._env.config, **changes), assignors=assignors
        )


def _upsert(topics: Topics, entry: object, deleted: Sequence[str]) -> Topics:
    where = "a topic"
    topic = fields.as_object(entry, where)
    fields.known(topic, ("name", "id", "partitions"), where)
    name = fields.text(topic, "name", where)
    if not name or name in deleted:
        raise BadInput("a topic needs a name" if not name else f"topic {name!r} is both changed and deleted")
    image = TopicImage(
        fields.topic_id(topic.get("id"), f"topic {name!r}"),
        fields.integer(topic, "partitions", where, least=1),
    )
    if name in topics and topics[name].id == image.id:
        return metadata.add_partitions(topics, name, image.partitions)
    return metadata.create_topic(topics, name, image)


def _fired(timer: Json) -> Json:
    return {"timer": timer["timer"], "group": timer["group"], "member": timer["member"]}
