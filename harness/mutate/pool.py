"""Some work in processes of its own, several at a time, each with a limit of time."""

from __future__ import annotations

import gc
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Generic, TypeVar

Task = TypeVar("Task")


@dataclass(slots=True)
class _Running(Generic[Task]):
    task: Task
    process: ForkProcess
    pipe: Connection
    began: float


@dataclass(frozen=True, slots=True)
class Done(Generic[Task]):
    """What the work said of a task; None if it did not end in time."""

    task: Task
    said: tuple[str, str] | None
    seconds: float


def run_all(
    tasks: Sequence[Task],
    work: Callable[[Task], tuple[str, str]],
    jobs: int,
    limit_s: float,
    until: float | None = None,
) -> Iterator[Done[Task]]:
    """The results as they come. `limit_s` is a task's time; after `until` (time.monotonic) none is begun.

    Each task is done in a fork of this process, which must have only one thread.
    """
    context = multiprocessing.get_context("fork")
    left, running = list(reversed(tasks)), list[_Running[Task]]()
    gc.freeze()  # or a fork's first collection would copy all that this process has
    try:
        while left or running:
            while left and len(running) < jobs and (until is None or time.monotonic() < until):
                task = left.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_do, args=(work, task, theirs))
                process.start()
                theirs.close()
                running.append(_Running(task, process, ours, time.monotonic()))
            if not running:
                return
            wait([one.pipe for one in running], timeout=0.2)
            for one in list(running):
                done = _ended(one, limit_s)
                if done is not None:
                    running.remove(one)
                    yield done
    finally:
        gc.unfreeze()
        for one in running:
            _stop(one)


def _do(work: Callable[[Task], tuple[str, str]], task: Task, pipe: Connection) -> None:
    pipe.send(work(task))
    pipe.close()


def _ended(one: _Running[Task], limit_s: float) -> Done[Task] | None:
    seconds = time.monotonic() - one.began
    if one.pipe.poll():
        try:
            said: tuple[str, str] | None = one.pipe.recv()
        except EOFError:
            one.process.join()
            said = ("killed", f"its process ended with exit code {one.process.exitcode}")
    elif seconds > limit_s:
        said = None
    else:
        return None
    _stop(one)
    return Done(one.task, said, seconds)


def _stop(one: _Running[Task]) -> None:
    if one.process.is_alive():
        one.process.terminate()
        one.process.join(5)
        if one.process.is_alive():
            one.process.kill()
    one.process.join()
    one.pipe.close()
