"""Running a program with a log, a time limit and a callback for each line."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO, TypeVar

from harness.engines.base import EngineError, Failure
from harness.errors import ConformError

T = TypeVar("T")
_SET_CHILD_SUBREAPER: Final = 36
"""The number of prctl's operation, in <linux/prctl.h>."""


def ending_signals() -> list[signal.Signals]:
    """SIGTERM, and SIGHUP, which a terminal sends when a user closes it; under nohup SIGTERM alone."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [signal.SIGTERM] if ignored else [signal.SIGTERM, signal.SIGHUP]


def stop_on_signals(says: bool = True) -> None:
    """Let `ending_signals` end this process with a sentence, if `says`, and as an exception does, so that the
    programs that it started are ended on the way. A second signal is ignored: it would interrupt that."""

    own, known = os.getpid(), ending_signals()

    def stop(number: int, _frame: object) -> None:
        for one in known:
            signal.signal(one, signal.SIG_IGN)
        if says and os.getpid() == own:  # no sentence for each process that this one forks and ends
            with suppress(OSError):  # the terminal may be gone
                print(f"conform: stopped by {signal.Signals(number).name}.", file=sys.stderr, flush=True)
        sys.exit(128 + number)

    for one in known:
        signal.signal(one, stop)


def adopt_orphans() -> None:
    """Become the parent of processes that outlive the process that started them, as Spark's Java does: the
    system counts the processor time of a process for its parent, once the parent waits. Only Linux has
    this."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def processor_s() -> float:
    """Processor time in seconds of ended processes that this one has started or adopted."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    used = os.times()
    return used.children_user + used.children_system


@dataclass(frozen=True)
class Finished:
    """A program that ended by itself: its output (standard error included), exit code, running time, and its
    processor time in seconds with that of the processes that it started."""

    lines: list[str]
    exit_code: int
    seconds: float
    processor: float = 0.0


_running: set[subprocess.Popen[str]] = set()


def stop_programs() -> None:
    """Kill all running programs: do this before waiting for threads that run them."""
    for process in list(_running):
        _kill(process)


def side_by_side(work: Sequence[Callable[[], T]], at_once: int) -> list[T]:
    """Do some pieces of work that run programs, so many at a time, in their order; their results.

    If one raises an exception, or this process is interrupted, running programs are ended and no more work
    begins.
    """
    with ThreadPoolExecutor(at_once) as pool:
        begun = [pool.submit(one) for one in work]
        try:
            return [one.result() for one in begun]
        except BaseException:
            for one in begun:
                one.cancel()
            stop_programs()
            raise


def run_program(
    command: Sequence[str],
    *,
    name: str,
    log: Path,
    folder: Path,
    timeout: float | None,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> Finished:
    """Run a program to its end, in `folder`. At the time-out, kill it and all processes that it started:
    EngineError."""
    started = time.monotonic()
    timed_out = threading.Event()
    lines: list[str] = []
    with _start(command, name, folder, environment) as process:
        _running.add(process)

        def expire() -> None:
            timed_out.set()
            _kill(process)

        timer = threading.Timer(timeout, expire) if timeout else None
        if timer:
            timer.start()
        try:
            with open_log(log) as stream:
                for line in process.stdout or ():
                    stream.write(line)
                    lines.append(line.rstrip("\n"))
                    if on_line:
                        on_line(lines[-1])
            exit_code, processor = _wait(process)
        finally:
            if timer:
                timer.cancel()
            _kill(process)
            _running.discard(process)
    if timed_out.is_set():
        raise EngineError(
            Failure.TIME_OUT,
            f"{name} was stopped after {timeout:g} seconds; allow more with --timeout. Log: {log}",
        )
    return Finished(lines, exit_code, time.monotonic() - started, processor)


def _wait(process: subprocess.Popen[str]) -> tuple[int, float]:
    """The exit code and the processor time; only `wait4` gives the time of one process among several."""
    try:
        _, status, used = os.wait4(process.pid, 0)
    except ChildProcessError:  # the time-out has killed it before
        return process.wait(), 0.0
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def _start(
    command: Sequence[str], name: str, folder: Path, environment: Mapping[str, str] | None
) -> subprocess.Popen[str]:
    try:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        raise EngineError(
            Failure.MISSING, f"{name} cannot be started ({command[0]}): {error.strerror}."
        ) from None


def open_log(log: Path) -> TextIO:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        return log.open("w", encoding="utf-8")
    except OSError as error:
        raise ConformError(
            f"The log {log} cannot be written: {error.strerror}. Choose another folder."
        ) from None


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill the program's whole group: engines start solvers and shells of their own."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
