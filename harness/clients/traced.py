"""Schedules from traces of closed models of consumer groups (`ClosedGroup.tla`).

The member that acts most in a trace is the client under test. The harness plays the other members. Each
action of the trace becomes the steps that bring it about; a decision that only the client makes, such as the
time of a heartbeat, becomes time in which the client may act. Actions that no step brings about are left out
and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.clients.draw import TOPICS
from harness.clients.schedules import Origin, Schedule
from harness.clients.timeline import FENCED_MEMBER_EPOCH, NOT_COORDINATOR, Setup
from harness.errors import USAGE, ConformError
from harness.itf import Trace, read_trace
from harness.kinds.registry import kind_of
from harness.replay.files import trace_files
from harness.targets.base import Json

KIND: Final = "consumer"
"""The kind of group whose clients are judged."""
_JOINS: Final = frozenset({"Join", "Rejoin", "Return"})
_LEAVES: Final = frozenset({"Leave", "LeaveTemporarily"})
_CRASHES: Final = frozenset({"Crash", "CrashSending"})
_TIMEOUTS: Final = frozenset({"SessionTimeout", "RebalanceTimeout"})
_SENDS: Final = _JOINS | {"Heartbeat"}
_REQUEST: Final[Json] = {"do": "wait", "ms": 1_000}
"""The time for a heartbeat and its answer: an interval of `Setup`."""
_SHORT: Final[Json] = {"do": "wait", "ms": 300}


def schedules(paths: Sequence[Path]) -> tuple[list[Schedule], Counter[str]]:
    """A schedule for each trace of a closed model of consumer groups below these paths, and the number of
    times that each action was left out. ConformError (exit 2) where there is no such trace."""
    drawn, left_out = list[Schedule](), Counter[str]()
    for path in trace_files(paths):
        trace = read_trace(path)
        closed = "clients" in trace.variables and kind_of(trace, f"The trace {path}").name == KIND
        if not closed or not (member := _busiest(trace)):
            continue
        made = _Making(trace, member)
        left_out += made.left_out
        drawn.append(Schedule(Origin(trace=str(path)), made.setup, tuple(made.steps)))
    if not drawn:
        raise ConformError(
            f"No trace of a closed model of consumer groups is in {', '.join(map(str, paths))}: "
            "traces/members has some.",
            USAGE,
        )
    return drawn, left_out


def _busiest(trace: Trace) -> str:
    """The member that sends most, of several the first by name; "" where none joins."""
    sent = Counter(step["member"] for step in map(_step, trace.states) if step["action"] in _SENDS)
    return min(sent, key=lambda name: (-sent[name], name), default="")


def _step(state: Mapping[str, Any]) -> Mapping[str, Any]:
    step: Mapping[str, Any] = state["step"]
    return step


class _Making:
    """The steps of a schedule while they are made from the states of a trace."""

    def __init__(self, trace: Trace, member: str) -> None:
        self.left_out = Counter[str]()
        self.steps: list[Json] = []
        self._member, self._ghosts = member, set[str]()
        self._running = False
        self._topics: list[str] = []
        own = [step for step in map(_step, trace.states) if step["member"] == member]
        self.setup = Setup(instance="i" if any(map(_has_instance, own)) else None)
        for number, state in enumerate(trace.states[1:], start=1):
            step = _step(state)
            make = self._own if step["member"] == member else self._other if step["member"] else self._group
            if not make(step, state, trace.states[number + 1 :]):
                self.left_out[step["action"]] += 1

    def _own(self, step: Mapping[str, Any], state: Mapping[str, Any], later: Sequence[Any]) -> bool:
        """Add the steps of an action of the client under test; tell if there are any."""
        action = step["action"]
        if not self._running and action not in _JOINS:
            return bool(action == "Start")  # the process starts when the member joins
        client = state["clients"][self._member]
        if action in _SENDS:
            self._sends(step, client, later)
        elif action == "ReceiveResponse":
            self._add(_SHORT, *([{"do": "release"}, _SHORT] if client["owned"] <= client["told"] else []))
        elif action in ("Consume", "OffsetCommit"):
            self._commits(step)
        elif action == "FinishRevocation":
            self._add({"do": "release"}, _SHORT)
        elif action == "ChangeSubscription":
            self._subscribes(client)
        elif action == "LoseRequest":
            self._add({"do": "lose", "what": "request"}, _REQUEST)
        elif action in _CRASHES:
            self._add({"do": "crash"}, _SHORT)
        elif action in _LEAVES:
            self._running = False
            self._add({"do": "close"}, _REQUEST)
        elif action in _TIMEOUTS:
            self._add({"do": "remove"})
        else:
            return bool(action in ("LoseResponse", "Start"))  # the loss was added before
        return True

    def _sends(self, step: Mapping[str, Any], client: Mapping[str, Any], later: Sequence[Any]) -> None:
        if not self._running:
            self._running, self._topics = True, _topics(client["subscription"])
            self._add({"do": "start", "topics": self._topics})
        following = (one["step"]["action"] for one in later if one["step"]["member"] == self._member)
        if next(following, "") == "LoseResponse":
            self._add({"do": "lose", "what": "answer"})
        if step["response"]["error"] == "FENCED_MEMBER_EPOCH":
            self._add({"do": "refuse", "error": FENCED_MEMBER_EPOCH, "times": 1})
        self._add(_REQUEST)

    def _commits(self, step: Mapping[str, Any]) -> None:
        self._add({"do": "consume"})
        if step["action"] == "OffsetCommit":
            stale = [{"do": "stale"}] if step["response"]["error"] == "STALE_MEMBER_EPOCH" else []
            self._add(*stale, {"do": "commit"}, _SHORT)

    def _subscribes(self, client: Mapping[str, Any]) -> None:
        """Change the topics; to another topic where the client cannot have the new subscription."""
        topics = _topics(client["subscription"])
        if topics == self._topics:
            topics = ["bar"] if topics != ["bar"] else ["foo"]
        self._topics = topics
        self._add({"do": "subscribe", "topics": topics})

    def _other(self, step: Mapping[str, Any], state: Mapping[str, Any], later: Sequence[Any]) -> bool:
        """Add a join or a leave of another member, which the harness plays; its other actions need no
        step."""
        action, name = step["action"], step["member"]
        comes = action in _JOINS and step["response"]["error"] == "NONE" and name not in self._ghosts
        goes = action in _LEAVES | _TIMEOUTS | _CRASHES and name in self._ghosts
        if comes or goes:
            self._ghosts ^= {name}
            self._add({"do": "ghost", "who": name}, _REQUEST)
        return bool(comes or goes or action in _SENDS | {"ReceiveResponse", "FinishRevocation", "Start"})

    def _group(self, step: Mapping[str, Any], state: Mapping[str, Any], later: Sequence[Any]) -> bool:
        """Add an event of the group or its topics."""
        match step["action"]:
            case "AddPartitions" if self._running:
                self._add({"do": "grow"}, _REQUEST)
            case "FailOver" if self._running:
                self._add({"do": "refuse", "error": NOT_COORDINATOR, "times": 1}, _REQUEST)
            case _:
                return False
        return True

    def _add(self, *steps: Json) -> None:
        self.steps += steps


def _has_instance(step: Mapping[str, Any]) -> bool:
    return step["action"] in _JOINS and bool(step["request"].get("instance"))


def _topics(subscription: frozenset[str]) -> list[str]:
    return sorted(subscription & TOPICS.keys()) or ["foo"]
