"""Sequence diagrams of traces of a consumer or Connect group: the messages of each step, the events of
members, the state.

In an open model a request is answered in its step. In a closed model (spec/ClosedGroup.tla) the answer is in
flight until the member takes it, and messages are lost, or arrive late, when no client waits for them any
more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from harness.itf import Trace
from harness.kinds.actions import INITIAL
from harness.kinds.consumer.expect import group_state
from harness.kinds.consumer.state import (
    AWAY,
    Group,
    Member,
    Request,
    Response,
    SpecState,
    SpecStep,
    StateReader,
)
from harness.kinds.features import computing_sequence as computing
from harness.kinds.fields import Partition
from harness.report.sequence import Event, Fate, Message, Note, Shows, Step
from harness.report.sequence_words import COORDINATOR, NOBODY, natural, partitions
from harness.values import Value, as_function
from harness.words import counted

_REQUESTS: Final = frozenset(
    {"Join", "Rejoin", "Return", "Heartbeat", "Leave", "LeaveTemporarily", "OffsetCommit", "OffsetFetch"}
)
_OFFSETS: Final = frozenset({"OffsetCommit", "OffsetFetch"})


def consumer_steps(
    trace: Trace, title: str, failing: Mapping[int, Sequence[str]]
) -> tuple[list[str], list[Step], list[Event]]:
    """Lanes and rows. ConformError (exit 2) for a trace of another specification."""
    states = StateReader().read(trace, f"The trace {title}")
    members = sorted(_members(trace, states), key=natural)
    steps = [
        Step(index, _name(trace, index, state.step), state.step.branch, tuple(failing.get(index, ())))
        for index, state in enumerate(states)
        if index or 0 in failing
    ]
    shown = [event for event in GroupEvents(trace, states).all() if event.step or 0 in failing]
    return [*members, COORDINATOR], steps, shown


def _members(trace: Trace, states: Sequence[SpecState]) -> set[str]:
    """The members that act, or are in the group at any time."""
    named = {name for state in states for name in state.group.members}
    asking = _REQUESTS | computing.REQUESTS
    named |= {state.step.member or NOBODY for state in states if state.step.action in asking}
    return named | {state.step.member for state in states} - {""} or {NOBODY}


def _name(trace: Trace, index: int, step: SpecStep) -> str:
    """The name of a step; a liveness model does not record its steps, but the engine may name them."""
    return (
        step.action
        if step.action != INITIAL or not index
        else (*trace.actions, *[""] * index)[index] or "step"
    )


class GroupEvents:
    """The drawing of the states of one trace."""

    def __init__(self, trace: Trace, states: Sequence[SpecState]) -> None:
        self._raw = trace.states
        self._states = states
        self._closed = {"clients", "responses"} <= set(trace.variables)
        self._sent: dict[str, int] = {}
        """Client with an answer in flight -> the step that sent the answer."""
        self._late: dict[tuple[str, Any], int] = {}
        """Message that may still arrive although no client waits for it -> the step in which it was sent."""

    def all(self) -> Iterator[Event]:
        yield Shows(0, (*group_changes(None, self._states[0].group), *computing.changes(None, self._raw[0])))
        for index in range(1, len(self._states)):
            yield from self.step(index)
            lines = [*group_changes(self._states[index - 1].group, self._states[index].group)]
            lines += computing.changes(self._raw[index - 1], self._raw[index])
            if lines:
                yield Shows(index, tuple(lines))
        last = len(self._states) - 1
        for member, sent in self._sent.items():
            yield self._of_client(last, member, sent, "underway")

    def step(self, index: int) -> Iterator[Event]:
        """The messages of one step; changes of the group are drawn elsewhere."""
        step = self._states[index].step
        if step.action in _REQUESTS:
            yield from self._request(index, step)
        elif step.action in computing.REQUESTS:
            states = self._raw[index - 1], self._raw[index]
            yield from computing.messages(index, step.member or NOBODY, step, *states)
        elif self._closed and step.action == INITIAL:
            yield from self._not_recorded(index)
        elif self._closed and step.action in _CLIENT:
            yield from self._client(index, step)
        else:
            text = _happens(self._states[index])
            member = step.action not in _AT_COORDINATOR and step.member
            yield Note(index, member or COORDINATOR, text)
        if self._closed:
            yield from owned_by(self._raw, index, "clients")

    def _request(self, index: int, step: SpecStep) -> Iterator[Event]:
        member = step.member or NOBODY
        label = request_label(step, self._states[index - 1].group)
        if not self._closed:
            yield Message(index, member, COORDINATOR, label, "request")
            answer = _answer(index, member, step)
            yield replace(answer, label=answer.label + computing.answer_words(self._raw[index]))
            return
        origin = self._origin(index, step)
        if origin is None:
            yield Message(index, member, COORDINATOR, label, "request")
            if step.action in _OFFSETS:
                yield _answer(index, member, step)
            elif self._client_of(index, member)["up"]:
                self._sent[member] = index
            else:
                yield Note(index, member, "process ends")
        else:
            yield Message(index, member, COORDINATOR, f"late: {label}", "request", "late", origin)

    def _origin(self, index: int, step: SpecStep) -> int | None:
        """The step in which a message was sent that arrives late, or once more; None for one that is sent
        now."""
        before, after = self._raw[index - 1], self._raw[index]
        if step.action in _OFFSETS:
            is_late = any(before.get(name) != after.get(name) for name in ("lateCommits", "budget"))
        else:
            answers = (
                as_function(before["responses"])[step.member],
                as_function(after["responses"])[step.member],
            )
            ends = (
                self._client_of(index - 1, step.member)["up"]
                and not self._client_of(index, step.member)["up"]
            )
            is_late = not ends and not (answers[1] and not answers[0])
        if not is_late:
            return None
        return self._late.get((step.member, _late_key(step)), index)

    def _client(self, index: int, step: SpecStep) -> Iterator[Event]:
        """A step of a member or of the network."""
        member, action = step.member, step.action
        self._leaves_late(index, member)
        if action in ("ReceiveResponse", "LoseResponse"):
            fate: Fate = "lost" if action == "LoseResponse" else "arrives"
            yield self._of_client(index, member, self._sent.pop(member, index), fate)
            return
        if action == "LoseRequest":
            client = self._client_of(index - 1, member)
            epoch = client["epoch"]
            label = f"heartbeat e{epoch}" if epoch else "join"
            yield Message(index, member, COORDINATOR, label, "request", "lost")
            return
        if action == "Crash":
            sent_in = self._sent.pop(member, None)
            if sent_in is not None:
                yield self._of_client(index, member, sent_in, "lost")
        yield Note(index, member, self._doing(index, step), action.startswith("Crash"))

    def _not_recorded(self, index: int) -> Iterator[Event]:
        """A step of a model that records none: the messages in flight show which step it was."""
        before, after = (as_function(self._raw[at]["responses"]) for at in (index - 1, index))
        for member in sorted(after):
            if after[member] and not before[member]:
                self._sent[member] = index
                epoch = self._client_of(index - 1, member)["epoch"]
                yield Message(index, member, COORDINATOR, _KINDS.get(epoch, f"heartbeat e{epoch}"), "request")
            elif before[member] and not after[member]:
                yield self._of_client(index, member, self._sent.pop(member, index), "arrives")

    def _of_client(self, index: int, member: str, sent: int, fate: Fate) -> Message:
        """The answer to a request of a step before this one."""
        step = self._states[sent].step
        if step.action == INITIAL:
            step = replace(step, response=_on_the_way(self._raw[sent], member))
        answer = _answer(index, member, step)
        return Message(index, COORDINATOR, member, answer.label, answer.kind, fate, sent)

    def _doing(self, index: int, step: SpecStep) -> str:
        client, before = self._client_of(index, step.member), self._client_of(index - 1, step.member)
        if step.action == "FinishRevocation":
            given_up = partitions(before["owned"] - client["owned"])
            return f"gives up {given_up}, keeps {partitions(client['owned'])}"
        if step.action == "ChangeSubscription":
            return f"subscribes to {', '.join(sorted(client['subscription'])) or 'nothing'}"
        if step.action in ("Consume", "LoseCommit"):
            place = partitions([step.partition]) if step.partition else step.topic
            return (
                f"processed {place} up to {step.offset}"
                if step.action == "Consume"
                else f"a commit of {place} is late"
            )
        return _CLIENT[step.action]

    def _leaves_late(self, index: int, member: str) -> None:
        """Note the step in which a message was sent that may arrive late."""
        for name in ("late", "lateCommits"):
            before, after = (
                self._raw[index - 1].get(name, frozenset()),
                self._raw[index].get(name, frozenset()),
            )
            assert isinstance(before, frozenset) and isinstance(after, frozenset)
            for one in after - before:
                assert isinstance(one, Mapping)
                self._late[member, _raw_key(name, one)] = index

    def _client_of(self, index: int, member: str) -> Mapping[str, Any]:
        return _process(self._raw[index], "clients", member)


def _process(state: Mapping[str, Any], variable: str, member: str) -> Mapping[str, Any]:
    """A client process in a raw state."""
    process: Any = as_function(state[variable])[member]
    return as_function(process)


def owned_by(raw: Sequence[Mapping[str, Any]], index: int, variable: str) -> Iterator[Event]:
    """The partitions that processes own, where they change; partitions with two owners, and owners that
    were removed. `variable` has the processes in a raw state."""
    now = {name: _process(raw[index], variable, name)["owned"] for name in as_function(raw[index][variable])}
    zombies = _names(raw[index].get("zombies")) - _names(raw[index - 1].get("zombies"))
    for name, owned in sorted(now.items()):
        if owned - _process(raw[index - 1], variable, name)["owned"]:
            others = [other for other in sorted(now) if other != name and now[other] & owned]
            also = [f"; {other} owns {partitions(now[other] & owned)}, too" for other in others]
            yield Note(index, name, f"owns {partitions(owned)}{''.join(also)}", bool(others))
        if name in zombies:
            yield Note(index, name, "removed, and does not know")


def _on_the_way(state: Mapping[str, Any], member: str) -> Response:
    """The answer in flight to a client."""
    raw = _only(as_function(state["responses"])[member])
    given = _only(raw["assignment"])
    assigned, pending = (given["assigned"], given["pending"]) if given else (None, None)
    return Response(raw["error"], raw["member"], raw["epoch"], assigned, pending)


_CLIENT: Final[dict[str, str]] = {
    "ReceiveResponse": "",
    "LoseResponse": "",
    "LoseRequest": "",
    "FinishRevocation": "",
    "ChangeSubscription": "",
    "Consume": "",
    "LoseCommit": "",
    "Crash": "process dies",
    "CrashSending": "process dies, a request is under way",
    "Start": "process starts",
}
_AT_COORDINATOR: Final = frozenset(
    {"SessionTimeout", "RebalanceTimeout", "ComputationTimeout", "AssignmentTimeout"}
)


def _happens(after: SpecState) -> str:
    """A step that is no message, in words."""
    step, admission = after.step, after.admission
    topic = f"topic {step.topic}"
    many = counted(step.partitions, "partition")
    changed = f"{topic} has {many}" if step.partitions > 0 else f"{topic} is deleted"
    return {
        "SessionTimeout": f"session of {step.member} runs out",
        "RebalanceTimeout": f"revocation of {step.member} runs out",
        "ComputationTimeout": f"{step.member} has not installed in time",
        "AssignmentTimeout": f"{step.member} has not installed in time",
        "CreateTopic": changed,
        "AddPartitions": changed,
        "DeleteTopic": changed,
        "DeleteGroup": "the empty group is deleted",
        "FailOver": "a new coordinator loads the log" + (f", {changed}" if step.topic else ""),
        "Compact": "the log is compacted",
        "Deactivate": f"the coordinator is {admission.state}",
        "Activate": "the coordinator is active again, and loads the log",
        "ChangeRights": f"denied: {', '.join(sorted(admission.denied)) or 'nothing'}",
    }.get(step.action, step.action)


def request_label(step: SpecStep, group: Group) -> str:
    """A request in few words, without the fields that repeat the member's metadata."""
    request = step.request
    if step.action in _OFFSETS:
        place = partitions([step.partition]) if step.partition else ""
        epoch = f", e{request.epoch}" if request.epoch >= 0 else ""
        return (
            f"commit {place} at {step.offset}{epoch}"
            if step.action == "OffsetCommit"
            else f"fetch {place}{epoch}"
        )
    words = [_KINDS.get(request.epoch, f"heartbeat e{request.epoch}")]
    if not request.member:
        words.append("without an id")
    if request.instance:
        words.append(f"as {request.instance}")
    if request.owned is not None and (request.owned or request.epoch > 0):
        words.append(f"owns {partitions(request.owned)}")
    known = group.members.get(request.member)
    if request.subscription is not None and (known is None or request.subscription != known.subscription):
        words.append(f"topics {','.join(sorted(request.subscription)) or 'none'}")
    words += [
        f"{name} {value or 'none'}"
        for name, value in (("regex", request.regex), ("assignor", request.assignor))
        if value is not None and (value or known is not None)
    ]
    return " ".join(words)


