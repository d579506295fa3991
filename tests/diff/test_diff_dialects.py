"""The worked example, with one member: fencing that removes the member, or not (H5)."""

from __future__ import annotations

import shutil
from pathlib import Path

from lights import diff

from harness.itf import read_trace
from harness.replay.dialects import forms_of

SPEC = Path(__file__).parents[2] / "spec"


def spec_with_one_member(folder: Path) -> Path:
    """A copy of the specification with the model OneMember: MCTour with m1 alone, without properties."""
    shutil.copytree(SPEC, folder, ignore=shutil.ignore_patterns("evidence"))
    (folder / "OneMember.tla").write_text(
        '---- MODULE OneMember ----\nEXTENDS MCTour\nOneMember == {"m1"}\n====\n'
    )
    config = (folder / "MCTour.cfg").read_text().replace("<- MCMemberIds", "<- OneMember")
    (folder / "OneMember.cfg").write_text(config[: config.index("INVARIANTS")])
    return folder / "manifest.json"


def test_fencing_that_removes_the_member_or_not(tmp_path: Path) -> None:
    manifest = spec_with_one_member(tmp_path / "spec")
    changed = "kip-848,FencedMemberIsRemoved=FALSE"
    _, data, output = diff(tmp_path, "kip-848", changed, "--model", "OneMember", "--manifest", str(manifest))
    (constant,) = data["constants"]
    assert (constant["name"], constant["a"], constant["b"]) == ("FencedMemberIsRemoved", "TRUE", "FALSE")
    assert (data["edits"], data["configuration"]) == ([], [])
    (model,) = data["models"]
    (kind,) = model["kinds"]
    assert (kind["action"], kind["ways_a"], kind["ways_b"]) == (
        "Heartbeat",
        ["fenced FENCED_MEMBER_EPOCH"],
        ["fenced FENCED_MEMBER_EPOCH"],
    )
    assert (kind["requirements"], kind["about"]) == (["H5", "E4"], ["who is a member"])
    assert model["inputs"]["changed"] == model["actions"]["Heartbeat"]["changed"] == kind["inputs"]
    assert kind["example"]["input"] == "Heartbeat of m1 with epoch 2 (it has 1)"
    removed, kept = (kind["example"][side][0] for side in "ab")
    assert removed["answer"] == kept["answer"] == "FENCED_MEMBER_EPOCH"
    assert {"effect": "m1 is removed from the group", "in_both": False} in removed["effects"]
    assert kept["effects"] == [{"effect": "nothing changes", "in_both": False}]
    trace = read_trace(Path(kept["trace"]))
    assert forms_of(trace, "kept").name == "kip-848"  # the dialect that a replay takes it for
    assert trace.meta["constants"]["DialectChanged"] == {"FencedMemberIsRemoved": "FALSE"}
    assert "no properties are checked" in output
