"""Events of classic groups, done one after the other, each at its time, and checked.

An event names an action and its process or group. An event whose process or group is not there, because
others were left out of the schedule, is void, so that every schedule is a behaviour of the system.
"""

from __future__ import annotations

from typing import Final

from harness.kinds.classic.simulated.member_rules import MemberRules
from harness.kinds.classic.simulated.network import Network
from harness.kinds.classic.simulated.parts import (
    BACKOFF_MS,
    CONFIGURATIONS,
    INTERVAL_MS,
    REBALANCE_MS,
    SESSION_MS,
    Consumer,
)
from harness.kinds.classic.simulated.process import Process
from harness.replay import wire
from harness.simulate.groups.parts import Violation, shown
from harness.simulate.groups.story import ACTIVE
from harness.targets.base import Json

EVENTS: Final[dict[str, tuple[str, ...]]] = {
    "topic": ("name", "partitions"),
    "delete-topic": ("name",),
    "down": ("how",),
    "fail-over": (),
    "log": ("fails",),
    "wait": (),
    "start": ("who", "group", "topics", "configuration"),
    "late": ("who",),
    "crash": ("who",),
    "close": ("who",),
    "subscribe": ("who", "topics"),
    "enforce": ("who",),
    "notice": ("who",),
    "poll": ("who",),
    "done": ("who",),
    "commit": ("who", "offset"),
    "leap": ("who", "ms"),
    "send": ("who",),
    "deliver": ("who",),
    "lose": ("who",),
    "answer": ("who",),
    "answer-again": ("who",),
    "wrong-error": ("who", "error"),
    "give-up": ("who",),
}
"""Events that may happen in classic groups, and their fields."""


