"""The line protocol: one JSON object a line in, one out.

Bad input is answered with ok false and one sentence, and changes nothing.

Requests wait while the commit mode is "manual": their answer says pending, and the next commit operation
handles them in order and carries their responses in "completed". Until then nothing of them is visible. A
JoinGroup or SyncGroup of a classic group waits for others in the same way: the operation that ends the wait
carries its response.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from coordinator.admin.metrics import exposition
from coordinator.apis import APIS, parse
from coordinator.classic.service import PENDING
from coordinator.core import fields
from coordinator.core.errors import AppendFailed, BadInput
from coordinator.core.fields import Json
from coordinator.service import Coordinator

COMMIT_MODES = ("auto", "manual", "fail")


class LineProtocol:
    """The line protocol of one coordinator."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._waiting: list[Json] = []
        self._manual = False
        self._operations: dict[str, tuple[Callable[[Json], Json], tuple[str, ...]]] = {
            "hello": (self._hello, ()),
            "request": (self._request, ("id", "api", "version", "client", "body")),
            "topics": (self._topics, ("upsert", "delete")),
            "advance": (self._advance, ("ms",)),
            "describe": (self._describe, ("group",)),
            "fire": (self._fire, ("timer", "group", "member")),
            "assign": (self._assign, ("group", "target", "error")),
            "records": (self._records, ("since",)),
            "load": (self._load, ("records", "topics", "volatile")),
            "restart": (self._restart, ("keep",)),
            "commit": (self._commit, ("mode",)),
            "background": (self._background, ()),
            "ids": (self._ids, ("next",)),
            "configure": (self._configure, ()),
            "metrics": (self._metrics, ()),
            "coordinator": (self._set_state, ("state",)),
            "rights": (self._deny, ("denied",)),
        }

    def handle(self, line: str | bytes) -> str:
        """The answer to one line, without its line end."""
        try:
            operation = _operation(line)
        except (ValueError, RecursionError) as error:
            return _line({"ok": False, "error": f"the line is not JSON: {error}"})
        return _line(self.answer(operation))

    def answer(self, operation: object) -> Json:
        """The answer to one operation."""
        try:
            return {"ok": True, **self._perform(fields.as_object(operation, "an operation"))}
        except (BadInput, AppendFailed) as error:
            return {"ok": False, "error": str(error)}

    def _perform(self, operation: Json) -> Json:
        name = fields.text(operation, "op", "an operation")
        if name not in self._operations:
            raise BadInput(f"there is no operation {name!r}; there are {', '.join(self._operations)}")
        handler, names = self._operations[name]
        if name != "configure":
            fields.known(operation, ("op", "observe", *names), f"the operation {name!r}")
        observed = fields.optional_text(operation, "observe", "an operation")
        since = self._coordinator.end
        scripted = self._coordinator.scripted_groups()
        answer = handler(operation)
        if scripted - self._coordinator.scripted_groups() and name != "load":
            answer["consumed"] = True
        if completed := self._coordinator.others.take_completed():
            answer["completed"] = [*answer.get("completed", []), *completed]
        if observed is not None:
            answer.setdefault("group", self._coordinator.describe(observed))
            answer.setdefault("records", self._coordinator.records(min(since, self._coordinator.end)))
        return answer

    def _hello(self, _: Json) -> Json:
        return {
            "name": "KIP-848 coordinator in Python",
            "dialect": self._coordinator.dialect.name,
            "apis": {api: list(versions) for api, versions in APIS.items()},
            "controls": [name for name in self._operations if name not in ("hello", "request")],
            "unobserved": sorted(self._coordinator.dialect.unobserved),
        }

    def _request(self, operation: Json) -> Json:
        if self._manual:
            if "id" not in operation:
                raise BadInput("a request needs an 'id' while the commit mode is manual")
            parse(**_request_of(operation))
            self._waiting.append(operation)
            return {"id": operation["id"], "pending": True}
        return self._answered(operation)

    def _answered(self, operation: Json) -> Json:
        """The response to a request, or a note that the request waits: then a later answer has the response
        in `completed`."""
        body = self._coordinator.request(**_request_of(operation), id=operation.get("id"))
        named = {"id": operation["id"]} if "id" in operation else {}
        return {**named, "pending": True} if body is PENDING else {**named, "body": body}

    def _topics(self, operation: Json) -> Json:
        upsert = fields.items(operation, "upsert", "the operation 'topics'") if "upsert" in operation else []
        delete = fields.names(operation, "delete", "the operation 'topics'") if "delete" in operation else []
        self._coordinator.set_topics(upsert, delete)
        return {}

    def _advance(self, operation: Json) -> Json:
        ms = fields.integer(operation, "ms", "the operation 'advance'")
        return {"fired": self._coordinator.advance(ms), "completed": []}

    def _describe(self, operation: Json) -> Json:
        return {
            "group": self._coordinator.describe(fields.text(operation, "group", "the operation 'describe'"))
        }

    def _fire(self, operation: Json) -> Json:
        where = "the operation 'fire'"
        timer, group = fields.text(operation, "timer", where), fields.text(operation, "group", where)
        member = fields.optional_text(operation, "member", where) or ""
        if not self._coordinator.fire(timer, group, member):
            raise AppendFailed("the log took no records; the timer fires again a moment later")
        return {"fired": [{"timer": timer, "group": group, "member": member}], "completed": []}

    def _assign(self, operation: Json) -> Json:
        where = "the operation 'assign'"
        group = fields.text(operation, "group", where)
        if "target" in operation and "error" in operation:
            raise BadInput(f"{where} has both 'target' and 'error'; give one of them")
        target = operation if "error" in operation else fields.mapping(operation, "target", where)
        if target is operation or isinstance(target.get("error"), str):
            self._coordinator.script_target(group, fields.text(target, "error", where))
        else:
            self._coordinator.script_target(group, target)
        return {}

    def _records(self, operation: Json) -> Json:
        since = fields.optional_integer(operation, "since", "the operation 'records'") or 0
        return {"records": self._coordinator.records(since), "end": self._coordinator.end}

    def _load(self, operation: Json) -> Json:
        where = "the operation 'load'"
        self._coordinator.load(
            fields.items(operation, "records", where),
            fields.items(operation, "topics", where) if "topics" in operation else [],
            fields.mapping(operation, "volatile", where) if "volatile" in operation else {},
        )
        self._waiting.clear()
        return {"end": self._coordinator.end}

    def _restart(self, operation: Json) -> Json:
        """Restart. Waiting requests are lost with the old coordinator, and so are their responses."""
        self._coordinator.restart(fields.optional_integer(operation, "keep", "the operation 'restart'"))
        self._waiting.clear()
        return {"end": self._coordinator.end}

    def _commit(self, operation: Json) -> Json:
        mode = fields.text(operation, "mode", "the operation 'commit'")
        if mode not in COMMIT_MODES:
            raise BadInput(f"there is no commit mode {mode!r}; there are {', '.join(COMMIT_MODES)}")
        self._coordinator.fail_appends(mode == "fail")
        self._manual = mode == "manual"
        waiting, self._waiting = self._waiting, []
        answered = [self._answered(request) for request in waiting]
        return {"completed": [answer for answer in answered if "body" in answer]}

    def _background(self, _: Json) -> Json:
        """Background work: there is none, as targets are computed in the step that makes them due."""
        return {"completed": []}

    def _ids(self, operation: Json) -> Json:
        ids = fields.names(operation, "next", "the operation 'ids'")
        if not all(ids):
            raise BadInput("'next' of the operation 'ids' has an empty id, which stands for no member")
        self._coordinator.use_ids(ids)
        return {}

    def _configure(self, operation: Json) -> Json:
        settings = {name: value for name, value in operation.items() if name not in ("op", "observe")}
        self._coordinator.configure(settings)
        return {}

    def _metrics(self, _: Json) -> Json:
        """D4, as Prometheus reads it."""
        return {"text": exposition(self._coordinator.metrics(len(self._waiting)))}

    def _set_state(self, operation: Json) -> Json:
        """Set the state: active, loading, moved or unavailable (H5)."""
        self._coordinator.set_state(fields.text(operation, "state", "the operation 'coordinator'"))
        return {}

    def _deny(self, operation: Json) -> Json:
        """Set the operations that no client may do from now on (H5, D5): READ, DESCRIBE, and so on."""
        self._coordinator.deny(fields.names(operation, "denied", "the operation 'rights'"))
        return {}


