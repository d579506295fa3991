"""`stdio:COMMAND`: a coordinator in any language, as a program that speaks the line protocol.

A caller that knows the next operations may have them written ahead (`Ahead`): the program works on them while
earlier answers are read, and one write carries many operations.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeVar

import msgspec

from harness.errors import ConformError
from harness.forms import sentence
from harness.targets.base import Answer, Assignments, Capabilities, Json, Refused
from harness.targets.program import Lines, Program, shown

TIMEOUT_S: Final = 60.0
"""The time that an answer may take; the first one includes the start of the program."""
WINDOW: Final = 128
"""The number of unanswered operations at which no more step is written ahead: this limits the vain work of a
target after a difference, and the memory for a target that does not read."""

T = TypeVar("T")


class _Hello(msgspec.Struct):
    """The answer to `hello`; other fields are free."""

    apis: dict[str, Annotated[list[int], msgspec.Meta(min_length=2, max_length=2)]]
    controls: list[str]
    unobserved: list[str] = []
    lacks: list[str] = []
    name: str | None = None
    dialect: str = ""
    ahead: bool = True


class _Record(msgspec.Struct):
    key: Json
    value: Json | None = None


class _Late(msgspec.Struct):
    body: Json | None = None


class _Group(msgspec.Struct):
    members: list[Json] | None = None
    timers: list[Json] | None = None
    metadata: list[Json] | None = None


class _Answered(msgspec.Struct):
    """The objects and lists of every answer that readers take apart; the values in them are compared."""

    body: Json | None = None
    group: _Group | None = None
    records: list[_Record] = []
    fired: list[Json] = []
    completed: list[_Late] = []


_dumps: Final = json.JSONEncoder(separators=(",", ":")).encode
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode


def _encoded(operation: Json) -> bytes:
    """An operation as a line of ASCII, as `json` writes it, with a faster library where that can."""
    try:
        line = _encode(operation)
    except (TypeError, ValueError, OverflowError):  # as for half of a surrogate pair, or a large number
        return _dumps(operation).encode()
    return line if line.isascii() else _dumps(operation).encode()


def _decoded(line: bytes) -> Any:
    """A line of JSON in UTF-8, as `json` reads it, with a faster library where that can. ValueError if it is
    malformed."""
    try:
        try:
            return _decode(line)
        except msgspec.MsgspecError:  # as for half of a surrogate pair
            return json.loads(line.decode(), parse_constant=_no_constant)
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None


def _no_constant(name: str) -> None:
    raise ValueError(f"JSON has no {name}")


class Operations(ABC):
    """The methods of `harness.targets.base.Target` that are one operation of the line protocol each."""

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        """Send one request."""
        named = {"op": "request", "id": f"{api} {client.get('id', '')}", "api": api, "version": version}
        operation = {**named, "client": client, "body": body}
        return self._perform(operation, observe)

    def topics(self, upsert: Sequence[Json], delete: Sequence[str], observe: str | None = None) -> Answer:
        """Change topics."""
        return self._perform({"op": "topics", "upsert": list(upsert), "delete": list(delete)}, observe)

    def advance(self, ms: int, observe: str | None = None) -> Answer:
        """Move the clock."""
        return self._perform({"op": "advance", "ms": ms}, observe)

    def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
        """Fire one timer."""
        return self._perform({"op": "fire", "timer": timer, "group": group, "member": member}, observe)

    def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
        """Script the next target assignment."""
        given: Json = {"error": error or ""} if target is None else {"target": dict(target)}
        self._ask({"op": "assign", "group": group, **given})

    def describe(self, group: str) -> Json:
        """Describe a group."""
        described: Json = self._part({"op": "describe", "group": group}, "group", dict)
        return described

    def records(self, since: int) -> list[Json]:
        """Read the log."""
        records: list[Json] = self._part({"op": "records", "since": since}, "records", list)
        return records

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """Replace the state."""
        self._ask({"op": "load", "records": list(records), "topics": list(topics), "volatile": volatile})

    def restart(self, keep: int | None = None) -> Answer:
        """Load the log anew."""
        return self._perform({"op": "restart"} if keep is None else {"op": "restart", "keep": keep}, None)

    def ids(self, following: Sequence[str]) -> None:
        """Give the next member ids."""
        self._ask({"op": "ids", "next": list(following)})

    def configure(self, settings: Json) -> None:
        """Set configuration."""
        self._ask({"op": "configure", **settings})

    def commit(self, mode: str) -> None:
        """Set how writes become durable."""
        self._ask({"op": "commit", "mode": mode})

    def coordinator(self, state: str, observe: str | None = None) -> Answer:
        """Set the coordinator's state."""
        return self._perform({"op": "coordinator", "state": state}, observe)

    def rights(self, denied: Sequence[str], observe: str | None = None) -> Answer:
        """Deny operations."""
        return self._perform({"op": "rights", "denied": list(denied)}, observe)

    def background(self) -> Answer:
        """Run queued work."""
        return self._perform({"op": "background"}, None)

    @abstractmethod
    def _ask(self, operation: Json) -> Json:
        """The answer to an operation; Refused if the answer is a refusal."""

    @abstractmethod
    def _part(self, operation: Json, name: str, kind: type) -> Any:
        """The part of an answer with this name, which must be of that kind."""

    @abstractmethod
    def _perform(self, operation: Json, observe: str | None) -> Answer:
        """The answer to an operation that may be observed."""


