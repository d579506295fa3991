"""Depths of states are those of shortest ways, whatever way TLC noted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pipeline_runs import Ran, rows, run


@pytest.fixture(scope="module")
def noted(dot: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run on the dump as TLC wrote it with one worker."""
    return run(tmp_path_factory.mktemp("noted"), files=[dot])


@pytest.mark.parametrize("times", [2, 4])
def test_notes_of_ways_that_are_too_long_are_corrected(
    noted: Ran, dot: Path, tmp_path: Path, times: int
) -> None:
    """TLC with several workers may note any way. Here it notes too long a way to each state but the initial
    ones; nothing else in the tables depends on the notes."""
    changed = tmp_path / dot.name
    changed.write_text(re.sub(r"(?<=conformDepth = )\d+", lambda n: str(int(n[0]) * times), dot.read_text()))
    corrected = run(tmp_path / "out", files=[changed])
    assert noted.result.holds
    assert corrected.result.digests == noted.result.digests
    depths = {row["depth"] for row in rows(noted.place, "states")}
    assert depths == set(range(len(depths))) and len(depths) > 3
