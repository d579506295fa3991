"""A real process killed with SIGKILL (P3); a thousand kills are made by `make soak`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sigkill import Tally, evidence, hashes, kill_again_and_again

from harness.sources import verify


def test_killed_coordinator_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    tally = kill_again_and_again(30, 4, tmp_path)
    assert tally.counts["killed with operations under way"] >= 10
    assert tally.counts["operations answered"] >= 100


def test_evidence_counts_only_for_the_sources_that_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "Sigkill.json"
    assert verify(path, hashes()) == 12
    result = evidence(1, 2, Tally(), 0.5)
    path.write_text(json.dumps(result))
    assert (verify(path, hashes()), result["kills"], result["seed"]) == (0, 1, 2)
    result["files"]["coordinator/core/log.py"] = "other"
    path.write_text(json.dumps(result))
    capsys.readouterr()
    assert verify(path, hashes()) == 12
    assert capsys.readouterr().out == "stale: changed since are coordinator/core/log.py\n"