class World(Network):
    """Groups to which events happen."""

    events = EVENTS

    def end_if_over(self, process: Process) -> None:
        """End a process whose application has closed its member, when the member is done."""
        if process.state == "unsubscribed" and process.rules.over:
            self.ended(process)

    # Topics and the coordinator

    def _topic(self, event: Json) -> bool:
        name, partitions = event["name"], event["partitions"]
        known = self.topics.get(name, 0)
        upsert = {"name": name, "id": wire.topic_id(name), "partitions": partitions}
        if partitions <= known or self.coordinator != ACTIVE or not self.cluster.set_topics([upsert], []):
            return False
        self.topics = {**self.topics, name: partitions}
        self.counts.faults["partitions added" if known else "topic created"] += 1
        return self.note("coordinator", event)

    def _delete_topic(self, event: Json) -> bool:
        name = event["name"]
        if name not in self.topics or self.coordinator != ACTIVE or not self.cluster.set_topics([], [name]):
            return False
        self.topics = {other: count for other, count in self.topics.items() if other != name}
        self.counts.faults["topic deleted"] += 1
        return self.note("coordinator", event)

    def _down(self, event: Json) -> bool:
        """Take the coordinator down: it serves its groups no more; waiting requests are answered (H5)."""
        if self.coordinator != ACTIVE:
            return False
        self.coordinator = event["how"]
        self.note("coordinator", event)
        self.counts.faults["coordinator down"] += 1
        self.cluster.set_state(self.coordinator)
        self.stepped()
        if self._waiting:
            left = ", ".join(sorted(self._waiting))
            raise Violation("H5", "EveryRequestIsAnswered", f"{left} still wait where no coordinator is")
        return True

    def _fail_over(self, event: Json) -> bool:
        """Fail over (C2, P2): the new coordinator has the state of the log."""
        before = {group: self.cluster.durable(group) for group in self.settings.groups}
        if self.coordinator == ACTIVE:
            self.cluster.set_state("moved")
            self.stepped()
        self.cluster.fail_appends(False)
        self.cluster.set_state(ACTIVE)
        self.coordinator, self.log_fails = ACTIVE, False
        for name, known in before.items():
            if known != (now := self.cluster.durable(name)):
                raise Violation(
                    "C2", "FailOverRecovers", f"{name} was {known} before the fail-over, and is {now}"
                )
        self.counts.faults["fail-over"] += 1
        self.note("coordinator", event)
        self.stepped()
        return True

    # Processes

    def _start(self, event: Json) -> bool:
        name, group = event["who"], event["group"]
        if name in self.processes or group not in self.rules:
            return False
        number = self.starts[name]
        self.starts[name] += 1
        consumer = Consumer(group, CONFIGURATIONS[event["configuration"]], event.get("instance"))
        times = SESSION_MS, REBALANCE_MS, INTERVAL_MS, BACKOFF_MS
        rules = MemberRules(name, consumer)
        machine = self.parts.member(group, consumer.assignors, consumer.instance, *times, rules.hears)
        permille = event.get("permille", 1000)
        process = Process(name, number, consumer, machine, rules, self.now_ms, permille)
        self.processes[name] = process
        self.counts.faults["restart"] += number > 0
        self.counts.faults["skewed clock"] += permille != 1000
        self._notice(process, event)
        self._wants(process, event)
        return self.note(name, event)

    def _wants(self, process: Process, event: Json) -> None:
        now_ms = process.local_ms(self.now_ms)
        process.rules.subscribes(frozenset(event["topics"]), now_ms)
        process.machine.subscribe(event["topics"], now_ms)

    def ended(self, process: Process) -> None:
        """End the process; its last request may still arrive at any time."""
        del self.processes[process.name]
        if process.request is not None:
            self.late.setdefault(process.name, []).append(process.request)

    def _close(self, process: Process, event: Json) -> bool:
        if process.rules.closing or process.state in ("unsubscribed", "failed"):
            return False
        process.rules.closes(process.local_ms(self.now_ms))
        process.machine.close()
        process.waits_for = process.request = process.answer = process.old_answer = None
        self.counts.faults["leave"] += 1
        return self.note(process.name, event)

    def _subscribe(self, process: Process, event: Json) -> bool:
        if process.rules.closing or process.state == "failed":
            return False
        self._wants(process, event)
        self.counts.faults["subscription changed"] += 1
        return self.note(process.name, event)

    def _enforce(self, process: Process, event: Json) -> bool:
        if process.rules.closing or process.state in ("unsubscribed", "failed"):
            return False
        reason, now_ms = "the application asks for it", process.local_ms(self.now_ms)
        process.rules.enforces(reason, now_ms)
        process.machine.enforce_rebalance(now_ms, reason)
        self.counts.faults["rebalance enforced"] += 1
        return self.note(process.name, event)

    def _notice(self, process: Process, event: Json) -> bool:
        """Show the present topics in the metadata of the process."""
        if process.known_topics == self.topics:
            return False
        process.known_topics = dict(self.topics)
        now_ms = process.local_ms(self.now_ms)
        process.rules.notices(self.topics, process.led, process.led and not process.skips, now_ms)
        process.machine.topics_are(self.topics, now_ms)
        return True

    def begin_callback(self, process: Process) -> bool:
        """Begin the next callback of a member, and check it; False if there is none."""
        now_ms = process.local_ms(self.now_ms)
        callback = process.machine.next_callback(now_ms)
        if callback is None:
            process.rules.no_callback()
            process.rules.metrics.check(process.machine.metrics.values(now_ms), now_ms)
            self._check_error(process)
            return False
        process.rules.begins(callback, now_ms)
        process.running = callback
        self.look(process)
        return True

    def end_callback(self, process: Process, raises: bool = False) -> None:
        """End the running callback, if there is one; where it `raises`, with an exception (C6)."""
        callback, process.running = process.running, None
        if callback is None:
            return
        error = RuntimeError(callback.name.value) if raises else None
        process.raised = process.raised or error
        now_ms = process.local_ms(self.now_ms)
        process.rules.ends(callback, now_ms)
        process.machine.callback_done(now_ms, error)
        self.counts.faults["callback raised"] += raises
        if self.story:
            self.story.note(process.name, f"{callback.name.value}: {shown(callback.partitions)}")
        self.look(process)

    def _check_error(self, process: Process) -> None:
        """Judge the error of the application's poll: the first error of its callbacks, or the reason why the
        member ended (C6, C4)."""
        error, process.raised, raised = process.machine.take_error(), None, process.raised
        if error is not raised and (error is None or getattr(error, "code", None) != raised):
            raise Violation("C6", "ErrorsAreTold", f"{process.name} raised {raised!r}, and tells {error!r}")

    def _commit(self, process: Process, event: Json) -> bool:
        """Commit the fetched partitions as the application."""
        fetchable = process.machine.fetchable
        if not fetchable or process.rules.closing:
            return False
        offset: int = event["offset"]
        offsets = {one: offset for one in sorted(fetchable)}
        refused = False
        try:
            process.machine.commit(offsets)
        except Exception as error:
            if getattr(error, "code", None) is None:
                raise
            refused = True
        process.rules.commits(offsets, refused)
        return True
