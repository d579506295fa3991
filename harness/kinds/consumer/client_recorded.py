"""Recorded clients of consumer groups: a request that no member may send, the broken rule, and the possible
requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.kinds.consumer.client_log import ANOTHER, Line, Run
from harness.replay.compare import Difference
from harness.validate.recording import AnyLine, AnyStep, Recording
from harness.validate.templates import write
from harness.values import State

ME: Final = "member"
"""The client of a run in spec/RecordedClient.tla."""
SEEN_FROM: Final = {
    "new": "a new process",
    "joined": "a member that took the answer to its join in",
    "told": "a member that took the answer in",
    "refused": "a member that got an error",
    "lost": "a member that got no answer",
    "removed": "a member that was told that it is removed",
    "ended": "a member that got a fatal error",
    "leaving": "a member that is about to leave",
    "left": "a member that has left",
    "sent": "a member whose last heartbeat is there",
}
"""The words of the report for the reason why a client is in its state."""


@dataclass(frozen=True, slots=True)
class Step:
    """The line, sent by a member in the state that `branch` names."""

    action: str
    branch: str
    member: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ClientState:
    """The client that may not send a line, and the rules that forbid the line. `epochs` are those of
    heartbeats; `since` is the step with which the client began to be quiet (H7), 0 if it has not."""

    step: Step
    because: str
    epoch: int
    owned: frozenset[Any]
    epochs: frozenset[int]
    since: int
    broken: frozenset[str]


class Rule(NamedTuple):
    """The requirement of a rule, and the words for the possible request and for the one that was sent."""

    requirement: str
    possible: Callable[[Run, Line, ClientState], str]
    sent: Callable[[Line], str]


class ClientRecording(Recording[Run, ClientState]):
    """Clients of consumer groups (spec/RecordedClient.tla)."""

    module = "RecordedClient"

    def render(self, runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
        """Render a module for one client at a time; only the coordinator has a dialect."""
        return write(folder, self.module, "kinds/consumer/client_", {"runs": runs, "kafka": False})

    def states(self, dumped: Sequence[State]) -> list[ClientState]:
        """Clients that break a rule with this line."""
        states = []
        for state in dumped:
            values: Any = state
            client, broken = values["clients"][ME], frozenset(values["broken"])
            because = values["because"]
            step = Step("a request of", SEEN_FROM[because])
            epochs = frozenset(values["epochs"])
            owned = frozenset(client["owned"])
            states.append(ClientState(step, because, client["epoch"], owned, epochs, values["since"], broken))
        return states

    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """True: no other step is enabled there."""
        return True

    def differences(self, run: Run, line: AnyLine, state: ClientState) -> Iterator[Difference]:
        """A broken rule, the request that a member may send there, and the one that was sent."""
        assert isinstance(line, Line)
        for name in sorted(state.broken):
            rule = RULES[name]
            yield Difference(f"{rule.requirement} {name}", rule.possible(run, line, state), rule.sent(line))


def _epoch(line: Line) -> str:
    return f"epoch {line.request.epoch}"


def _names(partitions: Any) -> str:
    return "{" + ", ".join(f"{topic}-{index}" for topic, index in sorted(partitions)) + "}"


def _fields(line: Line) -> str:
    sent = {
        "subscription": line.request.subscription is not None or line.request.regex is not None,
        "rebalance time-out": line.rebalance,
        "partitions": line.request.owned is not None,
    }
    there = [name for name, given in sent.items() if given]
    content = f"{', '.join(there) or 'none of them'}"
    return f"{content} with {_names(line.request.owned)}" if line.request.owned else content


def _leave(run: Run, line: Line, state: ClientState) -> str:
    if state.because == "left" and line.request.epoch > 0:
        return "nothing, or a join with epoch 0"
    return "epoch -1 or -2" if run.instance else "epoch -1, as there is no instance id"


def _all_fields(run: Run, line: Line, state: ClientState) -> str:
    if state.because == "leaving":
        first = run.lines[state.since - 1].number
        return f"a keep-alive or a leave, as line {first} did not repeat all fields after an error or a loss"
    return "all fields (subscription, rebalance time-out)"


def _own_epoch(run: Run, line: Line, state: ClientState) -> str:
    return f"epoch {state.epoch}" if state.epoch else "a join with epoch 0"


def _answered_epoch(run: Run, line: Line, state: ClientState) -> str:
    fields = {
        one.answer.epoch
        for one in run.lines
        if one.number < line.number and one.answer is not None and one.answer.error == "NONE"
    }
    shown = ", ".join(map(str, sorted(state.epochs or fields)))
    return f"the member id {run.member}, and an epoch that it was told" + (f" ({shown})" if shown else "")


def _identity(line: Line) -> str:
    return f"member id {line.request.member!r}, epoch {line.request.epoch}"


def _joined(line: Line) -> str:
    return f"a join as {line.request.member!r}" if line.does == ANOTHER else _epoch(line)


RULES: Final = {
    "LeavesWhenClosed": Rule("H2", _leave, _epoch),
    "KeepsItsInstanceId": Rule(
        "S1",
        lambda run, line, state: f"instance id {run.instance or '(none)'}",
        lambda line: line.request.instance or "none",
    ),
    "JoinsWithAllFields": Rule(
        "H7",
        lambda run, line, state: "all fields (subscription, rebalance time-out, partitions), no partition",
        _fields,
    ),
    "RepeatsAllAfterError": Rule("H7", _all_fields, _fields),
    "OwnsOnlyAssigned": Rule(
        "H7",
        lambda run, line, state: f"a part of {_names(state.owned)}",
        lambda line: _names(line.request.owned or ()),
    ),
    "RejoinsWhenRemoved": Rule(
        "K1", lambda run, line, state: f"a join of {run.member} with epoch 0, or a leave", _joined
    ),
    "EndsWhenFatal": Rule("K1", lambda run, line, state: "no heartbeat any more", _epoch),
    "SendsTheEpochItWasTold": Rule("H6", _own_epoch, _epoch),
    "CommitsWithItsEpoch": Rule("O2", _answered_epoch, _identity),
    "FetchesOffsetsWithItsEpoch": Rule("O4", _answered_epoch, _identity),
}
"""The rules of spec/RecordedClient.tla, by name."""
