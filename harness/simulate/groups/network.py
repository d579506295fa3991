"""The network: requests and answers in flight, lost, late, doubled.

R9 is kept here: a process has one request in flight, and no copy of it arrives after the next one. The last
request of a process that is gone may arrive at any time, and more than once.
"""

from __future__ import annotations

from typing import Final

from harness.simulate.groups.next_request import FIND, HEARTBEAT, STALE
from harness.simulate.groups.offsets import committed_by
from harness.simulate.groups.parts import RequestView, Violation
from harness.simulate.groups.process import Message, Process, check_report
from harness.simulate.groups.scene import Scene
from harness.simulate.groups.story import ACTIVE
from harness.simulate.groups.words import of_answer, of_request
from harness.targets.base import Json

SLOW_MS: Final = 1_000
"""A message that takes longer is delayed."""


class Network(Scene):
    """A scene with messages; each method does one event, and tells if the event was void."""

    def _keep_late(self, message: Message | None) -> None:
        if message is not None and message.request.api != FIND:
            self.late.setdefault(message.who, []).append(message)

    def _send(self, process: Process, event: Json) -> bool:
        state = process.machine.state
        request = process.machine.take_request(process.local_ms(self.now_ms))
        stalled = process.state in ("LEAVING", "STALE") and state.value not in ("LEAVING", "STALE")
        self.counts.faults["stall"] += stalled
        if stalled:
            process.watch.stalls(process.local_ms(self.now_ms))
        if request is None:
            return process.machine.state is not state
        self._drop_copy(process)
        local_ms = process.local_ms(self.now_ms)
        if process.waits_for is not None or process.machine.take_request(local_ms) is not None:
            raise Violation("R9", "OneRequestInFlight", f"{process.name} sends while a request is in flight")
        process.next_request.sends(request.api, request.body, local_ms)
        if request.api == HEARTBEAT:
            check_report(process, request.body)
            process.watch.heartbeats(request.body, local_ms)
        since = {}
        if request.api == "OffsetCommit":
            process.watch.commits(request.body)
            last = self.watches[process.consumer.group].last
            since = {one: last[one] for one in committed_by(request.body) if one in last}
        elif request.api == "OffsetFetch":
            process.watch.fetches(request.body)
        process.waits_for, process.sent_ms = request, self.now_ms
        if process.reachable:
            process.request = Message(process.name, request, process.incarnation, since)
        else:
            self.counts.faults["lost in a partition"] += 1
            self.draw(process.name, "coordinator", request, "lost")
        return True

    def _drop_copy(self, process: Process) -> None:
        """R9: the next request goes after the last one's copies, or on a connection without them."""
        if not self.settings.r9:
            self._keep_late(process.copy)
        process.copy = None

    def _deliver(self, process: Process, event: Json) -> bool:
        message = process.request
        if message is None:
            return False
        process.request = None
        self._count_delivery(process)
        self.draw(process.name, "coordinator", message.request, "request")
        process.answer = self.handle(message, process)
        return True

    def _count_delivery(self, process: Process) -> None:
        self.counts.faults["delay"] += self.now_ms - process.sent_ms > SLOW_MS
        self.counts.faults["reordering"] += any(
            other.request is not None and other.sent_ms < process.sent_ms for other in self.processes.values()
        )

    def _duplicate(self, process: Process, event: Json) -> bool:
        """Copy the request in flight. It has at most one copy: the protocol would not bear a third request
        between two answers, which a connection (R9) never makes of one."""
        if process.request is None or process.copy is not None:
            return False
        body = process.request.request.body
        if process.consumer.local and process.request.request.api == HEARTBEAT and not body["memberEpoch"]:
            return False  # A5: before a member has computed, both would have one epoch, and none be fenced
        process.copy = process.request
        self.counts.faults["request duplicated"] += 1
        return self.note(process.name, event)

    def _deliver_copy(self, process: Process, event: Json) -> bool:
        message = process.copy
        if message is None:
            return False
        process.copy = None
        self.counts.faults["copy delivered"] += 1
        self.draw(process.name, "coordinator", message.request, "copy")
        self.handle(message, None)
        return True

    def _late(self, event: Json) -> bool:
        """Let a request of a process that is gone arrive; `again`: and once more later."""
        waiting = self.late.get(event["who"])
        if not waiting or self.coordinator != ACTIVE:
            return False
        message = waiting[0] if event.get("again") else waiting.pop(0)
        self.counts.faults["late request"] += 1
        self.counts.faults["late request duplicated"] += bool(event.get("again"))
        self.draw(message.who, "coordinator", message.request, "late")
        self.handle(message, None)
        return True

    def _answer(self, process: Process, event: Json) -> bool:
        request, body = process.waits_for, process.answer
        if request is None or body is None:
            return False
        process.answer = process.waits_for = None
        process.old_answer = request.correlation, body
        self.draw("coordinator", process.name, body, "answer")
        before = dict(process.machine.offsets.positions)
        local_ms = process.local_ms(self.now_ms)
        process.machine.answered(request.correlation, body, local_ms)
        process.next_request.answered(request.api, request.body, body, local_ms)
        if request.api == HEARTBEAT:
            process.watch.heartbeat_answered(body)
            self.learn(process, body)
        elif request.api == "OffsetCommit":
            if process.watch.commit_answered(request.body, body) and process.machine.take_error() is None:
                raise Violation("K2", "ErrorsAreTold", f"{process.name} hides that a commit was refused")
        elif request.api == "OffsetFetch":
            process.watch.fetch_answered(body)
            for partition, offset in process.machine.offsets.positions.items():
                if partition not in before and self._lives(process):
                    self.offsets[process.consumer.group].begins(process.name, partition, offset)
        elif request.api != FIND:
            process.watch.unanswered()  # A5: its computed target is refused, and a heartbeat is due
        return True

    def _lives(self, process: Process) -> bool:
        return process.incarnation in self.watches[process.consumer.group].alive

    def _answer_again(self, process: Process, event: Json) -> bool:
        """Let an answer arrive a second time: it changes nothing."""
        if process.old_answer is None:
            return False
        self.counts.faults["answer duplicated"] += 1
        machine, (correlation, body) = process.machine, process.old_answer
        before = machine.epoch, machine.owned, machine.state
        machine.answered(correlation, body, process.local_ms(self.now_ms))
        if before != (machine.epoch, machine.owned, machine.state):
            raise Violation("H7", "AnswersCountOnce", f"an answer that came twice changed {process.name}")
        return True

    def _wrong_error(self, process: Process, event: Json) -> bool:
        """Replace the answer in flight by an error, as of a coordinator with a fault, or one that is about to
        move: the member must cope. STALE_MEMBER_EPOCH is no answer to a heartbeat (H5)."""
        request, error = process.waits_for, event["error"]
        if process.answer is None or request is None:
            return False
        if request.api == HEARTBEAT and error != STALE:
            wrong: Json = {"errorCode": error, "memberId": None, "memberEpoch": 0, "heartbeatIntervalMs": 0}
            wrong |= {"errorMessage": "a wrong error", "assignment": None}
        elif request.api == "OffsetCommit":
            wrong = {"topics": _refused(request.body["topics"], error)}
        elif request.api == "OffsetFetch":
            groups = [{**one, "errorCode": error, "topics": []} for one in request.body["groups"]]
            wrong = {"groups": groups}
        else:
            return False
        process.answer = wrong
        self.counts.faults["wrong error"] += 1
        return self.note(process.name, event)

    def _give_up(self, process: Process, event: Json) -> bool:
        """Give up waiting; the process's next request is on another connection (R9)."""
        request = process.waits_for
        if request is None:
            return False
        if not self.settings.r9:
            self._keep_late(process.request)
        self._drop_copy(process)
        process.request = process.answer = process.waits_for = None
        process.watch.unanswered()
        self.counts.faults["request timed out"] += 1
        self.note(process.name, event)
        disconnected = bool(event.get("disconnected"))
        local_ms = process.local_ms(self.now_ms)
        process.next_request.failed(disconnected, local_ms)
        process.machine.failed(request.correlation, local_ms, disconnected=disconnected)
        return True

    def draw(self, sender: str, receiver: str, message: RequestView | Json, kind: str) -> None:
        """Write a message into the story."""
        if self.story:
            topics = self.topics
            label = of_answer(message, topics) if isinstance(message, dict) else of_request(message, topics)
            self.story.message(sender, receiver, label, kind)


def _refused(topics: list[Json], error: int) -> list[Json]:
    """The topics of an OffsetCommit answer with this error for each partition."""
    return [
        {
            "topicId": topic["topicId"],
            "partitions": [
                {"partitionIndex": one["partitionIndex"], "errorCode": error} for one in topic["partitions"]
            ],
        }
        for topic in topics
    ]
