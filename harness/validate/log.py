"""A log of operations and answers, line by line: the common part of all kinds of groups.

`harness.targets.recording` writes such logs, and so may any program: one JSON object on a line, an operation
of the line protocol with its `answer`. Parts of an answer may be missing: parts that were not observed are
not compared.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Generic

from harness.errors import USAGE, ConformError
from harness.files import read_lines
from harness.replay import wire
from harness.targets.base import Json
from harness.validate.recording import R, Recorded, Recording
from harness.validate.topics import Topics

ERRORS: Final = {code: name for name, code in wire.ERROR_CODES.items()}
NOT_THERE: Final = frozenset({14, 15, 16})
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR: a request to no coordinator, or
to one whose log took no records, changes nothing (H5, P3)."""


class LogReader(ABC, Generic[R]):
    """A reader of a log, line by line. `_run` is the present run, `_lost` the reason why there is none.
    `line` makes lines, and `timers` names the actions of timers."""

    line: Callable[..., Any]
    timers: Mapping[str, str]

    def __init__(self, path: Path, group: str, kind: Recording[R, Any]) -> None:
        self._path = path
        self._found = Recorded(path, group, "", kind)
        self._hidden: frozenset[str] = frozenset()
        self._timed = True
        self._run: R | None = None
        self._lost = ""
        self._topics = Topics()
        self._size = int(wire.DEFAULTS[wire.MAX_SIZE])

    def whole(self) -> Recorded[R]:
        """Read the whole log. ConformError (exit 2) with the line where the log is malformed, and for one in
        which nothing can be judged."""
        for number, content in lines_of(self._path):
            try:
                self.read(number, content)
            except (ValueError, LookupError, TypeError, AttributeError) as error:
                raise no_operation(self._path, number, error) from None
        recorded = self._found
        recorded.runs = [run for run in recorded.runs if run.lines]
        recorded.check()
        return recorded

    def read(self, number: int, content: Json) -> None:
        """One line."""
        answer = content["answer"]
        does = {
            "hello": self._hello,
            "request": self._request,
            "topics": self._change_topics,
            "advance": self._fired,
            "fire": self._fired,
            "load": self._load,
            "restart": self._restart,
            "configure": self._configure,
            "describe": self._describe,
            "commit": self._commit,
            "assign": self._assign,
            "ids": self._ids,
            "coordinator": self._refuses,
            "rights": self._refuses,
        }
        act = does.get(content["op"])
        if act is None:
            if content["op"] not in ("background", "records", "fault"):
                raise ValueError(f"there is no operation {content['op']!r}")
        elif answer.get("error") is not None:
            self._found.left_out["refused"] += 1
        else:
            act(number, content, answer)

    def _hello(self, number: int, content: Json, answer: Json) -> None:
        self._found.dialect = answer["dialect"]
        self._hidden = frozenset(answer.get("unobserved", ()))
        self._timed = "advance" in answer.get("controls", ())

    def _load(self, number: int, content: Json, answer: Json) -> None:
        """A new coordinator; no behaviour begins with one that has a state."""
        self._run = None
        self._lost = "after a load of a state" if content["records"] else ""
        self._topics = Topics(content.get("topics", ()))

    def _commit(self, number: int, content: Json, answer: Json) -> None:
        if content["mode"] == "manual":
            self._end("after another commit mode")

    def _refuses(self, number: int, content: Json, answer: Json) -> None:
        """H5, D5: tell if the coordinator refuses requests; the modules that follow a run have one that reads
        every request."""
        if content.get("denied") or content.get("state", "active") != "active":
            self._end("after a coordinator or rights that refuse all requests (H5)")

    def _restart(self, number: int, content: Json, answer: Json) -> None:
        if content.get("keep") is not None:
            self._end("after a restart from a part of the log")
        elif self._run and self._run.lines:
            self._fail_over(number, content, answer)

    @abstractmethod
    def _request(self, number: int, content: Json, answer: Json) -> None:
        """A request of any API, perhaps to another group."""

    @abstractmethod
    def _begun(self, line: Any) -> R:
        """A run that begins with a line."""

    def _group_in(self, answer: Json) -> Json | None:
        """The description of the log's group in an answer."""
        group: Json = answer.get("group") or {}
        return group if group and group.get("groupId", self._found.group) == self._found.group else None

    @abstractmethod
    def _seen(self, answer: Json) -> Any:
        """The group in an answer; None where the answer does not show it."""

    def _complete(self, line: Any, answer: Json | None) -> None:
        """Put the answer into a line; None for a step before the last one of an operation."""
        line.seen = self._seen(answer or {})

    def _add(self, line: Any, answer: Json | None) -> None:
        """Add a line to the run, or begin a run with it where there is none."""
        if self._lost:
            self._found.left_out[self._lost] += 1
            return
        if self._run is None:
            self._run = self._begun(line)
            self._found.runs.append(self._run)
        self._complete(line, answer)
        self._run.lines.append(line)

    def _fail_over(self, number: int, content: Json, answer: Json) -> None:
        """A new coordinator loads the log."""
        self._add(self.line(number, content, "FailOver"), answer)

    def _fired(self, number: int, content: Json, answer: Json) -> None:
        """Note that the clock moved, or that one timer was fired."""
        timers = [timer for timer in answer.get("fired", ()) if timer["group"] == self._found.group]
        for timer in timers:
            does = "" if self._lost else self._action_of(timer["timer"])
            line = self.line(number, content, does, timer["member"])
            self._add(line, answer if timer is timers[-1] else None)

    def _action_of(self, timer: str) -> str:
        return self.timers[timer]

    def _describe(self, number: int, content: Json, answer: Json) -> None:
        """Note a group, in its state after the last step."""
        if content["group"] == self._found.group and self._run and self._run.lines:
            self._look(self._run.lines[-1], answer)

    def _look(self, line: Any, answer: Json) -> None:
        """Note the group after a line that did not show it before."""
        line.seen = line.seen or self._seen(answer)

    def _configure(self, number: int, content: Json, answer: Json) -> None:
        """Note the configuration of the coordinator."""
        self._size = int(content.get(wire.MAX_SIZE, self._size))

    def _assign(self, number: int, content: Json, answer: Json) -> None:
        """The next target assignment."""

    def _change_topics(self, number: int, content: Json, answer: Json) -> None:
        """The topics, which not every kind of group knows."""

    def _ids(self, number: int, content: Json, answer: Json) -> None:
        """Note the next member ids: the answers have them."""

    def _end(self, reason: str) -> None:
        self._run, self._lost = None, reason

    def _deleted(self, body: Json) -> bool:
        """D1: tell if the group is gone; only its offsets may have been deleted, which no run has."""
        return any(
            result["groupId"] == self._found.group and not result["errorCode"]
            for result in body.get("results", ())
        )

    def _shows(self, name: str) -> bool:
        return f"members.{name}" not in self._hidden