class StdioTarget(Operations):
    """A subprocess; the methods are those of `harness.targets.base.Target`. No operation is ever sent twice.

    A program that has neither `load` nor `fresh` is ended and started again for a load of nothing, and
    configured as before: `fresh`. `heard` keeps operations with their answers if it is set to a list.
    """

    def __init__(
        self, command: str | Sequence[str], timeout_s: float = TIMEOUT_S, name: str | None = None
    ) -> None:
        """Start the program. `command` is a command line of a shell, or its words; `name` is the target's."""
        self.name = name or f"stdio:{command}"
        self._command = command
        self._timeout_s = timeout_s
        self._renewed = False
        self._settings: Json = {}
        self._one_at_a_time = False
        self._ahead: deque[Json] = deque()
        self.heard: list[tuple[Json, Json]] | None = None
        self._start()

    def _start(self) -> None:
        self._program = self._opened()

    def _opened(self) -> Lines:
        return Program(self._command, self.name, self._timeout_s)

    def hello(self) -> Capabilities:
        """Ask who it is."""
        answer = self._formed("hello", self._ask({"op": "hello"}), _Hello)
        self._one_at_a_time = not answer.ahead
        known = frozenset(answer.controls)
        self._renewed = not known & {"load", "fresh"}
        known |= {"fresh"} if self._renewed else set()
        name = self.name if answer.name is None else answer.name
        hidden, lacks = frozenset(answer.unobserved), frozenset(answer.lacks)
        return Capabilities(name, answer.dialect, answer.apis, known, hidden, lacks)

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """Replace the state."""
        if self._renewed and not records:
            self._renew()
            if topics:
                self.topics(topics, [])
        else:
            super().load(records, topics, volatile)

    def _renew(self) -> None:
        self.close()
        self._start()
        if self._settings:
            self._ask({"op": "configure", **self._settings})

    def configure(self, settings: Json) -> None:
        """Set configuration."""
        super().configure(settings)
        self._settings = {**self._settings, **settings}

    def line(self, line: str) -> Json:
        """The answer to one line with any content; Refused as for any operation."""
        return self._exchange(line.encode(), "a line")

    def writer(self) -> Ahead | None:
        """The writer of operations ahead; None for a program whose `hello` has `"ahead": false`."""
        return None if self._one_at_a_time else Ahead(self)

    def close(self) -> None:
        """End the program."""
        self._program.close()

    def _perform(self, operation: Json, observe: str | None) -> Answer:
        answer = self._ask(operation if observe is None else {**operation, "observe": observe})
        self._formed(str(operation["op"]), answer, _Answered)
        group = answer.get("group")
        if observe and group is None:
            raise self._nonsense(str(operation["op"]), answer, "group is missing")
        fired, completed = answer.get("fired") or (), answer.get("completed") or ()
        return Answer(
            answer.get("body"),
            group,
            answer.get("records", []),
            answer.get("consumed") is True,
            fired,
            completed,
        )

    def _part(self, operation: Json, name: str, kind: type) -> Any:
        answer = self._ask(operation)
        self._formed(str(operation["op"]), answer, _Answered)
        if not isinstance(answer.get(name), kind):
            raise self._nonsense(str(operation["op"]), answer, f"{name} is missing")
        return answer[name]

    def _formed(self, name: str, answer: Json, form: type[T]) -> T:
        """An answer as a form. ConformError (exit 3) for another form, which names the field."""
        try:
            return msgspec.convert(answer, form)
        except msgspec.ValidationError as error:
            raise self._nonsense(name, answer, sentence(error, form).rstrip(".")) from None

    def _ask(self, operation: Json) -> Json:
        """Send one operation, unless it was written ahead, and wait for its answer."""
        name = str(operation["op"])
        if not self._ahead:
            answer = self._exchange(_encoded(operation), name)
        else:
            written = self._ahead.popleft()
            if written != operation:
                raise RuntimeError(f"{written} was written ahead, but this is asked: {operation}")
            answer = self._answer(name)
        if self.heard is not None:
            self.heard.append((operation, answer))
        return answer

    def _exchange(self, sent: bytes, name: str) -> Json:
        self._program.write(sent + b"\n")
        return self._answer(name)

    def _answer(self, name: str) -> Json:
        """The answer to the oldest operation without one; Refused if the answer is a refusal."""
        line = self._program.read(name)
        try:
            answer = _decoded(line)
        except ValueError:
            raise self._program.failed(
                f"answered {name} with something that is not JSON: {shown(line)}"
            ) from None
        if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
            raise self._nonsense(name, answer, "ok is neither true nor false")
        if not answer["ok"]:
            raise Refused(self.name, name, str(answer.get("error", "it does not say why")))
        return answer

    def _write(self, operation: Json) -> None:
        """Write an operation ahead."""
        self._program.write(_encoded(operation) + b"\n")
        self._ahead.append(operation)

    def _discard(self) -> None:
        """Let the program do the operations that were written ahead, and discard the answers.

        Where it ends or stays silent meanwhile it is started anew: one operation at a time, it would not have
        got these.
        """
        try:
            while self._ahead:
                self._program.read(str(self._ahead.popleft()["op"]))
        except ConformError:
            self._ahead.clear()
            self._renew()

    def _nonsense(self, name: str, answer: object, problem: str) -> ConformError:
        return self._program.failed(
            f"answered {name} with something that the line protocol does not have: "
            f"{shown(json.dumps(answer).encode())} ({problem})"
        )


class Ahead(Operations):
    """A writer of the coming operations, in their order; the methods are those of `Writer`."""

    def __init__(self, target: StdioTarget) -> None:
        self._target = target
        self.name = target.name

    @property
    def full(self) -> bool:
        """Tell if the most operations are under way."""
        return len(self._target._ahead) >= WINDOW

    @property
    def underway(self) -> int:
        """The number of written operations without an answer."""
        return len(self._target._ahead)

    @property
    def waits(self) -> bool:
        """False: no written operation depends on an answer."""
        return False

    @property
    def loads(self) -> bool:
        """True, where the target has the operation."""
        return True

    def discard(self) -> None:
        """Discard the answers to all written operations."""
        self._target._discard()

    def hello(self) -> Capabilities:
        """The capabilities of the target, which is asked at once."""
        return self._target.hello()

    def close(self) -> None:
        """End the target."""
        self._target.close()

    def _ask(self, operation: Json) -> Json:
        self._target._write(operation)
        return {}

    def _part(self, operation: Json, name: str, kind: type) -> Any:
        self._ask(operation)
        return kind()

    def _perform(self, operation: Json, observe: str | None) -> Answer:
        self._ask(operation if observe is None else {**operation, "observe": observe})
        return Answer()
