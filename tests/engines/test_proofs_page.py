"""Claims of docs/proofs.md about proofs, against the manifest."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.engines.base import Outcome
from harness.manifest import Entry, read_manifest

ROOT = Path(__file__).parents[2]
ENTRIES = read_manifest(ROOT / "spec" / "manifest.json").entries
PAGE = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
PROOFS = sorted(set(re.findall(r"`(Proof\w*(?:\d|Three))`", PAGE)))


def parts_of(proof: str) -> dict[str, Entry]:
    """Part -> entry of a proof; an entry belongs to the proof with the longest name that begins its name."""
    names = [entry for entry in ENTRIES if entry.name.startswith(proof)]
    longer = tuple(other for other in PROOFS if other.startswith(proof) and other != proof)
    return {entry.name.removeprefix(proof): entry for entry in names if not entry.name.startswith(longer)}


def test_the_page_names_every_proof_of_the_manifest() -> None:
    parts = {entry.name for entry in ENTRIES if entry.name.startswith("Proof")}
    assert not [part for part in parts if not any(part.startswith(proof) for proof in PROOFS)]


@pytest.mark.parametrize("proof", PROOFS)
def test_a_proof_has_base_step_and_a_control_that_must_fail(proof: str) -> None:
    parts = parts_of(proof)
    assert {"Base", "Step"} <= parts.keys()
    controls = [entry for part, entry in parts.items() if part.startswith("Control")]
    assert controls
    assert all(entry.outcome is Outcome.VIOLATED for entry in controls)


@pytest.mark.parametrize("proof", [proof for proof in PROOFS if proof.startswith("ProofShapes")])
def test_a_closed_proof_starts_from_what_it_shows(proof: str) -> None:
    """The step of a closed proof checks the shapes that its initial states are generated with."""
    parts = {part: entry.args for part, entry in parts_of(proof).items()}
    checked = parts["Step"]["inv"]
    assert checked == parts["Base"]["inv"]
    module = "OpenShapes" if "Open" in proof else "ClosedShapes"
    text = (ROOT / "spec" / f"{module}.tla").read_text(encoding="utf-8")
    assert re.search(rf"^{checked} ==.*\bShapes\b|^Shapes ==", text, re.MULTILINE)
    if "Open" not in proof:
        generated = text.partition(f"{parts['Step']['init']} ==")[2].partition("\n\n")[0]
        assert f"/\\ {checked}" in generated


@pytest.mark.parametrize("proof", ["ProofOffsets1", "ProofOffsets2"])
def test_the_proof_of_commits_starts_from_what_it_and_the_closed_proof_show(proof: str) -> None:
    parts = {part: entry.args for part, entry in parts_of(proof).items()}
    text = (ROOT / "spec" / "OffsetsInvariant.tla").read_text(encoding="utf-8")
    assert "OffsetInv == ShapedInv /\\ Fence" in text
    generated = text.partition(f"{parts['Step']['init']} ==")[2].partition("\n\n")[0]
    assert "/\\ ShapedInit" in generated and "/\\ OffsetInv" in generated
    assert (parts["Step"]["inv"], parts["Base"]["inv"]) == ("Fence", "OffsetInv")
    assert (parts["Frame"]["inv"], parts["Frame"]["next"]) == ("CommitsLeaveInv", parts["Step"]["next"])
    assert any(entry.name == "ProofShapes2Step" and entry.args["inv"] == "ShapedInv" for entry in ENTRIES)


@pytest.mark.parametrize("proof", [proof for proof in PROOFS if proof.startswith("ProofKafka")])
def test_the_proof_of_a_dialect_of_kafka_starts_from_what_it_shows(proof: str) -> None:
    parts = parts_of(proof)
    text = (ROOT / "spec" / "LaggingInvariant.tla").read_text(encoding="utf-8")
    step = parts["Step"].args
    invariant, generated = (
        text.partition(f"\n{name} ==")[2].partition("\n\n")[0] for name in (step["inv"], step["init"])
    )
    assert (step["next"], step["length"], parts["Base"].args["inv"]) == ("Next", 1, step["inv"])
    if proof.startswith("ProofKafka40"):  # a condition more, over the others
        assert (invariant, generated) == (" LagInv /\\ NextEpochIsThere", " LagInit /\\ NextEpochIsThere")
    else:
        assert "/\\ Shapes" in invariant and f"/\\ {step['inv']}" in generated
    assert parts["Implies"].args["inv"] == "LagSafe"
    config = (ROOT / "spec" / str(parts["Step"].config)).read_text(encoding="utf-8")
    assert f"Dialect <- {proof.removeprefix('Proof').removesuffix('Three')}" in config
    members = "Members3" if proof.endswith("Three") else "Members2"
    assert f"MemberIds <- {members}" in config
