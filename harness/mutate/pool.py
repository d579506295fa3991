"""Work in processes of its own, several at a time, each with a limit of time."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Final, Generic, Protocol, TypeVar

from harness.engines.process import stop_on_signals
from harness.mutate.mutant import KILLED, Verdict

Task = TypeVar("Task")


STOPS: Final = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
GRACE_S: Final = 5.0
"""The time that a process gets to end the programs that it started, before it is killed."""


class Helper(Protocol):
    """A program that forks use one after another, and that lives longer than each."""

    def ready(self) -> None:
        """Start the program, if it does not run, before a fork begins."""

    def lend(self) -> None:
        """Let this fork use the program."""

    def stop(self) -> None:
        """End the program."""


@dataclass(slots=True)
class _Running(Generic[Task]):
    task: Task
    process: ForkProcess
    pipe: Connection
    began: float
    helper: Helper | None


@dataclass(frozen=True, slots=True)
class Done(Generic[Task]):
    """The answer of the work to a task; None if it did not end in time."""

    task: Task
    verdict: Verdict | None
    seconds: float


def run_all(
    tasks: Sequence[Task],
    work: Callable[[Task], Verdict],
    jobs: int,
    limit_s: float,
    until: float | None = None,
    helpers: Sequence[Helper] = (),
) -> Iterator[Done[Task]]:
    """The results as they come. `limit_s` is a task's time; after `until` (time.monotonic) no task is begun.
    Where there are `helpers`, one for each of the jobs, each fork has one of them for itself.

    Each task is done in a fork of this process, which must have only one thread. However this ends, no
    program goes on that a fork started in its process group or with `run_program`: even where this process is
    killed, since the forks see the end of a pipe whose other end only this process has. After a second
    signal, it may leave before it has told each fork: they are daemons, or Python would then wait for them,
    and they for it.
    """
    context = multiprocessing.get_context("fork")
    left, running, idle = list(reversed(tasks)), list[_Running[Task]](), list(helpers)
    lives = os.pipe()
    gc.freeze()  # or a fork's first collection would copy all memory of this process
    try:
        while left or running:
            while left and len(running) < jobs and (until is None or time.monotonic() < until):
                task, helper = left.pop(), idle.pop() if idle else None
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_do, args=(work, task, theirs, lives, helper), daemon=True)
                if helper:
                    helper.ready()
                with _signals_held():
                    process.start()
                    running.append(_Running(task, process, ours, time.monotonic(), helper))
                theirs.close()
            if not running:
                return
            wait([one.pipe for one in running], timeout=0.2)
            for one in list(running):
                done = _ended(one, limit_s)
                if done is not None:
                    running.remove(one)
                    if one.helper:
                        idle.append(one.helper)
                    yield done
    finally:
        with _signals_held():
            gc.unfreeze()
            for end in lives:
                os.close(end)
            for one in running:
                _stop(one)
            for helper in helpers:
                helper.stop()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold back the signals that stop this process: a fork that it does not know yet would be forgotten."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)


def _do(
    work: Callable[[Task], Verdict],
    task: Task,
    pipe: Connection,
    lives: tuple[int, int],
    helper: Helper | None,
) -> None:
    """Do one task in a process group of its own, so that a terminal's Ctrl-C goes only to the parent, which
    ends the others."""
    os.setpgid(0, 0)
    os.close(lives[1])
    threading.Thread(target=_end_with_parent, args=lives[:1], daemon=True).start()
    stop_on_signals(says=False)  # the parent does that, once
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPS)
    if helper:
        helper.lend()
    try:
        pipe.send(work(task))
        pipe.close()
    except SystemExit:  # the signal may come from a sender that does not end the others of its group
        os.killpg(0, signal.SIGKILL)


def _end_with_parent(lives: int) -> None:
    """Tell this process, when the pipe ends, to end the programs that it started, and kill the remaining ones
    after a while."""
    os.read(lives, 1)
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(GRACE_S)
    os.killpg(0, signal.SIGKILL)


def _ended(one: _Running[Task], limit_s: float) -> Done[Task] | None:
    seconds, ended = time.monotonic() - one.began, False
    if one.pipe.poll():
        try:
            verdict: Verdict | None = one.pipe.recv()
            ended = True
        except EOFError:
            one.process.join()
            verdict = Verdict(KILLED, f"its process ended with exit code {one.process.exitcode}")
    elif seconds > limit_s:
        verdict = None
    else:
        return None
    _stop(one)
    if one.helper and not ended:  # the helper may be in the middle of a run
        one.helper.stop()
    return Done(one.task, verdict, seconds)


def _stop(one: _Running[Task]) -> None:
    if one.process.is_alive():
        one.process.terminate()
        one.process.join(GRACE_S)
        one.process.kill()
    one.process.join()
    if one.process.pid:
        with suppress(ProcessLookupError):  # no process is left in its group
            os.killpg(one.process.pid, signal.SIGKILL)
    one.pipe.close()
