"""A program behind pipes that answers lines with lines, in their order.

Neither side ever waits for the other to read: a line for which the program's input has no room stays in
memory, and goes out while answers are read.
"""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from typing import IO, Final

from harness.errors import ENGINE_FAILED, USAGE, ConformError

CLOSING_S: Final = 5.0
SHOWN: Final = 300
"""The number of characters of a malformed answer, and of standard error, in a message."""
LONGEST: Final = 1 << 28
"""The most bytes of an answer: a program that writes without end must not fill the memory."""
_CHUNK: Final = 1 << 16


class Lines:
    """Two ends of a conversation, with a name for messages; an answer may take `timeout_s` seconds."""

    def __init__(self, written: IO[bytes], read: IO[bytes], name: str, timeout_s: float) -> None:
        self.name = name
        self._timeout_s = timeout_s
        self._unsent = bytearray()
        self._begun = bytearray()
        self._lines: deque[bytes] = deque()
        self._lengths: deque[int] = deque()
        self._sent = 0
        self._deaf = self._broken = False
        self._stdin, self._stdout = written, read
        # A program that neither reads nor writes must run into the time-out, not block the replay.
        os.set_blocking(self._stdin.fileno(), False)
        with ExitStack() as stack:
            self._readable = stack.enter_context(selectors.DefaultSelector())
            self._readable.register(self._stdout, selectors.EVENT_READ)
            self._either = stack.enter_context(selectors.DefaultSelector())
            self._either.register(self._stdout, selectors.EVENT_READ)
            self._either.register(self._stdin, selectors.EVENT_WRITE)
            self._selectors = stack.pop_all()

    def write(self, line: bytes) -> None:
        """Send a line, which ends with a line feed, at the next `read` at the latest; never waits."""
        self._unsent += line
        self._lengths.append(len(line))

    def read(self, operation: str) -> bytes:
        """The answer to the oldest line without one, without its line feed; messages call that line
        `operation`.

        ConformError (exit 3) if the program ends, neither reads nor answers within the time-out, or writes
        more lines than it got.
        """
        length = self._lengths.popleft()
        self._send()
        if not self._lines:
            deadline = time.monotonic() + self._timeout_s
            while not self._lines:
                self._wait(operation, length, deadline)
        self._sent -= length
        line = self._lines.popleft()
        if self._lines and not self._lengths:
            raise self.failed(
                f"wrote a further line after its answer to {operation}: {shown(self._lines[0])}"
            )
        return line

    def _wait(self, operation: str, length: int, deadline: float) -> None:
        """Wait until reading, or sending of unsent bytes, is possible, and do it."""
        if self._deaf and self._sent < length:
            raise self._ended(operation)
        both = bool(self._unsent) and not self._deaf
        ready = (self._either if both else self._readable).select(max(0.0, deadline - time.monotonic()))
        if not ready:
            did = "read" if self._sent < length else "answer"
            raise self.failed(f"did not {did} {operation} within {self._timeout_s:g} s")
        for key, _ in ready:
            if key.fileobj is self._stdin:
                self._send()
            elif not self._receive():
                raise self._ended(operation)

    def _send(self) -> None:
        """Send as much as the program's input takes now."""
        if not self._unsent or self._deaf:
            return
        try:
            count = os.write(self._stdin.fileno(), self._unsent)
        except BlockingIOError:
            return
        except OSError:
            self._deaf = True
            return
        self._sent += count
        del self._unsent[:count]

    def _receive(self) -> bool:
        """Tell if the program's output has not ended."""
        try:
            chunk = os.read(self._stdout.fileno(), _CHUNK)
        except BlockingIOError:  # both ends of a connection are one file
            return True
        except OSError:
            return False
        first, *rest = chunk.split(b"\n")
        self._begun += first
        if len(self._begun) > LONGEST:
            raise self.failed(f"wrote more than {LONGEST >> 20} MiB without the end of a line")
        if rest:
            self._lines += [bytes(self._begun), *rest[:-1]]
            self._begun = bytearray(rest[-1])
        return bool(chunk)

    def close(self) -> None:
        """End the conversation."""
        self._selectors.close()
        self._stdin.close()
        self._stdout.close()

    def _ended(self, operation: str) -> ConformError:
        raise NotImplementedError

    def failed(self, what: str) -> ConformError:
        """The error, with the known reason."""
        self._broken = True
        return ConformError(f"The target {self.name} {what}.{self._tail()}", ENGINE_FAILED)

    def _tail(self) -> str:
        raise NotImplementedError


class Program(Lines):
    """A subprocess."""

    def __init__(self, command: str | Sequence[str], name: str, timeout_s: float) -> None:
        """Start the program. `command` is a command line of a shell, or its words. ConformError (exit 2) if
        it cannot be started."""
        self.name = name
        with ExitStack() as stack:
            self._stderr = stack.enter_context(tempfile.TemporaryFile())
            self.process = self._started(command)
            super().__init__(*_pipes(self.process), name, timeout_s)
            self._resources = stack.pop_all()

    def _started(self, command: str | Sequence[str]) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        try:
            words = shlex.split(command) if isinstance(command, str) else command
            return subprocess.Popen(
                words, stdin=pipe, stdout=pipe, stderr=self._stderr, bufsize=0, start_new_session=True
            )
        except (OSError, ValueError) as error:
            raise ConformError(f"The target {self.name} cannot be started: {error}.", USAGE) from None

    def close(self) -> None:
        """End the program: by the end of its input, or by force, with all that it started, if it failed or
        does not end."""
        self._stdin.close()
        if self._lengths:  # or it might wait until its answers are read
            self._stdout.close()
        try:
            self.process.wait(0 if self._broken else CLOSING_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        super().close()
        self._resources.close()

    def _ended(self, operation: str) -> ConformError:
        try:
            code: int | str = self.process.wait(CLOSING_S)
        except subprocess.TimeoutExpired:
            code = "none yet"
        return self.failed(f"closed its output before it answered {operation} (exit code {code})")

    def _tail(self) -> str:
        """The end of the program's standard error."""
        words = self.last_words()
        return (
            f" Its standard error ends with: {words[-SHOWN:]}" if words else " Its standard error is empty."
        )

    def last_words(self) -> str:
        """The last characters on its standard error."""
        size = self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, size - _CHUNK))
        return self._stderr.read().decode(errors="replace").strip()


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ConformError("The target has no standard input and output.", ENGINE_FAILED)
    return process.stdin, process.stdout


def shown(line: bytes) -> str:
    """The beginning of a line that is no answer."""
    return line[:SHOWN].decode(errors="replace")
