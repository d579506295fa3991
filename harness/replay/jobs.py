"""Replaying traces in several processes: `conform replay --jobs`.

Each process has a target of its own and replays whole traces. Their results are added in the order of the
files, so that a result does not depend on the number of processes. One thing depends on the traces before: no
step is judged after enough differences. The trace that brings the last of them is therefore replayed again,
in this process, by the rule for one process.
"""

from __future__ import annotations

import gc
import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, TypeVar

from harness.engines.process import ending_signals
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.itf import ItfReader
from harness.kit import kit_name, kit_path
from harness.replay.decode import Decoder
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Outcome, Replayer
from harness.scenario.names import SUFFIX as SCENARIO
from harness.targets import open_target
from harness.targets.base import Target
from harness.targets.members import open_members

_MOST_FILES: Final = 16
"""The most files that a process gets at once; fewer where there are few."""
_COLLECTED_AFTER: Final = 200_000
"""The number of new objects after which Python looks for cyclic garbage during a replay; 700 by default."""


class Failed(NamedTuple):
    """The form of a ConformError from another process."""

    message: str
    exit_code: int


Given: TypeAlias = tuple[Outcome | None, Failed | None]
"""The result of a file. Without an outcome the file is no trace. An outcome with a failure has the result
before that."""


class Job(NamedTuple):
    """A replay, with the arguments of `harness.replay.files.replay_files`."""

    target: str
    dialect: str
    max_differences: int
    waives: Callable[[str], bool]
    wait_s: float = 0

    def open(self) -> Target:
        """The target."""
        return open_target(self.target, self.dialect, self.wait_s)

    def replayer(self, opened: Target) -> Replayer:
        """A replayer on a target that `open` has opened."""
        return Replayer(opened, self.max_differences, open_members(self.target), self.waives)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cyclic garbage less often: a replay keeps its values, none of which is in a cycle, and looking
    at all of them again and again is a tenth of its time."""
    before = gc.get_threshold()
    gc.set_threshold(_COLLECTED_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Files:
    """A reader of traces; common parts of several files are read once."""

    def __init__(self) -> None:
        self._reader, self._decoder = ItfReader(), Decoder()

    def read(self, file: Path) -> DecodedTrace:
        """The trace in a file, or that of a scenario. ConformError (exit 2) for another file."""
        file = kit_path(file)
        name = kit_name(file)
        if file.suffix != SCENARIO:
            return self._decoder.decode(self._reader.read(file), name)
        from harness.scenario.files import trace_of  # which needs as much as all other parts together

        return self._decoder.decode(trace_of(file), name)


Read = TypeVar("Read")


def with_following(read: Iterator[Read]) -> Iterator[tuple[Read, Read | None]]:
    """Each read item with the next one, if there is one. A ConformError of reading is raised when it is the
    turn of its file."""
    one = next(read, None)
    while one is not None:
        following, failed = None, None
        try:
            following = next(read, None)
        except ConformError as error:
            failed = error
        yield one, following
        if failed is not None:
            raise failed
        one = following


def check_jobs(jobs: int, target: str, record: Path | None) -> None:
    """ConformError (exit 2) for a replay that several processes cannot do."""
    if jobs > 1 and target.partition(":")[0] in ("broker", "mock"):
        raise ConformError(
            f"The target {target} is one cluster, in which two traces would meet: leave out --jobs.", USAGE
        )
    if jobs > 1 and record is not None:
        raise ConformError(
            "--record writes down what one target was told, in order: leave out --jobs, or --record.", USAGE
        )


@contextmanager
def processes(jobs: int, files: Sequence[Path], job: Job) -> Iterator[tuple[Iterator[Given], Event]]:
    """Start `jobs` processes on the files: the result of each, in order, and the event after which no step is
    judged any more. The end of the context sets the event, too, and ends the processes."""
    forks = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if forks else "spawn")
    enough = context.Event()
    size = max(1, min(_MOST_FILES, len(files) // (4 * jobs)))
    parts = [files[start : start + size] for start in range(0, len(files), size)]
    pool = ProcessPoolExecutor(jobs, context, _begin, (job, enough))
    try:
        yield _in_order([pool.submit(_replay, part) for part in parts]), enough
    except BrokenProcessPool:
        raise ConformError(
            "A process of the replay was ended from outside, perhaps for want of memory: give fewer --jobs.",
            ENGINE_FAILED,
        ) from None
    finally:
        enough.set()
        pool.shutdown(cancel_futures=True)


def _in_order(futures: list[Future[list[Given]]]) -> Iterator[Given]:
    for future in futures:
        yield from future.result()


def added(replayer: Replayer, given: Given, waives: Callable[[str], bool]) -> bool:
    """Add the next file's result to the replayer's; False where the replayer must replay the file itself, as
    enough differences are found within it. ConformError as from one process."""
    outcome, failed = given
    if outcome is not None and replayer.full:
        replayer.result.add(outcome.without_judgement())
        return True
    if outcome is not None and replayer.would_fill(outcome):
        return False  # also where the target failed: one process may have stopped judging before
    if outcome is not None:
        _add(replayer, outcome, waives)
    if failed is not None:
        raise ConformError(*failed)
    return True


def _add(replayer: Replayer, outcome: Outcome, waives: Callable[[str], bool]) -> None:
    for signature in outcome.waived:
        waives(signature)  # which counts them
    replayer.result.add(outcome)


# In the processes


class _Worker:
    """One process, which opens its target with the first trace that it judges, and another one after a target
    that failed."""

    def __init__(self, job: Job, enough: Event) -> None:
        self._job, self._enough, self._files = job, enough, Files()
        self._replayer: Replayer | None = None
        self._close: Callable[[], object] = lambda: None

    def replay(self, files: Sequence[Path]) -> list[Given]:
        """The results of files."""
        read = map(self._read, files)
        return [
            (None, one) if isinstance(one, Failed) else self._outcome(one, following)
            for one, following in with_following(read)
        ]

    def _read(self, file: Path) -> DecodedTrace | Failed:
        try:
            return self._files.read(file)
        except ConformError as error:
            return Failed(error.message, error.exit_code)

    def _outcome(self, trace: DecodedTrace, following: DecodedTrace | Failed | None) -> Given:
        if self._enough.is_set():
            return Outcome.unjudged(trace), None
        try:
            if self._replayer is None:
                opened = self._job.open()
                self._close = Finalize(None, opened.close, exitpriority=10)
                self._replayer = self._job.replayer(opened)
            known = None if isinstance(following, Failed) else following
            return self._replayer.outcome(trace, known), None
        except ConformError as error:
            stopped = self._replayer and self._replayer.stopped()
            self._replayer = None
            self._close()
            return stopped or Outcome.unjudged(trace), Failed(error.message, error.exit_code)


_worker: _Worker | None = None


def _begin(job: Job, enough: Event) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends this one
    for one in ending_signals():
        signal.signal(one, signal.SIG_DFL)
    gc.set_threshold(_COLLECTED_AFTER)
    _worker = _Worker(job, enough)


def _replay(files: Sequence[Path]) -> list[Given]:
    assert _worker is not None  # in the form of `_begin`
    return _worker.replay(files)