def _request_of(operation: Json) -> dict[str, Any]:
    where = "the operation 'request'"
    if type(operation.get("id", 0)) not in (int, str):
        raise BadInput(
            f"'id' of {where} must be a whole number or a string, not {fields.shown(operation['id'])}"
        )
    return {
        "api": fields.text(operation, "api", where),
        "version": fields.integer(operation, "version", where),
        "client": fields.mapping(operation, "client", where) if "client" in operation else {},
        "body": fields.mapping(operation, "body", where),
    }


_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode
_json_line: Final = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def _line(answer: Json) -> str:
    """An answer as one line of ASCII. `msgspec` is faster; `json` writes text that `msgspec` cannot, as half
    of a surrogate pair, and escapes all characters that are not ASCII."""
    try:
        line = _encode(answer)
    except (TypeError, ValueError, OverflowError):
        return _json_line(answer)
    return line.decode("ascii") if line.isascii() else _json_line(answer)


def _operation(line: str | bytes) -> Any:
    """A line, parsed as `json.loads` would. `msgspec` is faster; `json` decides about lines that `msgspec`
    refuses."""
    try:
        return _decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return json.loads(line)


def lines_of(descriptor: int, before_waiting: Callable[[], object]) -> Iterator[bytes]:
    """The lines of a file or pipe, each as soon as it has arrived; `before_waiting` is called before each
    wait."""
    begun: list[bytes] = []
    while True:
        before_waiting()
        chunk = os.read(descriptor, 1 << 16)
        first, *rest = chunk.split(b"\n")
        begun.append(first)
        if rest or not chunk:
            yield b"".join(begun)
            yield from rest[:-1]
            begun = rest[-1:]
        if not chunk:
            return


def serve(coordinator: Coordinator, lines: Iterable[str | bytes]) -> Iterator[str]:
    """An answer for every line that is not empty. Timers that are due by a real clock fire before each."""
    protocol = LineProtocol(coordinator)
    for line in lines:
        if line.strip():
            coordinator.fire_due()
            yield protocol.handle(line)
