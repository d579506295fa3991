"""TLC in a JVM that stays: most of a short run is Java's start and code that is not compiled yet.

`TlcServer.java` runs the same jar with the same words, and begins each run with TLC's memory as new; the
output is that of a program of its own (`tests/engines/test_warm_tlc.py`). `conform mutate` and the tests run
TLC so. A run with little memory or time, and a run beside another, get a JVM of their own; without a JDK to
compile the server, all runs do.
"""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from harness.engines import tlc
from harness.engines.base import EngineError, Failure
from harness.engines.java import find_compiler, find_java
from harness.engines.process import Finished, open_log, run_program
from harness.engines.tlc import find_jar
from harness.files import cache_folder

SOURCE: Final = Path(__file__).with_name("TlcServer.java")
CLASSES: Final = "tlc-server"
"""The folder of the compiled server, in the folder of caches."""
MEMORY: Final = "1g"
LEAST_MB: Final = 256
"""A run with less memory shows what happens then, and needs a JVM of its own."""
LEAST_S: Final = 60.0
"""A run with less time shows what happens then."""
_PACKAGES: Final = ("java.util", "java.util.concurrent", "java.util.concurrent.atomic")
_SIZE: Final = re.compile(r"-Xmx(\d+)([mg])")


class WarmTlc:
    """A server for one process at a time: the process that made it, or a fork to which it was lent.

    With `brief_only` longer runs have a JVM of their own, which optimises the program.
    """

    def __init__(self, brief_only: bool = False) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._needed = tlc.BRIEF if brief_only else ()
        self._starts = True
        self._place = tempfile.TemporaryDirectory(prefix="conform-tlc-")
        self._alone, self._maker = threading.Lock(), os.getpid()
        self._process = self._maker
        self.runs = 0

    def run(
        self,
        command: Sequence[str],
        *,
        name: str,
        log: Path,
        folder: Path,
        timeout: float | None,
        environment: Mapping[str, str] | None = None,
        on_line: Callable[[str], None] | None = None,
    ) -> Finished:
        """Run a program as `run_program` does."""
        ended = None
        ours = os.getpid() == self._process  # a fork has its parent's server
        fits = _fits(command, timeout) and set(self._needed) <= set(command)
        if ours and fits and self._alone.acquire(blocking=False):
            try:
                ended = self._on_server(command, name, log, folder, timeout, on_line)
            finally:
                self._alone.release()
        return ended or run_program(
            command,
            name=name,
            log=log,
            folder=folder,
            timeout=timeout,
            environment=environment,
            on_line=on_line,
        )

    def ready(self) -> None:
        """Start the server, if none runs, for a fork of this process."""
        if self._server is None or self._server.poll() is not None:
            self.stop()
            self._server = self._started()

    def lend(self) -> None:
        """Let TLC run on the server in this fork, which must be the only one that uses the server."""
        self._process = os.getpid()
        tlc.runner = self.run

    def stop(self) -> None:
        """End the server."""
        if self._server:
            if os.getpid() != self._maker or self._server.poll() is None:  # a fork cannot poll
                _kill(self._server.pid)
            self._server.communicate()
            self._server = None

    def _started(self) -> subprocess.Popen[str] | None:
        if not self._starts:
            return None
        server = _start(find_java(), find_jar(), self._place.name)
        self._starts = server is not None
        return server

    def _on_server(
        self,
        command: Sequence[str],
        name: str,
        log: Path,
        folder: Path,
        timeout: float | None,
        on_line: Callable[[str], None] | None,
    ) -> Finished | None:
        """The end of a run; None if the server ended before, as a JVM without memory does."""
        started = time.monotonic()
        server = self._server = self._server or self._started()
        if server is None or server.stdin is None or server.stdout is None:
            return None
        late, group = threading.Event(), server.pid

        def too_late() -> None:
            late.set()
            _kill(group)

        timer = threading.Timer(timeout or threading.TIMEOUT_MAX, too_late)
        timer.daemon = True
        lines: list[str] = []
        try:
            timer.start()
            with open_log(log) as stream:
                server.stdin.write("\t".join(_line(command, folder)) + "\n")
                server.stdin.flush()
                for line in server.stdout:
                    given, end, how = line.partition("\0")
                    stream.write(given)
                    if given:
                        lines.append(given.rstrip("\n"))
                        if on_line:
                            on_line(lines[-1])
                    if end:
                        code, processor = how.split()
                        self.runs += 1
                        return Finished(lines, int(code), time.monotonic() - started, float(processor))
        except BaseException as error:  # what is not read yet belongs to no later run
            self.stop()
            if not isinstance(error, BrokenPipeError):
                raise
        finally:
            timer.cancel()
        self.stop()
        if late.is_set():
            raise EngineError(Failure.TIME_OUT, f"{name} was stopped after {timeout:g} seconds. Log: {log}")
        return None


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _fits(command: Sequence[str], timeout: float | None) -> bool:
    size = next((match for word in command if (match := _SIZE.fullmatch(word))), None)
    return (
        "tlc2.TLC" in command
        and size is not None
        and int(size[1]) * (1024 if size[2] == "g" else 1) >= LEAST_MB
        and (timeout is None or timeout >= LEAST_S)
    )


def _line(command: Sequence[str], folder: Path) -> list[str]:
    """A line for the server: the folder of the modules, and TLC's words."""
    others = [word.partition("=")[2] for word in command if word.startswith("-DTLA-Library=")]
    return [os.pathsep.join([str(folder), *others]), *command[command.index("tlc2.TLC") + 1 :]]


def _start(java: Path, jar: Path, folder: str) -> subprocess.Popen[str] | None:
    """A server; None where it cannot be compiled."""
    javac = find_compiler()
    if javac is None:
        return None
    try:
        classes = _compiled(javac)
    except (OSError, subprocess.CalledProcessError):
        return None
    opened = [word for name in _PACKAGES for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]
    options = [f"-Xmx{MEMORY}", "-Xss16m", *tlc.BRIEF, *opened, f"-Djava.io.tmpdir={folder}"]
    return subprocess.Popen(
        [java, *options, "-cp", str(classes), "TlcServer", str(jar)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        cwd=folder,
    )


@lru_cache(maxsize=1)
def _compiled(javac: Path) -> Path:
    place = cache_folder() / CLASSES
    classes = place / hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    if not classes.is_dir():
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place) as name:
            made = Path(name) / "classes"
            options = ["-nowarn", "--release", "17", "-encoding", "UTF-8", "-d", str(made)]
            subprocess.run([javac, *options, SOURCE], check=True, capture_output=True)
            try:
                made.rename(classes)
            except OSError:  # another process was first
                if not classes.is_dir():
                    raise
    return classes
