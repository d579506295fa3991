"""A target whose every operation and answer is written down: the log that `conform validate` reads.

Each line is one JSON object: an operation of the line protocol (python -m coordinator --help) with its
`answer`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias, TypeVar

from harness.errors import ConformError
from harness.files import is_stream, output_folder
from harness.targets.base import Answer, Assignments, Capabilities, Json, Refused, Target, as_sent, refusing
from harness.targets.waiting import Due, Waited, expect

T = TypeVar("T")
Note: TypeAlias = Callable[[Json, Json], None]
"""A function that takes an operation and its answer."""


@contextmanager
def recorded(target: Target, path: Path) -> Iterator[Target]:
    """The target, with a log at `path` that is complete line by line, at any end of the run."""
    with opened_log(path) as note:
        yield Recording(target, note)


@contextmanager
def opened_log(path: Path) -> Iterator[Note]:
    """A log, to which each operation is written with its answer at once. ConformError where that is
    impossible."""
    if not is_stream(path):
        output_folder(path.parent)
    try:
        log = path.open("wb", buffering=0)
    except OSError as error:
        raise _not_written(path, error) from None

    def note(operation: Json, answer: Json) -> None:
        line = json.dumps({**operation, "answer": answer}, separators=(",", ":")).encode() + b"\n"
        try:
            written = log.write(line)
            if written < len(line):  # the disk is full: the next write reports that
                log.write(line[written:])
        except OSError as error:
            raise _not_written(path, error) from None

    with log:
        yield note


def _not_written(path: Path, error: OSError) -> ConformError:
    return ConformError(f"The log {path} cannot be written: {error.strerror}. Choose another place.")


class Recording:
    """The recording target; the methods are those of `harness.targets.base.Target`. `note` gets each
    operation and its answer.

    Reading the target's own log is not recorded: no rule is about it.
    """

    def __init__(self, target: Target, note: Note) -> None:
        self.name = target.name
        self._target = target
        self._note = note

    def hello(self) -> Capabilities:
        """Written down: the dialect, the operations, and the hidden parts."""
        return self._do({"op": "hello"}, self._target.hello)

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        """Send one request."""
        operation = {"op": "request", "api": api, "version": version, "client": client, "body": body}
        return self._do(
            operation,
            lambda: self._target.request(api, version, client, body, observe),
            lambda: self.as_sent(operation),
        )

    def topics(self, upsert: Sequence[Json], delete: Sequence[str], observe: str | None = None) -> Answer:
        """Change topics."""
        operation = {"op": "topics", "upsert": list(upsert), "delete": list(delete)}
        return self._do(operation, lambda: self._target.topics(upsert, delete, observe))

    def advance(self, ms: int, observe: str | None = None) -> Answer:
        """Move the clock."""
        return self._do({"op": "advance", "ms": ms}, lambda: self._target.advance(ms, observe))

    def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
        """Fire one timer."""
        operation = {"op": "fire", "timer": timer, "group": group, "member": member}
        return self._do(operation, lambda: self._target.fire(timer, group, member, observe))

    def assign(self, group: str, target: Assignments | None, error: str | None = None) -> None:
        """Script the next target assignment."""
        given: Json = {"error": error or ""} if target is None else {"target": dict(target)}
        operation = {"op": "assign", "group": group, **given}
        return self._do(operation, lambda: self._target.assign(group, target, error))

    def describe(self, group: str) -> Json:
        """Describe a group."""
        return self._do({"op": "describe", "group": group}, lambda: self._target.describe(group))

    def records(self, since: int) -> list[Json]:
        """Read the log."""
        return self._target.records(since)

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """Replace the state."""
        operation = {"op": "load", "records": list(records), "topics": list(topics), "volatile": volatile}
        return self._do(operation, lambda: self._target.load(records, topics, volatile))

    def restart(self, keep: int | None = None) -> Answer:
        """Load the log anew."""
        operation: Json = {"op": "restart"} if keep is None else {"op": "restart", "keep": keep}
        return self._do(operation, lambda: self._target.restart(keep))

    def ids(self, following: Sequence[str]) -> None:
        """Give the next member ids."""
        return self._do({"op": "ids", "next": list(following)}, lambda: self._target.ids(following))

    def configure(self, settings: Json) -> None:
        """Set configuration."""
        return self._do({"op": "configure", **settings}, lambda: self._target.configure(settings))

    def commit(self, mode: str) -> None:
        """Set how writes become durable."""
        return self._do({"op": "commit", "mode": mode}, lambda: self._target.commit(mode))

    def coordinator(self, state: str, observe: str | None = None) -> Answer:
        """Set the coordinator's state."""
        other = refusing(self._target, "coordinator")
        return self._do({"op": "coordinator", "state": state}, lambda: other.coordinator(state, observe))

    def rights(self, denied: Sequence[str], observe: str | None = None) -> Answer:
        """Deny operations."""
        other = refusing(self._target, "rights")
        return self._do({"op": "rights", "denied": list(denied)}, lambda: other.rights(denied, observe))

    def background(self) -> Answer:
        """Run queued work."""
        return self._do({"op": "background"}, self._target.background)

    def expect(self, due: Sequence[Due]) -> Waited | None:
        """Tell the target, if it waits. Nothing is recorded."""
        return expect(self._target, due)

    def as_sent(self, operation: Json) -> Json:
        """The operation in the target's sent form."""
        return as_sent(self._target, operation)

    def close(self) -> None:
        """End the target."""
        self._target.close()

    def _do(self, operation: Json, call: Callable[[], T], sent: Callable[[], Json] | None = None) -> T:
        try:
            result = call()
        except Refused as refusal:
            self._note(operation, {"error": refusal.reason})
            raise
        self._note(sent() if sent else operation, _answer(result))
        return result


def _answer(result: object) -> Json:
    """The answer in the line protocol's form, without missing fields."""
    if isinstance(result, Answer):
        parts: Json = {"body": result.body, "group": result.group}
        parts |= {"fired": list(result.fired) or None, "completed": list(result.completed) or None}
        return {name: part for name, part in parts.items() if part is not None}
    if isinstance(result, Capabilities):
        apis = {api: list(versions) for api, versions in result.apis.items()}
        known = {"controls": sorted(result.controls), "unobserved": sorted(result.unobserved)}
        known |= {"lacks": sorted(result.lacks)} if result.lacks else {}
        return {"name": result.name, "dialect": result.dialect, "apis": apis, **known}
    return {} if result is None else {"group": result}
