"""An agent: a program around a real consumer, driven by lines of JSON (docs/clients.md)."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final, TypedDict

from msgspec import Meta

from harness.errors import ENGINE_FAILED, ConformError
from harness.forms import formed
from harness.targets.base import Json

_END_S: Final = 5.0
_LINE_BYTES: Final = 1 << 20


_Partition = Annotated[str, Meta(pattern="^.+-[0-9]+$")]


class _Partitions(TypedDict):
    partitions: list[_Partition]


class _Position(TypedDict):
    partition: _Partition
    offset: Annotated[int, Meta(ge=0)]


class _Uses(TypedDict):
    uses: list[str]


class _Committed(TypedDict):
    error: int


class _Error(TypedDict):
    code: int
    text: str
    fatal: bool


_FORMS: Final[dict[str, Any]] = {
    **dict.fromkeys(("assigned", "revoked", "lost"), _Partitions),
    **{"position": _Position, "uses": _Uses, "committed": _Committed, "error": _Error, "closed": dict},
}
"""The fields of each event."""


class AgentFailed(ConformError):
    """The agent cannot be started, ended before it was told to, or wrote a line that is no event."""


class Agent:
    """The process of an agent; `heard` gets each of its events."""

    def __init__(self, command: Sequence[str], heard: Callable[[Json], None]) -> None:
        self._command = list(command)
        self._heard = heard
        self._process: asyncio.subprocess.Process | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._errors: deque[str] = deque(maxlen=12)
        self.failure: AgentFailed | None = None

    async def start(self) -> None:
        """Start the program, in a session of its own. AgentFailed if it cannot be started."""
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                limit=_LINE_BYTES,
            )
        except OSError as error:
            sentence = f"The agent {self._command[0]} cannot be started: {error.strerror}."
            raise AgentFailed(sentence, ENGINE_FAILED) from None
        self._tasks = [asyncio.create_task(one) for one in (self._listen(), self._keep_errors())]

    def tell(self, **command: Any) -> None:
        """Send a command. A command to an agent that has ended is lost."""
        assert self._process is not None and self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(json.dumps(command).encode() + b"\n")

    @property
    def ended(self) -> bool:
        """Tell if the process has ended and all its output was read."""
        return self._process is not None and all(task.done() for task in self._tasks)

    async def end(self) -> None:
        """End the process with its whole session, and read the rest of its output. A program that it started
        in another session may keep the output open."""
        process = self._process
        if process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        ending = [*self._tasks, asyncio.create_task(process.wait())]
        _, endless = await asyncio.wait(ending, timeout=_END_S)
        for task in endless:
            task.cancel()

    def last_errors(self) -> str:
        """The last lines on its standard error."""
        return "\n".join(self._errors)

    async def _listen(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        while line := await _line(self._process.stdout):
            try:
                event = json.loads(line)
                formed(event, _FORMS[event["event"]], f"the event {event['event']!r}:")
            except (ValueError, KeyError, TypeError, RecursionError):
                self._fail(f"a line that is no event: {line[:200]!r}")
                continue
            except ConformError as error:
                self._fail(f"an event of another form: {error.message.removesuffix('.')}")
                continue
            self._heard(event)

    def _fail(self, fault: str) -> None:
        """Keep the first fault of what the agent writes."""
        sentence = f"The agent wrote {fault}. See docs/clients.md."
        self.failure = self.failure or AgentFailed(sentence, ENGINE_FAILED)

    async def _keep_errors(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        while line := await _line(self._process.stderr):
            self._errors.append(line.decode(errors="replace").rstrip())


async def _line(stream: asyncio.StreamReader) -> bytes:
    """The next line of a program, with its end; b"" at the end of all."""
    try:
        return await stream.readline()
    except ValueError:
        return f"(a line of more than {_LINE_BYTES} bytes)\n".encode()
