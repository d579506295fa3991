"""The member's side of closed models: each client process of a trace, replayed on a member under test.

The actions, the knowledge and the partitions of a client are in the variables `clients` and `responses` of
spec/ClosedGroup.tla. A step gives the process its event, and the specification's values are compared with the
member's: the sent request (H7), its epoch, its owned partitions, and the need to revoke (K1, K2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from frozendict import frozendict

from harness.errors import ConformError
from harness.itf import Trace
from harness.kinds.consumer import expect
from harness.kinds.consumer.state import Request, SpecState
from harness.kinds.consumer.wire import heartbeat
from harness.kinds.fields import BadField, Fields
from harness.replay import wire
from harness.replay.dialects import Forms, forms_of
from harness.replay.members import Does, MemberStep
from harness.targets.base import Json
from harness.values import Value, as_function

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


def member_steps(trace: Trace, states: Sequence[SpecState], name: str) -> list[MemberStep]:
    """All steps of clients, processes that are up at the start first; [] if the trace has no clients, or
    starts when they have a past. ConformError for clients of another shape."""
    if not set(trace.variables) >= VARIABLES:
        return []
    try:
        return list(_Clients(trace, states, forms_of(trace, name)).steps())
    except (KeyError, TypeError, AttributeError, BadField):
        raise ConformError(
            f"The trace {name}: its variable clients cannot be read; {_RIGHT_SHAPE}."
        ) from None


def _by_member(value: Value) -> Mapping[str, Any]:
    return as_function(value)


class _Clients:
    """A reader of `clients`; equal values are read once."""

    def __init__(self, trace: Trace, states: Sequence[SpecState], forms: Forms) -> None:
        self._states = states
        self._forms = forms
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
        """Tell if the client sends a request in the step before this state, not an old request of its own."""
        return not self._responses[index - 1][member] and bool(self._responses[index][member])

    def _reports_while_revoking(self) -> bool:
        """The model's constant of that name, derived from the clients' actions: where no client does so, it
        does not matter."""
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
            self._answers[member] = expect.heartbeat(spec, self._forms)
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
            fields = Fields(frozendict[Any, Value](client), "client")
            owned = fields.partitions("owned")
            self._known[client] = {
                "up": fields.get("up", bool),
                "epoch": fields.get("epoch", int),
                "owned": wire.expected_partitions(owned),
                "mustRevoke": not owned <= fields.partitions("told"),
            }
        return self._known[client]


def expected_request(request: Request) -> Json:
    """The request of a member: `heartbeat`, but with the rebalance time-out among the other fields (H7)."""
    full = request.subscription is not None
    return {**heartbeat(request), "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS if full else -1}
