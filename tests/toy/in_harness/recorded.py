"""Recorded runs of the toy protocol: reading a log, rendering it, and what is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.kinds.toy.description import TOY
from harness.kinds.toy.state import ToyGroup, ToyReader, ToyState

from harness.replay.compare import Difference
from harness.targets.base import Json
from harness.validate.log import ERRORS, LogReader
from harness.validate.recording import AnyLine, AnyStep, Recording, differ, trace_of
from harness.validate.templates import write
from harness.values import State


@dataclass(slots=True)
class Line:
    """One step; `response` is the error and the epoch."""

    number: int
    content: Json
    does: str
    member: str = ""
    epoch: int = 0
    response: tuple[str, int] | None = None
    seen: ToyGroup | None = None

    @property
    def observed(self) -> bool:
        """Tell if there is anything to compare."""
        return self.response is not None or self.seen is not None


@dataclass(slots=True)
class Run:
    """The lines from a new coordinator to the next one."""

    lines: list[Line] = field(default_factory=list)

    @property
    def constant(self) -> tuple[Any, ...]:
        """Every run has the same."""
        return ()


class ToyLogReader(LogReader[Run]):
    """Reads a log of a toy group."""

    line = Line
    timers: Mapping[str, str] = {"session": "ToyTimeout"}

    def _request(self, number: int, content: Json, answer: Json) -> None:
        api, body, answered = content["api"], content["body"], answer.get("body")
        if api != TOY.api or body["groupId"] != self._found.group:
            self._found.left_out["another group"] += 1
            return
        response = None if answered is None else (ERRORS[answered["errorCode"]], answered["memberEpoch"])
        line = Line(number, content, "Request", body["memberId"], body["memberEpoch"], response)
        self._add(line, answer)

    def _fail_over(self, number: int, content: Json, answer: Json) -> None:
        self._add(Line(number, content, "ToyFailOver"), answer)

    def _begun(self, line: Any) -> Run:
        return Run()

    def _seen(self, answer: Json) -> ToyGroup | None:
        group = self._group_in(answer)
        if group is None:
            return None
        members = {one["memberId"]: one["memberEpoch"] for one in group["members"]}
        return ToyGroup(group["groupEpoch"], members)


class ToyRecording(Recording[Run, ToyState]):
    """Toy groups (RecordedToy.tla)."""

    module = "RecordedToy"

    def render(self, runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
        """There is one dialect."""
        members = {line.member for run in runs for line in run.lines if line.member}
        values = {"kafka": False, "members": members, "runs": runs}
        return write(folder, self.module, "kinds/toy/", values)

    def states(self, dumped: Sequence[State]) -> list[ToyState]:
        """The states of the specification."""
        return ToyReader().read(trace_of(dumped), "The state graph")

    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """A request is one of three actions."""
        requests = ("ToyJoin", "ToyBeat", "ToyLeave")
        return step.action in requests if line.does == "Request" else step.action == line.does

    def differences(self, run: Run, line: AnyLine, state: ToyState) -> Iterator[Difference]:
        """The response and the group."""
        assert isinstance(line, Line)
        if line.response is not None:
            yield from differ("response.error", state.step.error, line.response[0])
            yield from differ("response.epoch", state.step.answer, line.response[1])
        if line.seen is not None:
            yield from differ("group.epoch", state.group.epoch, line.seen.epoch)
            yield from differ("group.members", state.group.members, line.seen.members)
