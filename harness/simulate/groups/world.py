"""Events done one after the other, each at its time, and checked.

An event names its action and its process, never a message by number: the message in flight from or to a
process is one request or one answer (R9). So an event without its object, because others were left out of the
schedule, is void, and every schedule is a behaviour of the system.
"""

from __future__ import annotations

from typing import Final

from harness.simulate.groups.cause import DELETION, FAIL_OVER, TOPICS
from harness.simulate.groups.member_watch import CLOSE_TIMEOUT_MS
from harness.simulate.groups.network import Network
from harness.simulate.groups.parts import CallbackView, Consumer, Violation
from harness.simulate.groups.process import (
    ASSIGNED,
    COMMITTED,
    LOST,
    REBALANCES,
    REVOKED,
    Process,
    check_callback,
)
from harness.simulate.groups.schedule import EVENTS
from harness.simulate.groups.snapshot import snapshot
from harness.simulate.groups.story import ACTIVE
from harness.targets.base import Json

ENDED: Final = ("UNSUBSCRIBED", "FATAL")


class World(Network):
    """A scene to which events happen."""

    events = EVENTS

    def apply(self, event: Json) -> bool:
        """Do one event; a story keeps the state of the groups before it."""
        if self.story:
            self.story.before = snapshot(self)
        return super().apply(event)

    def end_if_over(self, process: Process) -> None:
        """End a process whose application has closed its member, when the member is done."""
        if process.state in ENDED and process.machine.closed:
            if process.state != "FATAL":
                now_ms = process.local_ms(self.now_ms)
                process.watch.ended(process.using, now_ms)
                process.next_request.ended(now_ms)
            self.ended(process)

    # Topics and the coordinator

    def _topic(self, event: Json) -> bool:
        name, topic, partitions = event["name"], event["id"], event["partitions"]
        known = self.topics.get(name)
        if known == (topic, partitions) or (known and known[0] == topic and known[1] > partitions):
            return False
        others = {known for other, (known, _) in self.topics.items() if other != name}
        if topic in self.gone_topics or topic in others:
            return False
        upsert = {"name": name, "id": topic, "partitions": partitions}
        fault = "topic created" if known is None else "partitions added"
        if known and known[0] != topic:
            fault = "topic recreated"
        return self._change_topics(event, fault, {**self.topics, name: (topic, partitions)}, [upsert], [])

    def _delete_topic(self, event: Json) -> bool:
        name = event["name"]
        if name not in self.topics:
            return False
        rest = {other: topic for other, topic in self.topics.items() if other != name}
        return self._change_topics(event, "topic deleted", rest, [], [name])

    def _change_topics(
        self,
        event: Json,
        fault: str,
        topics: dict[str, tuple[str, int]],
        upsert: list[Json],
        delete: list[str],
    ) -> bool:
        if self.coordinator != ACTIVE or not self.cluster.set_topics(upsert, delete):
            return False
        left = {topic for topic, _ in topics.values()}
        self.gone_topics |= {topic for topic, _ in self.topics.values() if topic not in left}
        self.topics = topics
        self.counts.faults[fault] += 1
        self.note("coordinator", event)
        self.stepped(self.settings.groups, TOPICS)
        return True

    def _down(self, event: Json) -> bool:
        if self.coordinator != ACTIVE:
            return False
        self.coordinator = event["how"]
        self.cluster.set_state(self.coordinator)
        self.counts.faults["coordinator down"] += 1
        return self.note("coordinator", event)

    def _fail_over(self, event: Json) -> bool:
        """P2: the new coordinator has the state of the log, and the old one's connections are gone (R9)."""
        before = {group: self.cluster.durable(group) for group in self.settings.groups}
        if self.coordinator == ACTIVE:
            self.cluster.set_state("moved")
        self.cluster.set_state(ACTIVE)
        self.coordinator, self.log_fails = ACTIVE, False
        for group, known in before.items():
            if known != (now := self.cluster.durable(group)):
                raise Violation(
                    "P2", "FailOverKeeps", f"{group} was {known} before the fail-over, and is {now}"
                )
        for process in self.processes.values():
            self._drop_copy(process)
        self.counts.faults["fail-over"] += 1
        self.note("coordinator", event)
        self.stepped(self.settings.groups, FAIL_OVER)
        return True

    def _delete_group(self, event: Json) -> bool:
        """E5: long after the group became empty, when no message of it is in flight and no process takes
        itself for a member."""
        group = event["group"]
        members = [one for one in self.processes.values() if one.consumer.group == group]
        alive = any(one.machine.epoch or one.waits_for or one.copy for one in members) or any(
            self.late.values()
        )
        empty = self.cluster.group_state(group) == "Empty" and not self.log_fails
        if alive or not empty or self.coordinator != ACTIVE or not self.cluster.delete_group(group):
            return False
        self.counts.faults["group deleted"] += 1
        self.note("coordinator", event)
        self.stepped((group,), DELETION)
        return True

    def _partition(self, event: Json) -> bool:
        cut = [self.processes[name] for name in event["from"] if name in self.processes]
        cut = [process for process in cut if process.reachable]
        for process in cut:
            process.reachable = False
            self._drop_copy(process)
            process.request = process.answer = None
        self.counts.faults["partition"] += bool(cut)
        return bool(cut) and self.note("", event)

    def _heal(self, event: Json) -> bool:
        cut = [process for process in self.processes.values() if not process.reachable]
        for process in cut:
            process.reachable = True
        return bool(cut) and self.note("", event)

    # Processes

    def _start(self, event: Json) -> bool:
        name = event["who"]
        if name in self.processes or event["group"] not in self.watches:
            return False
        again = self.starts[name] > 0
        self.starts[name] += 1
        static = event.get("instance")
        # A new id for each process, as Kafka's clients have, where the epoch of a join may be one that the id
        # has had: a static member's, or before a member has computed (A5). A late commit of the process
        # before would pass for its own.
        again_known = static or event.get("local")
        own = f"{name}.{self.starts[name]}" if again_known else name
        consumer = Consumer(
            event["group"],
            own if event["ownId"] else "",
            static,
            event.get("assignor"),
            event["maxPollMs"],
            local=tuple(event.get("local", ())),
        )
        process = Process(
            name, consumer, self.parts.member(consumer), self.now_ms, event.get("permille", 1000)
        )
        self.processes[name] = process
        self.counts.faults["restart"] += again
        self.counts.faults["skewed clock"] += process.permille != 1000
        self._wants(process, event, 0)
        return self.note(name, event)

    def ended(self, process: Process) -> None:
        """End the process; its last request may still arrive at any time."""
        del self.processes[process.name]
        self.offsets[process.consumer.group].forget(process.owned)
        self._keep_late(process.request)
        self._keep_late(process.copy)

    def _close(self, process: Process, event: Json) -> bool:
        if process.machine.closed:
            return False
        now_ms = process.local_ms(self.now_ms)
        process.next_request.gives_up(process.state, True, now_ms + CLOSE_TIMEOUT_MS)
        process.watch.gives_up(process.state, now_ms)
        process.machine.close(now_ms)
        self.counts.faults["leave"] += 1
        return self.note(process.name, event)

    def _subscribe(self, process: Process, event: Json) -> bool:
        if process.machine.closed or process.state == "FATAL":
            return False
        self._wants(process, event, process.local_ms(self.now_ms))
        self.counts.faults["subscription changed"] += 1
        return self.note(process.name, event)

    def _unsubscribe(self, process: Process, event: Json) -> bool:
        if process.machine.closed or process.state == "FATAL" or not process.subscribed:
            return False
        now_ms = process.local_ms(self.now_ms)
        process.subscribed = False
        process.next_request.gives_up(process.state, False, now_ms + CLOSE_TIMEOUT_MS)
        process.watch.gives_up(process.state, now_ms)
        process.machine.unsubscribe(now_ms)
        self.counts.faults["unsubscribed"] += 1
        return self.note(process.name, event)

    def _wants(self, process: Process, event: Json, now_ms: int) -> None:
        process.subscription = frozenset(event["topics"]), event.get("regex")
        process.subscribed = True
        process.machine.subscribe(event["topics"], regex=event.get("regex"), now_ms=now_ms)

    def _poll(self, process: Process, event: Json) -> bool:
        if process.running is None:
            process.machine.poll(process.local_ms(self.now_ms))
        return super()._poll(process, event)

    def begin_callback(self, process: Process) -> bool:
        """Begin the next callback of a member, and check it; False if there is none."""
        now_ms = process.local_ms(self.now_ms)
        callback = process.machine.next_callback(now_ms)
        if callback is None:
            process.watch.polls_without_callback(process.machine.fetchable, now_ms)
            process.next_request.nothing_to_run(process.state)
            process.next_request.commits.nothing_runs()
            return False
        check_callback(process, callback)
        process.next_request.callback_runs()
        if callback.name.value == COMMITTED:
            process.next_request.commits.ends(callback.partitions, callback.error)
        if callback.name.value == REVOKED:
            process.watch.revokes(callback.partitions, now_ms)
        process.running = callback
        positions = process.machine.offsets.positions
        process.stopped = {one: positions[one] for one in callback.partitions if one in positions}
        if callback.name.value == ASSIGNED:
            process.using |= callback.partitions
        self.look(process)
        return True

    def end_callback(self, process: Process, raises: bool = False) -> None:
        """End the running callback, if there is one; where it `raises`, with an exception (K3)."""
        callback, now_ms = process.running, process.local_ms(self.now_ms)
        if callback is None:
            return
        name, offsets = callback.name.value, self.offsets[process.consumer.group]
        zombie = process.incarnation not in self.watches[process.consumer.group].alive
        if name in (REVOKED, LOST):
            process.using -= callback.partitions
            for partition in callback.partitions if not zombie else ():
                clean = name == REVOKED and process.machine.owned >= {partition}
                offsets.ends(partition, process.stopped.get(partition) if clean else None)
        process.running = None
        process.next_request.callback_runs()
        self._callback_done(process, callback, now_ms, raises)
        if self.story and name in REBALANCES:
            self.story.note(process.name, f"{name}: {self._named(callback.partitions)}")
        self.look(process)

    def _callback_done(self, process: Process, callback: CallbackView, now_ms: int, raises: bool) -> None:
        """K3: the application gets the exception of its callback, and the rest goes on."""
        if not raises:
            process.machine.callback_done(now_ms)
            return
        self.counts.faults["callback raised"] += 1
        process.machine.take_error()
        raised = RuntimeError(callback.name.value)
        process.machine.callback_done(now_ms, raised)
        if process.machine.take_error() is not raised:
            raise Violation("K3", "ErrorsAreTold", f"{process.name} hides what {callback.name.value} raised")

    def _named(self, partitions: frozenset[tuple[str, int]]) -> str:
        names = {topic: name for name, (topic, _) in self.topics.items()}
        return ", ".join(f"{names.get(topic, topic[-4:])}-{index}" for topic, index in sorted(partitions))

    def _consume(self, process: Process, event: Json) -> bool:
        machine, offsets = process.machine, self.offsets[process.consumer.group]
        fetchable = sorted(machine.fetchable)
        for partition in fetchable:
            position = machine.offsets.positions[partition] + event["records"]
            machine.set_position(partition, position)
            offsets.consumed(partition, position)
        return bool(fetchable)

    def _commit(self, process: Process, event: Json) -> bool:
        if not process.machine.offsets.positions:
            return False
        process.machine.commit()
        process.watch.application_commits()
        process.next_request.commits.begins()
        return True