class Part(dict[str, Any]):
    """An object of a log, in which null is a field that is missing: the value was not observed, or there is
    none. Only `in` tells the two apart."""

    def __getitem__(self, name: str) -> Any:
        """The value. KeyError where it is missing or null."""
        value = super().__getitem__(name)
        if value is None:
            raise KeyError(name)
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or the default where it is missing or null."""
        value = super().get(name)
        return default if value is None else value


def _part(pairs: list[tuple[str, Any]]) -> Part:
    part = Part(pairs)
    if len(part) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)} is there twice")
    return part


def with_epoch(member: Json, seen: Mapping[str, Any]) -> Mapping[str, Any]:
    """The shown fields of a described member. ValueError without its epoch, by which the specification tells
    if the member is in the group."""
    if "epoch" not in seen:
        raise ValueError(f"member {member['memberId']!r} of the group has no memberEpoch")
    return seen


def members_hidden(hidden: Collection[str]) -> frozenset[str]:
    """The hidden fields of members."""
    return frozenset(name.removeprefix("members.") for name in hidden if name.startswith("members."))


def lines_of(path: Path) -> Sequence[tuple[int, Any]]:
    """The lines of a log with their numbers. ConformError (exit 2) for a line that is no JSON."""
    lines = []
    for number, text in read_lines(path, "The log"):
        try:
            lines.append((number, json.loads(text, object_pairs_hook=_part)))
        except (ValueError, RecursionError) as error:
            raise no_operation(path, number, error) from None
    return lines


def no_operation(path: Path, number: int, error: Exception) -> ConformError:
    """The error for a line that is no operation."""
    what = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    if isinstance(error, KeyError):
        what = f"it lacks {error.args[0]}"
    return ConformError(
        f"{path}, line {number} is no operation with its answer ({what}): conform validate --help "
        "says what a log is.",
        USAGE,
    )
