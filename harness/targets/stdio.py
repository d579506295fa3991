"""`stdio:COMMAND`: a coordinator in any language, as a program that speaks the line protocol."""

from __future__ import annotations

import json
import os
import selectors
import shlex
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO, Any, Final

from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.targets.base import Answer, Assignments, Capabilities, Json, Refused

TIMEOUT_S: Final = 60.0
"""How long an answer may take; the first one waits for the program to start, too."""
CLOSING_S: Final = 5.0
SHOWN: Final = 300
"""Characters of nonsense, and of standard error, that a message shows."""


class StdioTarget:
    """A subprocess; the methods are those of `harness.targets.base.Target`. Nothing is ever asked twice.

    A program that has neither `load` nor `fresh` is ended and started again for a load of nothing, and
    configured as before: `fresh`.
    """

    def __init__(
        self, command: str | Sequence[str], timeout_s: float = TIMEOUT_S, name: str | None = None
    ) -> None:
        """`command` is one as a shell reads it, or the words of one; `name` is the target's."""
        self.name = name or f"stdio:{command}"
        self._command = command
        self._timeout_s = timeout_s
        self._renewed = False
        self._settings: Json = {}
        self._start()

    def _start(self) -> None:
        self._received = b""
        self._broken = False
        with ExitStack() as stack:
            self._stderr = stack.enter_context(tempfile.TemporaryFile())
            self._process = self._started(self._command)
            self._stdin, self._stdout = _pipes(self._process)
            # A target that neither reads nor writes must run into the time-out, not block the replay.
            os.set_blocking(self._stdin.fileno(), False)
            self._writable = stack.enter_context(selectors.DefaultSelector())
            self._readable = stack.enter_context(selectors.DefaultSelector())
            self._writable.register(self._stdin, selectors.EVENT_WRITE)
            self._readable.register(self._stdout, selectors.EVENT_READ)
            self._resources = stack.pop_all()

    def _started(self, command: str | Sequence[str]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            words = shlex.split(command) if isinstance(command, str) else command
            return subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=self._stderr, bufsize=0)
        except (OSError, ValueError) as error:
            raise ConformError(f"The target {self.name} cannot be started: {error}.", USAGE) from None

    def hello(self) -> Capabilities:
        """Ask who it is."""
        answer = self._ask({"op": "hello"})
        apis, controls, unobserved = answer.get("apis"), answer.get("controls"), answer.get("unobserved", [])
        if not isinstance(apis, dict) or not isinstance(controls, list) or not isinstance(unobserved, list):
            raise self._nonsense("hello", answer)
        for versions in apis.values():
            if not isinstance(versions, list) or len(versions) != 2:
                raise self._nonsense("hello", answer)
        name, dialect = str(answer.get("name", self.name)), str(answer.get("dialect", ""))
        known = frozenset(str(control) for control in controls)
        self._renewed = not known & {"load", "fresh"}
        hidden = frozenset(str(part) for part in unobserved)
        return Capabilities(name, dialect, apis, known | {"fresh"} if self._renewed else known, hidden)

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
        answer = self._ask({"op": "describe", "group": group})
        if not isinstance(answer.get("group"), dict):
            raise self._nonsense("describe", answer)
        described: Json = answer["group"]
        return described

    def records(self, since: int) -> list[Json]:
        """Read the log."""
        answer = self._ask({"op": "records", "since": since})
        if not isinstance(answer.get("records"), list):
            raise self._nonsense("records", answer)
        records: list[Json] = answer["records"]
        return records

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """Replace the state."""
        if self._renewed and not records:
            self._renew(topics)
            return
        self._ask({"op": "load", "records": list(records), "topics": list(topics), "volatile": volatile})

    def _renew(self, topics: Sequence[Json]) -> None:
        self.close()
        self._start()
        if self._settings:
            self._ask({"op": "configure", **self._settings})
        if topics:
            self.topics(topics, [])

    def restart(self, keep: int | None = None) -> Answer:
        """Load the log anew."""
        return self._perform({"op": "restart"} if keep is None else {"op": "restart", "keep": keep}, None)

    def ids(self, following: Sequence[str]) -> None:
        """Give the next member ids."""
        self._ask({"op": "ids", "next": list(following)})

    def configure(self, settings: Json) -> None:
        """Set configuration."""
        self._ask({"op": "configure", **settings})
        self._settings = {**self._settings, **settings}

    def commit(self, mode: str) -> None:
        """Set how writes become durable."""
        self._ask({"op": "commit", "mode": mode})

    def background(self) -> Answer:
        """Run queued work."""
        return self._perform({"op": "background"}, None)

    def line(self, line: str) -> Json:
        """The answer to one line, whatever it says; Refused as for any operation."""
        return self._exchange(line, "a line")

    def close(self) -> None:
        """End the program: by the end of its input, or by force if it failed or that does not do it."""
        self._stdin.close()
        try:
            self._process.wait(0 if self._broken else CLOSING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stdout.close()
        self._resources.close()

    def _perform(self, operation: Json, observe: str | None) -> Answer:
        answer = self._ask(operation if observe is None else {**operation, "observe": observe})
        body, group, records = answer.get("body"), answer.get("group"), answer.get("records", [])
        fired, completed = answer.get("fired", []), answer.get("completed", [])
        lists = all(isinstance(given, list) for given in (records, fired, completed))
        if not lists or not isinstance(body, dict | None) or (observe and not isinstance(group, dict)):
            raise self._nonsense(str(operation["op"]), answer)
        return Answer(body, group, records, answer.get("consumed") is True, fired or (), completed or ())

    def _ask(self, operation: Json) -> Json:
        """Send one operation and wait for its answer; Refused if that says so."""
        return self._exchange(json.dumps(operation, separators=(",", ":")), str(operation["op"]))

    def _exchange(self, sent: str, name: str) -> Json:
        deadline = time.monotonic() + self._timeout_s
        self._send(sent.encode() + b"\n", name, deadline)
        line = self._receive(name, deadline)
        try:
            answer: Any = json.loads(line)
        except ValueError:
            raise self._failed(f"answered {name} with something that is not JSON: {_shown(line)}") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
            raise self._nonsense(name, answer)
        if not answer["ok"]:
            raise Refused(self.name, name, str(answer.get("error", "it does not say why")))
        return answer

    def _send(self, line: bytes, name: str, deadline: float) -> None:
        while line:
            if not self._writable.select(max(0.0, deadline - time.monotonic())):
                raise self._failed(f"did not read {name} within {self._timeout_s:g} s")
            try:
                line = line[os.write(self._stdin.fileno(), line) :]
            except BrokenPipeError:
                raise self._ended(name) from None

    def _receive(self, name: str, deadline: float) -> bytes:
        while b"\n" not in self._received:
            if not self._readable.select(max(0.0, deadline - time.monotonic())):
                raise self._failed(f"did not answer {name} within {self._timeout_s:g} s")
            chunk = os.read(self._stdout.fileno(), 1 << 16)
            if not chunk:
                raise self._ended(name)
            self._received += chunk
        line, self._received = self._received.split(b"\n", 1)
        return line

    def _ended(self, name: str) -> ConformError:
        try:
            code: int | str = self._process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            code = "none yet"
        return self._failed(f"closed its output before it answered {name} (exit code {code})")

    def _nonsense(self, name: str, answer: object) -> ConformError:
        return self._failed(f"answered {name} with something that the line protocol does not have: "
                            f"{_shown(json.dumps(answer).encode())}")  # fmt: skip

    def _failed(self, what: str) -> ConformError:
        """What went wrong, with the end of what the program wrote to standard error."""
        self._broken = True
        self._stderr.seek(0)
        said = self._stderr.read().decode(errors="replace").strip()
        tail = f" Its standard error ends with: {said[-SHOWN:]}" if said else " Its standard error is empty."
        return ConformError(f"The target {self.name} {what}.{tail}", ENGINE_FAILED)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ConformError("The target has no standard input and output.", ENGINE_FAILED)
    return process.stdin, process.stdout


def _shown(line: bytes) -> str:
    return line[:SHOWN].decode(errors="replace")
