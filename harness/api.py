"""The Python API of the kit, for programs and notebooks: read traces, replay them on an implementation.

    from harness import api as conform

    verdict = conform.replay("traces/golden", target="stdio:./coordinator")
    assert verdict.conforms, verdict

The names in `__all__` are public; all others may change with any version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeAlias

from harness.errors import ConformError
from harness.itf import Trace, read_trace
from harness.kit import kit_folder
from harness.replay.compare import Difference
from harness.replay.files import dialects_of, replay_files, spoken_dialect, trace_files
from harness.replay.report import budget_s, explain, summary, to_json
from harness.replay.run import ALL, Failure, Replayed
from harness.targets.base import Json
from harness.waivers import Waivers, read_waivers

__all__ = ["ConformError", "Difference", "Failure", "Trace", "Verdict", "read_trace", "replay", "traces"]

Places: TypeAlias = str | Path | Sequence[str | Path]
"""A file or folder, or several."""

FOLDERS: tuple[str, ...] = ("golden", "corpus")
"""The folders of the kit's traces that are replayed where none are named: those for every implementation."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a replay. `str` gives the summary and each failure in full.

    `result` has the counts: `traces`, `steps`, `judged`, `differences`, `ended_early`, `coverage`.
    """

    target: str
    dialect: str
    result: Replayed
    waivers: Waivers

    @property
    def conforms(self) -> bool:
        """Tell if all judged steps agree with the specification, and each waiver covers a difference."""
        return not self.failures and not list(self.waivers.problems())

    @property
    def failures(self) -> list[Failure]:
        """The steps with differences that no waiver covers, in the order of the traces."""
        return self.result.failures

    def to_json(self) -> Json:
        """The result as `conform replay --json` writes it."""
        return to_json(self.result, self.target, self.dialect, self.waivers)

    def lines(self) -> Iterator[str]:
        """The summary of `conform replay`, and each failure in full."""
        yield from summary(self.result, self.target, self.waivers)
        for failure in self.failures:
            yield from explain(failure, self.target, self.dialect, budget_s(self.result))
        yield from self.waivers.problems()

    def __str__(self) -> str:
        return "\n".join(self.lines())


def traces(places: Places | None = None) -> list[Path]:
    """List the files of traces in files and folders; by default those of the kit for every implementation.

    ConformError (exit code 2) where there are none.
    """
    if places is None:
        folder = kit_folder("traces")
        return trace_files([folder / name for name in FOLDERS])
    several = [places] if isinstance(places, str | Path) else places
    return trace_files([Path(place) for place in several])


def replay(
    places: Places | None = None,
    target: str = "python",
    *,
    dialect: str | None = None,
    waivers: str | Path | None = None,
    max_differences: int = ALL,
    jobs: int = 1,
    wait: float = 0,
    progress: Callable[[Replayed], None] = lambda _: None,
) -> Verdict:
    """Replay traces on a target, as `conform replay` does. Differences are in the verdict, not raised.

    `places` are files or folders of traces, `target` and `dialect` the names that `conform replay` takes;
    by default the dialect is the one of all traces. `waivers` is a TOML file. `progress` is called after each
    trace. `wait` is for a live broker: so many seconds in all for sessions and rebalance time-outs, which are
    made short. `jobs` processes replay side by side. ConformError: exit code 2 for a file that is not a trace
    or a number that makes no sense, 3 for a target that fails.
    """
    if jobs < 1:
        raise ConformError(f"jobs is a number of processes, 1 or more; not {jobs}.")
    if not wait >= 0:
        raise ConformError(f"wait is a number of seconds, 0 or more; not {wait:g}.")
    files = traces(places)
    spoken = spoken_dialect(dialect, dialects_of(files))
    accepted = read_waivers(None if waivers is None else Path(waivers), date.today())
    result = replay_files(
        files, target, spoken, max_differences, progress, accepted.covers, jobs=jobs, wait_s=wait
    )
    return Verdict(target, spoken, result, accepted)
