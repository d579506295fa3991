"""Coordinator, processes and the messages between them, which may be lost or late (R9), with the checks after
each event."""

from __future__ import annotations

from collections.abc import Callable

from harness.kinds.classic.simulated.group_rules import GroupRules
from harness.kinds.classic.simulated.member_rules import (
    COMMIT,
    HEARTBEAT,
    JOIN,
    LEAVE,
    MENDED,
    RETRIABLE,
    SYNC,
    error_of,
)
from harness.kinds.classic.simulated.parts import Cluster, Parts
from harness.kinds.classic.simulated.process import Message, Process
from harness.simulate.groups.events import Events
from harness.simulate.groups.parts import RequestView, Violation, shown
from harness.simulate.groups.story import ACTIVE, Settings, Story
from harness.simulate.groups.words import error_name
from harness.targets.base import Json

FAULTS = (
    *("request lost", "answer lost", "answer duplicated", "late request", "delay", "request timed out"),
    "wrong error",
    *("crash", "restart", "leave", "skewed clock", "clock leap", "callback raised", "rebalance enforced"),
    *("fail-over", "coordinator down", "log refuses"),
    *("topic created", "partitions added", "topic deleted", "subscription changed"),
)
"""Faults and changes. Each is counted, also those that never happen."""
SLOW_MS = 1_000
UNKNOWN_TOPIC = 3


