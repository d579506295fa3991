"""The first step with a target that nobody has described: its dialect, and the traces of that."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from harness.identify.judge import Identified, identify
from harness.identify.probes import read_probes
from harness.kit import kit_folder
from harness.replay.dialects import traces_of
from harness.targets import open_unchecked


def identified(target: str, progress: Callable[[str], None] = lambda _: None) -> Identified:
    """The dialect of the target with that name. ConformError as of `open_unchecked` and `identify`."""
    with closing(open_unchecked(target)) as opened:
        return identify(opened, read_probes(), progress)


def own_traces(dialect: str) -> list[Path]:
    """The folders of traces of a dialect; departures of the target's own do not count."""
    return [kit_folder("traces") / Path(name).relative_to("traces") for name in traces_of(dialect)]
