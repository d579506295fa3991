"""The speed at which traces are decoded and replayed in one process; for `make bench`, never for a test."""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from harness.itf import read_trace
from harness.replay.decode import Decoder
from harness.replay.run import Replayer
from harness.targets import open_target


@dataclass(frozen=True)
class ReplaySpeed:
    """Seconds of wall clock: reading ITF, preparing steps, and the fastest replay with all comparisons.

    `processor_s` are the fewest processor seconds of a replay, of this process and of the target's with its
    start: the figure to compare on a machine that has other work, too.
    """

    target: str
    traces: int
    target_steps: int
    differences: int
    read_s: float
    decode_s: float
    replay_s: float
    processor_s: float

    @property
    def steps_per_processor_s(self) -> float:
        """Steps per second of processor time, of all processors together."""
        return self.target_steps / self.processor_s

    @property
    def steps_per_s(self) -> float:
        """Target-calling steps a second, all comparisons included."""
        return self.target_steps / self.replay_s


def measure(
    files: Sequence[Path], target: str = "python", rounds: int = 3, dialect: str = "kip-848"
) -> ReplaySpeed:
    """Replay the traces `rounds` times on one target, started anew each time, and take the fastest."""
    start = time.perf_counter()
    traces = [read_trace(file) for file in files]
    read = time.perf_counter()
    decoder = Decoder()
    decoded = [decoder.decode(trace, str(file)) for trace, file in zip(traces, files, strict=True)]
    prepared = time.perf_counter()
    seconds, processor = [], []
    for _ in range(rounds):
        spent = _processor_s()
        with closing(open_target(target, dialect)) as opened:
            replayer = Replayer(opened, max_differences=1)
            begin = time.perf_counter()
            for trace, following in zip(decoded, [*decoded[1:], None], strict=True):
                replayer.replay(trace, following)
            seconds.append(time.perf_counter() - begin)
        processor.append(_processor_s() - spent)
    result = replayer.result
    counts = result.traces, result.judged, result.differences
    return ReplaySpeed(target, *counts, read - start, prepared - read, min(seconds), min(processor))


def _processor_s() -> float:
    """Processor seconds of this process, and of ended processes that it started."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)