_KINDS: Final = {0: "join", -1: "leave", AWAY: "leave for a while"}


def _answer(index: int, member: str, step: SpecStep) -> Message:
    """The answer to the request of a step, which arrives in this step."""
    response = step.response
    if response.error != "NONE":
        return Message(index, COORDINATOR, member, response.error, "error")
    if step.action == "OffsetCommit":
        label = "committed"
    elif step.action == "OffsetFetch":
        label = f"offset {step.offset}" if step.offset >= 0 else "no offset"
    else:
        label = f"e{response.epoch}" if response.epoch >= 0 else "left"
        if not step.request.member and step.action != INITIAL:
            label += f" as {response.member}"
        if response.assigned is not None:
            label += f" assign {partitions(response.assigned)}"
        if response.pending:
            label += f", pending {partitions(response.pending)}"
    return Message(index, COORDINATOR, member, label, "answer")


def group_changes(before: Group | None, after: Group) -> Iterator[str]:
    """The changes of the group in a step, in lines."""
    if _head(after) != (_head(before) if before else ""):
        yield _head(after)
    for name in sorted({*after.members, *(before.members if before else ())}, key=natural):
        member, old = after.members.get(name), before.members.get(name) if before else None
        if member is None:
            yield f"{name} is no member any more"
        elif before is None or old != member or before.target(name) != after.target(name):
            yield _member_line(name, member, after.target(name))


