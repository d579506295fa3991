"""TLC for tests, in a JVM that stays: most of a short run is Java's start and code that is not compiled yet.

`java/TlcServer.java` runs the same jar with the same words, and begins each run with TLC's memory as new; the
output is that of a program of its own (`engines/test_warm_tlc.py`). A test of TLC's memory or time, and a run
beside another, get a JVM of their own; without a JDK to compile the server, all runs do.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from harness.engines import tlc
from harness.engines.base import EngineError, Failure
from harness.engines.process import Finished, _open_log, run_program
from harness.errors import ConformError

SOURCE: Final = Path(__file__).parent / "java" / "TlcServer.java"
CLASSES: Final = Path(__file__).parents[1] / "build" / "tlc-server"
MEMORY: Final = "1g"
LEAST_MB: Final = 256
"""A test that gives a run less memory looks at what happens then."""
LEAST_S: Final = 60.0
"""A test that gives a run less time looks at what happens then."""
_PACKAGES: Final = ("java.util", "java.util.concurrent", "java.util.concurrent.atomic")
_SIZE: Final = re.compile(r"-Xmx(\d+)([mg])")


class WarmTlc:
    """Takes the place of `run_program` in `harness.engines.tlc`."""

    def __init__(self) -> None:
        self._server: subprocess.Popen[str] | None = None
        self._place = tempfile.TemporaryDirectory(prefix="conform-tlc-")
        self._alone, self._process = threading.Lock(), os.getpid()
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
        if ours and _fits(command, timeout) and self._alone.acquire(blocking=False):
            try:
                ended = self._asked(command, name, log, folder, timeout, on_line)
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

    def stop(self) -> None:
        if self._server:
            self._server.kill()
            self._server.communicate()
            self._server = None

    def _asked(
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
        server = self._server = self._server or _start(command, self._place.name)
        if server is None or server.stdin is None or server.stdout is None:
            return None
        late, kill = threading.Event(), server.kill

        def too_late() -> None:
            late.set()
            kill()

        timer = threading.Timer(timeout or threading.TIMEOUT_MAX, too_late)
        timer.daemon = True
        lines: list[str] = []
        try:
            timer.start()
            with _open_log(log) as stream:
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


def _start(command: Sequence[str], folder: str) -> subprocess.Popen[str] | None:
    """A server with the same Java and jar; None if there is none, and the server cannot be compiled."""
    try:
        classes = _compiled()
    except (ConformError, subprocess.CalledProcessError):
        return None
    opened = [word for name in _PACKAGES for word in ("--add-opens", f"java.base/{name}=ALL-UNNAMED")]
    java = [command[0], f"-Xmx{MEMORY}", "-Xss16m", *tlc.BRIEF, *opened]
    java.append(f"-Djava.io.tmpdir={folder}")
    return subprocess.Popen(
        [*java, "-cp", str(classes), "TlcServer", command[command.index("-cp") + 1]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        cwd=folder,
    )


def _compiled() -> Path:
    from harness.targets.kafka.build import find_javac

    classes = CLASSES / hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    if not classes.is_dir():
        CLASSES.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CLASSES) as place:
            made = Path(place) / "classes"
            options = ["-nowarn", "--release", "17", "-encoding", "UTF-8", "-d", str(made)]
            subprocess.run([find_javac(), *options, SOURCE], check=True, capture_output=True)
            try:
                made.rename(classes)
            except OSError:  # another worker was first
                if not classes.is_dir():
                    raise
    return classes
