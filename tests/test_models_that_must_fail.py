"""The models that must fail are in the manifest; their counterexamples are real runs of the coordinator."""

from __future__ import annotations

import json
from pathlib import Path

from harness.itf import read_trace
from harness.replay.files import replay_files, trace_files

ROOT = Path(__file__).parent.parent
COUNTEREXAMPLES = ROOT / "traces" / "counterexamples"


def test_every_assumption_has_a_model_without_it() -> None:
    """R7's exemption, R9, R8's fairness, the literal reading of R1, what tells static members apart (S2), and
    what members may still own as their group is converted (M1)."""
    entries = json.loads((ROOT / "spec" / "manifest.json").read_text())["models"]
    models = {entry["name"]: entry for entry in entries}
    for name, broken in {
        "MCNoExemption": "NoDoubleOwnershipEver",
        "MCNoR9": "NoDoubleOwnership",
        "MCLiveUnfair": "EventuallyConverged",
        "MCLiteral": "NeverBoth",
        "MCClassicStaticZombie": "NoDoubleOwnershipInAGeneration",
        "MCMigrationNoExemption": "NoDoubleOwnershipEver",
        "MCMigrationAssigned": "NoDoubleOwnership",
    }.items():
        assert models[name]["expect"]["property"] == broken


def test_a_late_acknowledgement_makes_two_owners_and_the_coordinator_cannot_know() -> None:
    """R9: the coordinator does as specified in every step, and at the end two members own a partition."""
    trace = COUNTEREXAMPLES / "MCNoR9.itf.json"
    last = read_trace(trace).states[-1]
    owned = [client["owned"] for client in last["clients"].values()]
    assert owned[0] & owned[1] and not last["zombies"]
    assert any(state["step"]["action"] == "LoseRequest" for state in read_trace(trace).states)


def test_counterexamples_replay_as_they_are() -> None:
    replayed = replay_files(trace_files([COUNTEREXAMPLES]), "python")
    assert replayed.traces == 2
    assert replayed.judged >= 8
    assert replayed.differences == 0
