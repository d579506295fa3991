"""The member's side of closed models: each client process of a trace, replayed on a member under test.

What a client does, knows and owns is in the variables `clients` and `responses` of spec/ClosedGroup.tla. A
step tells the process what happens to it, and is compared with what the specification says: the request that
it sends (H7), its epoch, what it owns, and whether it must revoke (K1, K2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.consumer import expect
from harness.kinds.consumer.state import Request, SpecState
from harness.replay import wire
from harness.replay.compare import Difference
from harness.requirements import of_member
from harness.targets.base import Json
from harness.targets.members import Process, StartProcess
from harness.values import Value, as_function

Does: TypeAlias = Literal[
    "start", "subscribe", "send", "receive", "lose", "finish_revocation", "leave", "end", "nothing"
]

VARIABLES: Final = {"clients", "responses"}
"""The variables that a trace must have for its members to be replayed."""

_CLIENT_STEPS: Final[dict[str, Does]] = {
    "Start": "start",
    "ChangeSubscription": "subscribe",
    "ReceiveResponse": "receive",
    "FinishRevocation": "finish_revocation",
    "LoseRequest": "lose",
    "LoseResponse": "lose",
    "Crash": "end",
    "CrashSending": "end",
}
_LEAVES: Final = ("Leave", "LeaveTemporarily")
_RIGHT_SHAPE: Final = "it needs the fields up, epoch, owned, told and subscription of spec/ClosedGroup.tla"


class MemberStep(msgspec.Struct, frozen=True):
    """A step of one client.

    `index` is that of the state after it. `topics` are subscribed to, `instance` is that of a static member
    (S1), `literal` the model's ReportsWhileRevoking, `answer` the response that arrives. `sends` is the
    request that must be sent, `after` what `Process.observe` must give then; None: not compared.
    """

    index: int
    action: str
    member: str
    does: Does
    topics: Sequence[str] = ()
    instance: str | None = None
    literal: bool = False
    answer: Json | None = None
    sends: Json | None = None
    after: Json | None = None

    def operation(self) -> Json:
        """The step in JSON, for reports."""
        given = {"topics": list(self.topics), "instance": self.instance, "answer": self.answer}
        return {"op": self.does, "member": self.member, **{name: it for name, it in given.items() if it}}


def member_steps(trace: Trace, states: Sequence[SpecState], name: str) -> list[MemberStep]:
    """All steps of clients, processes that are up at the start first; [] if the trace has no clients, or
    starts when they have a past. ConformError for clients of another shape."""
    if not set(trace.variables) >= VARIABLES:
        return []
    try:
        return list(_Clients(trace, states).steps())
    except (KeyError, TypeError, AttributeError):
        raise ConformError(
            f"The trace {name}: its variable clients cannot be read; {_RIGHT_SHAPE}."
        ) from None


def _by_member(value: Value) -> Mapping[str, Any]:
    return as_function(value)


class _Clients:
    """Reads what `clients` says; equal values are read once."""

    def __init__(self, trace: Trace, states: Sequence[SpecState]) -> None:
        self._states = states
        self._clients = [_by_member(state["clients"]) for state in trace.states]
        self._responses = [_by_member(state["responses"]) for state in trace.states]
        self._instances = {
            state.step.request.member: state.step.request.instance
            for state in states
            if state.step.request.instance
        }
        self._answers: dict[str, Json] = {}
        self._known: dict[Any, Json] = {}
        self._literal = self._reports_while_revoking()

    def steps(self) -> Iterator[MemberStep]:
        joined = any(client["epoch"] != 0 or client["owned"] for client in self._clients[0].values())
        if joined or any(self._responses[0].values()):
            return
        for member, client in self._clients[0].items():
            if client["up"]:
                yield self._started(0, "Init", member)
        for index in range(1, len(self._states)):
            action, member = self._states[index].step.action, self._states[index].step.member
            if action == "Start":
                yield self._started(index, action, member)
            elif member in self._clients[index]:
                yield self._step(index, action, member)

    def _started(self, index: int, action: str, member: str) -> MemberStep:
        client = self._clients[index][member]
        return MemberStep(
            index,
            action,
            member,
            "start",
            sorted(client["subscription"]),
            self._instances.get(member),
            self._literal,
            after=self._after(client),
        )

    def _sends(self, index: int, member: str) -> bool:
        """Does the client send a request in the step before this state, not an old one of its own?"""
        return not self._responses[index - 1][member] and bool(self._responses[index][member])

    def _reports_while_revoking(self) -> bool:
        """The model's constant of that name, from what clients do: where they do not, it does not matter."""
        return any(
            self._states[index].step.request.owned is not None and self._after(client)["mustRevoke"]
            for index in range(1, len(self._states))
            for member, client in self._clients[index - 1].items()
            if member == self._states[index].step.member and self._sends(index, member)
        )

    def _step(self, index: int, action: str, member: str) -> MemberStep:
        spec, client = self._states[index].step, self._clients[index][member]
        ends = self._clients[index - 1][member]["up"] and not client["up"]
        does = _CLIENT_STEPS.get(action, "nothing")
        sends = None
        if ends and action in _LEAVES:
            does, sends = "leave", expected_request(spec.request)
        elif self._sends(index, member):
            does, sends = "send", expected_request(spec.request)
            self._answers[member] = expect.heartbeat(spec)
        return MemberStep(
            index,
            action,
            member,
            does,
            sorted(client["subscription"]) if does == "subscribe" else (),
            answer=self._answers[member] if does == "receive" else None,
            sends=sends,
            after=None if does in ("leave", "end") or not (client["up"] or ends) else self._after(client),
        )

    def _after(self, client: Mapping[str, Any]) -> Json:
        if client not in self._known:
            self._known[client] = {
                "up": client["up"],
                "epoch": client["epoch"],
                "owned": wire.expected_partitions(client["owned"]),
                "mustRevoke": not client["owned"] <= client["told"],
            }
        return self._known[client]


