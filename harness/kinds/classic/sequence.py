"""Sequence diagrams of traces of a classic group (spec/ClassicGroups.tla).

A request may wait at the coordinator until a later step answers it. In a closed model
(spec/ClosedClassic.tla) every answer is also in flight until the member takes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from harness.itf import Trace
from harness.kinds.classic.state import (
    ClassicGroup,
    ClassicMember,
    ClassicReader,
    ClassicResponse,
    ClassicSpecStep,
    ClassicState,
    read_response,
)
from harness.kinds.classic.subscription_data import subscription_data
from harness.report.sequence import Event, Fate, Message, Note, Shows, Step
from harness.report.sequence_words import COORDINATOR, NOBODY, natural, partitions
from harness.values import as_function

REQUESTS: Final = frozenset({"JoinGroup", "SyncGroup", "ClassicHeartbeat", "LeaveGroup", "OffsetCommit"})
_AT_COORDINATOR: Final = {
    "JoinTimeout": "the time to join is over",
    "SyncTimeout": "the time to sync is over",
    "DeleteGroup": "the empty group is deleted",
    "FailOver": "a new coordinator loads the log",
}
_CLIENT: Final = {
    "AssignmentFails": "fails to make an assignment",
    "NoticeTopics": "finds that the topics have changed",
    "Crash": "process dies",
    "Start": "process starts",
}


def classic_steps(
    trace: Trace, title: str, failing: Mapping[int, Sequence[str]]
) -> tuple[list[str], list[Step], list[Event]]:
    """Lanes and rows. ConformError (exit 2) for a trace of another specification."""
    states = ClassicReader().read(trace, f"The trace {title}")
    steps = [
        Step(index, state.step.action, state.step.branch, tuple(failing.get(index, ())))
        for index, state in enumerate(states)
        if index or 0 in failing
    ]
    named = {name for state in states for name in (*state.group.members, *state.group.pending)}
    named |= {state.step.member for state in states} - {""}
    named |= {NOBODY for state in states if state.step.action in REQUESTS and not state.step.member}
    shown = [event for event in ClassicEvents(trace, states).all() if event.step or 0 in failing]
    return [*sorted(named, key=natural), COORDINATOR], steps, shown


class ClassicEvents:
    """The drawing of the states of one trace."""

    def __init__(self, trace: Trace, states: Sequence[ClassicState]) -> None:
        self._raw = trace.states
        self._states = states
        self._closed = {"clients", "responses"} <= set(trace.variables)
        self._sent: dict[str, tuple[int, ClassicResponse]] = {}
        """Client with an answer in flight -> the step that sent the answer, and the answer."""

    def all(self) -> Iterator[Event]:
        yield Shows(0, tuple(classic_changes(None, self._states[0].group)))
        for index in range(1, len(self._states)):
            yield from self.step(index)
            lines = tuple(classic_changes(self._states[index - 1].group, self._states[index].group))
            if lines:
                yield Shows(index, lines)
        for member in sorted(self._sent):
            yield self._arrives(len(self._states) - 1, member, "underway")

    def step(self, index: int) -> Iterator[Event]:
        """The messages of one step; changes of the group are drawn elsewhere."""
        step = self._states[index].step
        action, member = step.action, step.member
        if action in REQUESTS:
            yield Message(index, member or NOBODY, COORDINATOR, request_label(step), "request")
            if not step.response.error:
                yield Note(index, COORDINATOR, f"{member} waits")
        elif action in ("ReceiveResponse", "LoseResponse") and member in self._sent:
            yield self._arrives(index, member, "arrives" if action == "ReceiveResponse" else "lost")
        elif action == "SessionTimeout":
            yield Note(index, COORDINATOR, f"session of {member} runs out")
        elif action in _AT_COORDINATOR or not member:
            yield Note(index, COORDINATOR, _AT_COORDINATOR.get(action, _topic(step)))
        else:
            yield Note(index, member, self._doing(index, step), action == "Crash")
        if self._closed:
            yield from self._on_the_way(index)
            yield from self._owned(index)
        else:
            yield from self._answers(index, step)

    def _answers(self, index: int, step: ClassicSpecStep) -> Iterator[Event]:
        """The answers in a step of an open model: to its own request and to requests that waited."""
        if step.action in REQUESTS and step.response.error:
            yield _answer(index, step.member or NOBODY, step.response, step)
        yield from answered_late(index, step)

    def _on_the_way(self, index: int) -> Iterator[Event]:
        """The answers of a closed model that are sent, and those that no client waits for any more."""
        before: Any = as_function(self._raw[index - 1]["responses"])
        after: Any = as_function(self._raw[index]["responses"])
        for member in sorted(after):
            if after[member] == before[member]:
                continue
            if member in self._sent:
                yield self._arrives(index, member, "lost")
            for raw in after[member]:
                self._sent[member] = index, read_response(raw)

    def _arrives(self, index: int, member: str, fate: Fate) -> Message:
        sent, response = self._sent.pop(member)
        answer = _answer(index, member, response, self._states[sent].step)
        return Message(index, COORDINATOR, member, answer.label, answer.kind, fate, sent)

    def _client(self, index: int, member: str) -> Mapping[str, Any]:
        client: Any = as_function(self._raw[index]["clients"])[member]
        return as_function(client)

    def _doing(self, index: int, step: ClassicSpecStep) -> str:
        if step.action == "ChangeSubscription":
            names = sorted(self._client(index, step.member)["subscription"])
            return f"subscribes to {', '.join(names) or 'nothing'}"
        return _CLIENT.get(step.action, step.action)

    def _owned(self, index: int) -> Iterator[Event]:
        """The partitions that processes own, where they change."""
        for member in sorted(as_function(self._raw[index]["clients"])):
            owned, before = (self._client(at, member)["owned"] for at in (index, index - 1))
            if owned != before:
                words = f"owns {partitions(owned)}" if owned else f"gives up {partitions(before)}"
                yield Note(index, member, words)


def answered_late(index: int, step: ClassicSpecStep) -> Iterator[Event]:
    """The answers of an open model to requests that waited until this step."""
    for member, response in step.completed:
        yield _answer(index, member, response, None)


def _topic(step: ClassicSpecStep) -> str:
    return f"topic {step.topic} has {step.partitions} partitions" if step.topic else step.action


def request_label(step: ClassicSpecStep) -> str:
    """A request in few words."""
    request, action = step.request, step.action
    words = {
        "JoinGroup": ["join", *([] if request.member else ["without an id"])],
        "SyncGroup": [f"sync g{request.epoch}"],
        "ClassicHeartbeat": [f"heartbeat g{request.epoch}"],
        "LeaveGroup": ["leave"],
        "OffsetCommit": [f"commit {partitions([step.partition] if step.partition else [])} at {step.offset}"],
    }[action]
    if request.instance:
        words.append(f"as {request.instance}")
    if action == "JoinGroup":
        data = subscription_data(request.subscription)
        words.append(f"topics {','.join(sorted(data.topics)) or 'none'}")
        if data.owned:
            words.append(f"owns {partitions(data.owned)} of g{data.generation}")
        elif data.generation is not None and data.generation >= 0:
            words.append(f"of g{data.generation}")
        words.append(f"by {', '.join(request.protocols) or 'no protocol'}")
    given = {name: some for name, some in sorted(request.assignments.items()) if some is not None}
    if action == "SyncGroup" and given:
        words.append(f"assigns {', '.join(f'{name} {partitions(some)}' for name, some in given.items())}")
    return " ".join(words)


def _answer(index: int, member: str, response: ClassicResponse, step: ClassicSpecStep | None) -> Message:
    """The answer to a request; `step` is that of the request, None if it waited."""
    if response.error != "NONE":
        made = f": {response.member}" if response.error == "MEMBER_ID_REQUIRED" else ""
        return Message(index, COORDINATOR, member, f"{response.error}{made}", "error")
    if response.api == "JoinGroup":
        label = f"g{response.generation}, " + (
            f"leader {response.leader}" if response.leader else "no leader"
        )
        if response.members:
            label += f" of {', '.join(sorted(one.member for one in response.members))}"
    elif response.api == "SyncGroup":
        label = (
            "no assignment" if response.assignment is None else f"assign {partitions(response.assignment)}"
        )
    else:
        label = {"LeaveGroup": "left", "OffsetCommit": "committed"}.get(step.action if step else "", "go on")
    return Message(index, COORDINATOR, member, label, "answer")


def classic_changes(before: ClassicGroup | None, after: ClassicGroup) -> Iterator[str]:
    """The changes of the group in a step, in lines."""
    if before is None or _head(after) != _head(before):
        yield _head(after)
    old_pending = before.pending if before else frozenset()
    for name in sorted(after.pending - old_pending):
        yield f"{name} is an id that has not joined"
    for name in sorted({*after.members, *(before.members if before else ())}, key=natural):
        member, old = after.members.get(name), before.members.get(name) if before else None
        if member is None:
            yield f"{name} is no member any more"
        elif old != member:
            yield _member_line(name, member)


def _head(group: ClassicGroup) -> str:
    if not group.exists:
        return "no group"
    led = f", leader {group.leader}" if group.leader else ""
    return f"group g{group.generation}, {group.state}{led}"


def _member_line(name: str, member: ClassicMember) -> str:
    has = "no assignment" if member.assignment is None else partitions(member.assignment)
    waits = (
        ", waits for others to join" if member.joining else ", waits for the leader" if member.syncing else ""
    )
    return f"{name} has {has}{waits}{', must sync' if member.owes_sync else ''}"
