"""The step of the gate that exhausts a small model on the target."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from pipeline_runs import LIMITS, SPEC, faulty

from harness.engines.base import Model, silent
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT
from harness.gate.run import Gate
from harness.gate.steps import Done, GateOptions
from harness.manifest import Manifest, read_manifest

DEPARTS = """
import sys
from coordinator import Coordinator
from coordinator.core.dialect import Dialect
from coordinator.stdio import serve

for answer in serve(Coordinator(dialect=Dialect(UnknownGroupError="GROUP_ID_NOT_FOUND")), sys.stdin):
    print(answer, flush=True)
"""


def gated(target: str, model: Model, place: Path) -> Done:
    """The step of the gate with the model in the place of MCTour."""
    entry = read_manifest(SPEC / "manifest.json").entry("MCTour")
    manifest = Manifest(SPEC, (replace(entry, module=model.module, config=model.config),))
    kinds = frozenset({"exhaust"})
    gate = Gate(GateOptions(manifest, place, place, 600, target=target, limits=LIMITS, kinds=kinds))
    (done,) = (gate.run(step, silent) for step in gate.steps() if not step.left_out)
    return done


def test_states_that_are_loaded_wrongly_are_a_fault_of_the_adapter(model: Model, tmp_path: Path) -> None:
    done = gated(faulty("lossy"), model, tmp_path)
    assert (done.exit_code, done.details["failed"]) == (ENGINE_FAILED, 0)
    assert "did not load" in done.message and "The adapter is to blame" in done.message


def test_a_departing_target_fails_and_no_earlier_run_counts(model: Model, tmp_path: Path) -> None:
    """The target answers GROUP_ID_NOT_FOUND where KIP-848's text has UNKNOWN_MEMBER_ID (H5)."""
    program = tmp_path / "departs.py"
    program.write_text(DEPARTS)
    left = tmp_path / "exhaust" / "MCTour" / "left-by-another-run"
    left.mkdir(parents=True)
    target = f"stdio:{sys.executable} {program}"
    done = gated(target, model, tmp_path)
    assert (done.step.name, done.exit_code) == ("MCTour", NOT_CONFORMANT), done.message
    facts = done.details
    assert facts["steps"] > 500 > facts["failed"] > 0
    first, finding, *_ = done.message.splitlines()
    assert (
        first == f"{facts['steps']} steps over {facts['states']} states on {target}, {facts['failed']} differ"
    )
    assert finding.startswith("H5: ") and "UNKNOWN_MEMBER_ID: response.errorCode" in finding
    assert not left.exists()
