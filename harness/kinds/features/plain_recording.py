"""Recorded runs of kinds whose lines are plain records of the specification: reading a log, rendering it, and
the compared fields."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

from harness.kinds.features.sessions import DELETION, FAIL_OVER, TIMEOUT, TOPIC, PlainReader, PlainState
from harness.replay import wire
from harness.replay.compare import Difference
from harness.targets.base import Json
from harness.validate.log import NOT_THERE, LogReader
from harness.validate.recording import AnyLine, AnyStep, Recording, differ, trace_of
from harness.validate.templates import write
from harness.values import State


@dataclass(slots=True)
class Run:
    """The steps from a new coordinator to the next one; `topics` are those that existed."""

    topics: dict[str, int] = field(default_factory=dict)
    lines: list[Any] = field(default_factory=list)

    @property
    def constant(self) -> tuple[Any, ...]:
        """The constants, which are the same in every run."""
        return ()


class PlainLogReader(LogReader[Run]):
    """Reads a log of requests of one API."""

    timers: Mapping[str, str] = {}

    api: ClassVar[str]
    word: ClassVar[str]
    """The word with which the names of events begin."""
    deletes: ClassVar[bool] = False
    """Tell if deletions of groups are steps. Where they are none a run ends with them."""

    @abstractmethod
    def _request_line(self, number: int, content: Json, answer: Json | None) -> Any:
        """The line of a request with its answer, if there is one."""

    def _action_of(self, timer: str) -> str:
        return f"{self.word}{TIMEOUT}"

    def _fail_over(self, number: int, content: Json, answer: Json) -> None:
        self._add(self.line(number, content, f"{self.word}{FAIL_OVER}"), answer)

    def _change_topics(self, number: int, content: Json, answer: Json) -> None:
        changes = self._topics.change(content)
        for one in changes if self._run and self._run.lines else ():
            if "#" in one.topic:
                self._end("after a topic that was deleted is there again, which no step of the model is")
                return
            line = self.line(
                number, content, f"{self.word}{TOPIC}", topic=one.topic, partitions=one.partitions
            )
            self._add(line, answer if one is changes[-1] else None)

    def _request(self, number: int, content: Json, answer: Json) -> None:
        api, body, answered = content["api"], content["body"], answer.get("body")
        group = self._found.group
        if api == wire.DELETE and self.deletes and body["groupsNames"] == [group] and answered:
            line = self.line(number, content, f"{self.word}{DELETION}")
            line.response = self._answered(answered["results"][0])
            self._add(line, answer)
        elif api != self.api or body["groupId"] != group:
            self._found.left_out["another group" if api == self.api else api] += 1
            if api == wire.DELETE and self._deleted(answered or {}):
                self._end("after a deletion of the group")
        elif answered is not None and answered["errorCode"] in NOT_THERE:
            self._found.left_out["refused by what is no coordinator, or has no log (H5, P3)"] += 1
        else:
            self._add(self._request_line(number, content, answered), answer)

    def _answered(self, answer: Json) -> Any:
        """The compared part of a response."""

    def _begun(self, line: Any) -> Run:
        return Run(dict(self._topics.counts))


class PlainRecording(Recording[Run, PlainState[Any, Any]]):
    """Comparison by the fields of the dataclasses. `requests` are the actions that a request may be,
    `templates` the folder of the kind's own."""

    requests: ClassVar[tuple[str, ...]]
    templates: ClassVar[str]
    reader: ClassVar[Callable[[], PlainReader[Any, Any]]]

    def render(self, runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
        """Render a run; there is one dialect."""
        lines = [line for run in runs for line in run.lines]
        topics = {name for run in runs for name in run.topics} | {line.topic for line in lines}
        members = {line.member for line in lines}
        values = {"kafka": False, "members": members - {""}, "topics": topics - {""}, "runs": runs}
        return write(folder, self.module, self.templates, values)

    def states(self, dumped: Sequence[State]) -> list[PlainState[Any, Any]]:
        """The states of the specification."""
        return type(self).reader().read(trace_of(dumped), "The state graph")

    def is_line(self, line: AnyLine, step: AnyStep) -> bool:
        """A request is one of several actions."""
        return step.action in self.requests if line.does == "Request" else step.action == line.does

    def differences(self, run: Run, line: Any, state: PlainState[Any, Any]) -> Iterator[Difference]:
        """The response and the group."""
        if line.response is not None:
            yield from _differ("response", state.step.response, line.response)
        if line.seen is not None:
            yield from _differ("group", state.group, line.seen)


def _differ(path: str, expected: Any, got: Any) -> Iterator[Difference]:
    """The fields that differ, members by their names."""
    for one in fields(expected):
        there, seen = getattr(expected, one.name), getattr(got, one.name)
        if any(is_dataclass(item) for item in (*there, *seen) if isinstance(there, frozenset)):
            of, by = ({item.member: item for item in items} for items in (there, seen))
            yield from differ(f"{path}.{one.name}", sorted(of), sorted(by))
            for name in sorted(of.keys() & by.keys()):
                yield from _differ(name, of[name], by[name])
        else:
            yield from differ(f"{path}.{one.name}", there, seen)
