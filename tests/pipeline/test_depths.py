"""Depths of states are those of shortest ways, whatever way TLC noted."""

from __future__ import annotations

import re
from pathlib import Path

from pipeline_runs import rows, run


def test_notes_of_ways_that_are_too_long_are_corrected(dot: Path, tmp_path: Path) -> None:
    """TLC with several workers may note any way. Here it notes too long a way to each state but the initial
    ones; nothing else in the tables depends on the notes."""
    noted = run(tmp_path / "noted", files=[dot])
    changed = tmp_path / dot.name
    changed.write_text(re.sub(r"(?<=conformDepth = )[1-9]\d*", lambda depth: f"{depth[0]}9", dot.read_text()))
    corrected = run(tmp_path / "corrected", files=[changed])
    assert noted.result.holds and corrected.result.digests == noted.result.digests
    depths = {row["depth"] for row in rows(noted.place, "states")}
    assert depths == set(range(len(depths))) and len(depths) > 3


def test_a_state_of_a_damaged_dump_to_which_no_way_leads_has_the_depth_of_its_note(
    dot: Path, tmp_path: Path
) -> None:
    """Else the state would pass for an initial one."""
    every = dot.read_text().splitlines(keepends=True)
    states = [re.match(r"-?\d+", line) for line in every if "conformLeaf = FALSE" in line]
    [node] = [state[0] for state in states[-1:] if state]
    damaged = tmp_path / "damaged.dot"
    damaged.write_text("".join(line for line in every if f"-> {node} " not in line))
    [note] = re.findall(rf"^{node} \[label=.*conformDepth = (\d+)", "".join(every), re.MULTILINE)
    run(tmp_path / "out", files=[damaged])
    depths = sorted(row["depth"] for row in rows(tmp_path / "out", "depths") if str(row["node"]) == node)
    assert depths == [int(note)] and depths[0] > 0
