"""The simulation finds bugs: seeded ones of tests/mutants, in the coordinator and in the members."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.mutate.patches import FOLDER, apply_patch, read_patch

ROOT = Path(__file__).parents[3]
EVENTS = 2_500


def first_finding(mutant: str, folder: Path, first: int = 0, seeds: int = 3) -> dict[str, Any]:
    """The first finding of few seeds on a copy of the coordinator and the members with a bug."""
    shutil.copytree(
        ROOT / "coordinator", folder / "coordinator", ignore=shutil.ignore_patterns("__pycache__")
    )
    (path,) = (ROOT / FOLDER / "coordinator").glob(f"{mutant}-*.patch")
    apply_patch(read_patch(path), folder)
    program = str(Path(__file__).with_name("seeded_members.py"))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, program, str(first), str(seeds), str(EVENTS)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize(
    ("mutant", "requirement", "invariant", "most"),
    [
        ("09", "E1", "EpochBumpedExactly", 10),
        ("20", "R1", "ReleasedOnlyByAcknowledgement", 15),
        ("24", "R7", "HeldDisjoint", 15),
        ("113", "H3", "MembersAskRightly", 20),
        ("120", "K1", "AbandonsAtOnce", 15),
    ],
)
def test_a_seeded_bug_is_caught_and_its_schedule_shrunk(
    mutant: str, requirement: str, invariant: str, most: int, tmp_path: Path
) -> None:
    """Within few thousand events; the schedule has no more events than that."""
    result = first_finding(mutant, tmp_path)
    assert (result["requirement"], result["invariant"]) == (requirement, invariant)
    assert result["shortest"] <= most, result


@pytest.mark.parametrize(
    ("mutant", "requirement", "invariant", "first"),
    [("182", "A6", "LegalIsInstalled", 20), ("183", "A5", "OnlyTheChosen", 9)],
)
def test_a_seeded_bug_in_client_side_assignment_is_caught(
    mutant: str, requirement: str, invariant: str, first: int, tmp_path: Path
) -> None:
    """In a group whose processes offer client-side assignors."""
    result = first_finding(mutant, tmp_path, first, 1)
    assert (result["requirement"], result["invariant"]) == (requirement, invariant)