def _head(group: Group) -> str:
    if not group.exists:
        return "no group"
    behind = "" if group.assignment_epoch == group.epoch else f", assignment e{group.assignment_epoch}"
    return f"group e{group.epoch}{behind}, {group_state(group)}"


def _member_line(name: str, member: Member, target: frozenset[Partition]) -> str:
    words = (
        f"{name} {'away' if member.epoch == AWAY else f'e{member.epoch}'} has {partitions(member.assigned)}"
    )
    if member.classic is not None:
        words += _PHASES[member.classic.phase]
    if member.revoking:
        words += f", revokes {partitions(member.revoking)}"
    return words if target == member.assigned else f"{words}, target {partitions(target)}"


_PHASES: Final = {
    "prepare": ", must rejoin",
    "complete": ", must sync",
    "both": ", must rejoin and sync",
    "stable": ", stable",
}
"""The words for members of the classic protocol (M2)."""


def _late_key(step: SpecStep) -> Any:
    if step.action in _OFFSETS:
        return ("commit", step.request.epoch, step.partition, step.offset)
    request: Request = step.request
    return ("request", request.epoch, request.owned, request.subscription)


def _raw_key(name: str, raw: Mapping[Any, Any]) -> Any:
    if name == "lateCommits":
        return ("commit", raw["epoch"], raw["partition"], raw["offset"])
    return ("request", raw["epoch"], _only(raw["owned"]), _only(raw["subscription"]))


def _only(values: Any) -> Any:
    return next(iter(values), None)


def _names(value: Value | None) -> frozenset[Any]:
    return value if isinstance(value, frozenset) else frozenset()