class Network(Events[Process, Message, Cluster]):
    """The processes and the coordinator; each method for an event does the event, and returns False where it
    is void."""

    def __init__(self, parts: Parts, settings: Settings, story: Story | None = None) -> None:
        super().__init__(parts.cluster(), settings, story, FAULTS)
        self.parts = parts
        self.topics: dict[str, int] = {}
        self.rules = {group: GroupRules(parts, self.cluster, group) for group in settings.groups}
        self.woken: Callable[[Process], None] = lambda process: None
        """The function that is called when an answer is sent to a process that waited, so that the pump looks
        at the process."""
        self._waiting: dict[str, Message] = {}
        """Requests that wait at the coordinator, by their names."""

    # The coordinator

    def advance(self, to_ms: int) -> None:
        """Let time pass. Time never goes back."""
        while self.now_ms < to_ms:
            fired = self.cluster.advance(min(to_ms - self.now_ms, SLOW_MS))
            self.now_ms = min(to_ms, self.now_ms + SLOW_MS)
            self.fired(fired)
            if fired:
                self.stepped()

    def stepped(self) -> None:
        """Deliver the answers of a coordinator's step, and check the groups after it."""
        for one in self.cluster.completed():
            message = self._waiting.pop(one["id"], None)
            if message is None:
                raise Violation("C1", "EveryRequestIsAnswered", f"{one['id']} is answered, and does not wait")
            self._judge(message, one["body"], None)
            self._answers(message, one["body"])
        for name, rules in self.rules.items():
            if rules.step():
                self.check_owners(name)
            group = self.cluster.group(name)
            self.saw_state(name, "Dead" if group is None else group.state)

    def handle(self, message: Message) -> None:
        """Let the coordinator handle a request; it answers at once, or later."""
        request, rules = message.request, self.rules[message.request.body["groupId"]]
        active = self.coordinator == ACTIVE
        expected = rules.expected_error(request.api, request.body) if active else None
        reasons = rules.reasons(request.api, request.body) if active else None
        group = self.cluster.group(request.body["groupId"])
        hands = (
            request.api == SYNC
            and group is not None
            and group.state == "CompletingRebalance"
            and (group.leader, group.generation) == (request.body["memberId"], request.body["generationId"])
        )
        client = {"id": message.who, "host": "/127.0.0.1"}
        body = self.cluster.request(request.api, request.version, client, request.body, message.id)
        if hands and not (body and error_of(body)):
            rules.taken(request.body)
        if body:
            self._judge(message, body, expected, reasons)
            self._answers(message, body)
        else:
            self._waiting[message.id] = message
        self.stepped()

    def _judge(
        self, message: Message, body: Json, expected: int | None, reasons: frozenset[int] | None = None
    ) -> None:
        api, error = message.request.api, error_of(body)
        self.counts.answers[f"{api} {error_name(error)}" if error else f"{api} accepted"] += 1
        rules = self.rules[message.request.body["groupId"]]
        if (self.log_fails and error in RETRIABLE) or (api == COMMIT and error == UNKNOWN_TOPIC):
            expected = reasons = None  # the log refused, or a topic was deleted
        rules.answered(api, message.request.body, body, error, expected, reasons)

    def _answers(self, message: Message, body: Json) -> None:
        """Send an answer, if its process still waits for it."""
        process = self.processes.get(message.who)
        if process is not None and process.waits_for is message.request:
            process.answer = body
            self.woken(process)

    # Messages

    def _send(self, process: Process, event: Json) -> bool:
        local_ms = process.local_ms(self.now_ms)
        if process.waits_for is not None:
            if process.machine.take_request(local_ms) is not None:
                raise Violation(
                    "R9", "OneRequestInFlight", f"{process.name} sends while a request is in flight"
                )
            return False
        due_ms = process.machine.next_deadline_ms()
        request = process.machine.take_request(local_ms)
        if request is None:  # where one was due, the member must run callbacks first
            return due_ms is not None and due_ms <= local_ms
        process.rules.sends(request.api, request.body, local_ms)
        if request.api == JOIN:
            claims = [self.parts.claim(one["metadata"]) for one in request.body["protocols"]]
            process.rules.joins(request.body, claims)
        elif request.api == SYNC:
            self._hands_out(process, request.body)
        process.waits_for, process.sent_ms = request, self.now_ms
        number = f"{process.name}.{process.number}.{request.correlation}"
        process.request = Message(process.name, number, request)
        return True

    def _hands_out(self, process: Process, body: Json) -> None:
        """Judge a SyncGroup: a leader hands out all partitions, others none (C1)."""
        if not process.leads:
            if body["assignments"]:
                raise Violation("C1", "OnlyTheLeaderAssigns", f"{process.name} assigns, and does not lead")
            return
        cooperative = any(name == "cooperative-sticky" for name in process.consumer.assignors)
        rules = self.rules[process.consumer.group]
        rules.hands_out(body, process.leads, process.known_topics or {}, cooperative)

    def _deliver(self, process: Process, event: Json) -> bool:
        message, process.request = process.request, None
        if message is None:
            return False
        self.counts.faults["delay"] += self.now_ms - process.sent_ms > SLOW_MS
        self.draw(process.name, "coordinator", message.request, "request")
        self.handle(message)
        return True

    def _late(self, event: Json) -> bool:
        """Let a request of a process that is gone arrive."""
        waiting = self.late.get(event["who"])
        if not waiting or self.coordinator != ACTIVE:
            return False
        message = waiting.pop(0)
        self.counts.faults["late request"] += 1
        self.draw(message.who, "coordinator", message.request, "late")
        self.handle(message)
        return True

    def _answer(self, process: Process, event: Json) -> bool:
        request, body = process.waits_for, process.answer
        if request is None or body is None:
            return False
        process.answer = process.waits_for = None
        process.old_answer = request.correlation, body
        self.draw("coordinator", process.name, body, "answer")
        local_ms = process.local_ms(self.now_ms)
        error = error_of(body)
        if error and error not in (RETRIABLE if request.api == COMMIT else MENDED):
            process.raised = process.raised or error
        self._learns(process, request, body, local_ms)
        process.machine.answered(request.correlation, body, local_ms)
        return True

    def _learns(self, process: Process, request: RequestView, body: Json, local_ms: int) -> None:
        """Pass an answer to the rules of the process."""
        error, rules = error_of(body), process.rules
        if request.api == LEAVE:
            rules.left(local_ms)
        elif error:
            rules.refused(request.api, error, body, local_ms)
        elif request.api == JOIN:
            rules.joined(body)
            leads = {one["memberId"]: one["metadata"] for one in body["members"]}
            process.leads = {} if body["skipAssignment"] else leads
            process.led, process.skips = bool(leads), bool(body["skipAssignment"])
        elif request.api == SYNC:
            rules.synchronised(self.parts.handed(body["assignment"]), process.led, local_ms)
        elif request.api not in (HEARTBEAT, COMMIT):
            raise Violation("C1", "AsksForWhatIsNext", f"{process.name} sends {request.api}")

    def _answer_again(self, process: Process, event: Json) -> bool:
        """Let an answer arrive a second time: it changes nothing."""
        if process.old_answer is None:
            return False
        self.counts.faults["answer duplicated"] += 1
        machine, (correlation, body) = process.machine, process.old_answer
        before = machine.generation, machine.member_id, machine.owned, machine.phase
        machine.answered(correlation, body, process.local_ms(self.now_ms))
        if before != (machine.generation, machine.member_id, machine.owned, machine.phase):
            raise Violation("C1", "AnswersCountOnce", f"an answer that came twice changed {process.name}")
        return True

    def _wrong_error(self, process: Process, event: Json) -> bool:
        """Replace the answer in flight by an error, as of a coordinator with a fault: a member must cope with
        each error in every phase."""
        request = process.waits_for
        if process.answer is None or request is None or request.api == LEAVE:
            return False
        error = event["error"]
        body = {"errorCode": error, "memberId": request.body["memberId"]}
        if request.api == COMMIT:
            body = {
                "topics": [
                    {**topic, "partitions": [{**one, "errorCode": error} for one in topic["partitions"]]}
                    for topic in request.body["topics"]
                ]
            }
        process.answer = body
        self.counts.faults["wrong error"] += 1
        return self.note(process.name, event)

    def _give_up(self, process: Process, event: Json) -> bool:
        """Give up waiting; the process's next request is on another connection (R9)."""
        request = process.waits_for
        if request is None:
            return False
        process.request = process.answer = process.waits_for = None
        process.old_answer = None
        self.counts.faults["request timed out"] += 1
        self.note(process.name, event)
        process.rules.unanswered(request.api, process.local_ms(self.now_ms))
        process.machine.failed(request.correlation, process.local_ms(self.now_ms))
        return True

    # Checks

    def check_owners(self, group: str) -> None:
        """Judge the owners in a group (C4)."""
        members = [one for one in self.processes.values() if one.consumer.group == group]
        self.counts.zombie_owners += self.rules[group].owners(members, self.settings.exemption)

    def look(self, process: Process) -> None:
        """Check a process after an event."""
        machine = process.machine
        process.rules.owns(machine.owned, machine.fetchable)
        if process.waits_for is None:
            process.rules.waits(machine.next_deadline_ms())
        self.check_owners(process.consumer.group)

    # For a story

    def draw(self, sender: str, receiver: str, message: RequestView | Json, kind: str) -> None:
        """Write a message into the story."""
        if self.story:
            label = self._of_answer(message) if isinstance(message, dict) else self._of_request(message)
            self.story.message(sender, receiver, label, kind)

    def _of_request(self, request: RequestView) -> str:
        body = request.body
        if request.api == JOIN:
            topics, owned, generation = self.parts.claim(body["protocols"][0]["metadata"])
            claim = f", owns {shown(owned)} since generation {generation}" if owned else ""
            return f"JoinGroup as {body['memberId'] or 'a new member'} for {' '.join(sorted(topics))}{claim}"
        if request.api == LEAVE:
            return LEAVE
        generation = body["generationIdOrMemberEpoch"] if request.api == COMMIT else body["generationId"]
        given = [
            f"{one['memberId']}: {shown(self.parts.handed(one['assignment']))}"
            for one in body.get("assignments", ())
        ]
        return "; ".join([f"{request.api}, generation {generation}", *given])

    def _of_answer(self, body: Json) -> str:
        if error := error_of(body):
            return error_name(error)
        if "protocolName" in body and "members" in body:
            return f"generation {body['generationId']}, leader {body['leader']}"
        return f"assigned {shown(self.parts.handed(body['assignment']))}" if "assignment" in body else "done"