def expected_request(request: Request) -> Json:
    """The request of a member: `wire.heartbeat`, but the rebalance timeout with all other fields (H7)."""
    full = request.subscription is not None
    return {**wire.heartbeat(request), "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS if full else -1}


class MemberReplayer:
    """Replays the members of traces. One that differs once is not judged until its process starts again,
    since it cannot be put into the specification's state."""

    def __init__(self, start: StartProcess) -> None:
        self._start = start
        self.judged = 0
        self.requirements: Counter[str] = Counter()

    def replay(self, steps: Sequence[MemberStep]) -> Iterator[tuple[MemberStep, list[Difference]]]:
        """The steps of one trace that differ, with all differences of each."""
        processes: dict[str, Process] = {}
        for step in steps:
            if step.does == "start":
                processes[step.member] = self._start(step.member, step.instance, step.literal)
            process = processes.get(step.member)
            if process is None:
                continue
            self.judged += 1
            for name in of_member(step.does, step.answer):
                self.requirements[name] += 1
            differences = _judge(step, process)
            if differences or step.does in ("end", "leave"):
                del processes[step.member]
            if differences:
                yield step, differences


def _judge(step: MemberStep, process: Process) -> list[Difference]:
    sent = _take(step, process)
    found = []
    if step.sends is not None and sent is not None and sent != step.sends:
        # A field that is left out is null (or -1): the member may have fields that the specification has not.
        for name in [*step.sends, *(name for name in sent if name not in step.sends)]:
            expected, got = step.sends.get(name), sent.get(name)
            if expected != got:
                found.append(Difference(f"request.{name}", expected, got))
    if step.after is not None and (observed := process.observe()) != step.after:
        found += [
            Difference(f"member.{name}", value, observed.get(name))
            for name, value in step.after.items()
            if observed.get(name) != value
        ]
    return found


def _take(step: MemberStep, process: Process) -> Json | None:
    """Let it happen; the request that is sent."""
    match step.does:
        case "start" | "subscribe":
            process.subscribe(step.topics)
        case "send":
            return process.send()
        case "receive":
            process.receive(step.answer or {})
        case "lose":
            process.lose()
        case "finish_revocation":
            process.finish_revocation()
        case "leave":
            return process.leave(step.action == "LeaveTemporarily")
        case "end" | "nothing":
            pass
    return None
