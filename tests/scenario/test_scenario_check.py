"""A difference from the written scenario is printed with its line; --rewrite changes that line and nothing
else."""

from __future__ import annotations

import difflib
import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from scenarios import GOLDEN, SMALL, SPEC, small
from typer.testing import CliRunner, Result

from harness.cli.main import app
from harness.engines.base import Limits, silent
from harness.errors import HOLDS, MODEL_VIOLATED, USAGE, ConformError
from harness.gate.run import Gate
from harness.gate.steps import GateOptions, Step
from harness.kinds.consumer.scenario.load import load_scenario
from harness.kinds.consumer.scenario.run import Played, play
from harness.kinds.consumer.scenario.write import rewritten
from harness.manifest import read_manifest
from harness.replay.files import replay_files
from harness.scenario.files import explain

ERRATUM = """\
errata:
  - {step: 2, where: a test, says: x, holds: y, uncorrected: {members: {B: {epoch: 0}}}}
  - {step: 2, where: no erratum, says: x, holds: y, uncorrected: {members: {B: {epoch: 2}}}}
"""
VARIANTS = {
    "as it is": ("", ""),
    "wrong": ("{epoch: 1, assignmentEpoch: 1", "{epoch: 3, assignmentEpoch: 1"),
    "response": ("response: {epoch: 2, assigned: []", "response: {epoch: 2, assigned: [foo-0]"),
    "missing": (SMALL[SMALL.rindex("    expect:") :], ""),
    "empty": (SMALL[SMALL.rindex("    expect:") :], "    bumped:\n    expect:\n"),
    "illegal": ("target: {A: [foo-0], B: [foo-1]}", "target: {A: [foo-0]}"),
    "no target": ("    target: {A: [foo-0, foo-1]}\n    expect", "    expect"),
    "impossible": ("- join: {member: B, subscription: [foo]}", "- session timeout: {member: B}"),
    "not due": ("- join: {member: B, subscription: [foo]}", "- heartbeat: {member: A, epoch: 1}"),
    "errata": ("\nsteps", f"{ERRATUM}\nsteps"),
}


@pytest.fixture(scope="module")
def played() -> Mapping[str, Played]:
    """All variants, by one run of TLC."""
    scenarios = [small(*change, name=f"{name}.yaml") for name, change in VARIANTS.items()]
    return dict(zip(VARIANTS, play(scenarios, SPEC), strict=True))


def test_a_scenario_as_written_holds(played: Mapping[str, Played]) -> None:
    assert played["as it is"].holds and list(explain(played["as it is"])) == []
    assert rewritten(SMALL, played["as it is"].scenario, played["as it is"].transcripts) == SMALL


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("wrong", "line 9: after step 1: group epoch: the file has 3, the specification gives 1"),
        (
            "response",
            "line 17: after step 2: response assigned: the file has [foo-0], the specification gives []",
        ),
        ("missing", "line 15: step 2 has a state that is not written yet: conform scenario --rewrite"),
        ("empty", "line 15: step 2 has a state that is not written yet"),
        (
            "illegal",
            "line 15: the specification has no step 2 (join: {member: B, subscription: [foo]}): "
            "its target may not be legal (A4: ",
        ),
        (
            "no target",
            "line 7: the specification has no step 1 (join: {member: A, subscription: [foo]}): a new target",
        ),
        (
            "impossible",
            "line 15: the specification has no step 2 (session timeout: {member: B}): it may not be",
        ),
        ("not due", "line 15: step 2 says a target, but no new target is due there"),
        ("errata", "line 7: the specification does not reject the uncorrected state (no erratum)"),
    ],
)
def test_a_wrong_expectation_is_reported_with_its_line(
    name: str, sentence: str, played: Mapping[str, Played]
) -> None:
    assert not played[name].holds
    assert f"{name}.yaml, {sentence}" in "\n".join(explain(played[name]))


@pytest.mark.parametrize("name", ["wrong", "response", "missing"])
def test_rewriting_restores_what_was_changed(name: str, played: Mapping[str, Played]) -> None:
    changed = SMALL.replace(*VARIANTS[name], 1)
    assert rewritten(changed, played[name].scenario, played[name].transcripts) == SMALL


def test_rewriting_writes_the_states_that_are_named_and_empty(played: Mapping[str, Played]) -> None:
    text = SMALL.replace(*VARIANTS["empty"], 1)
    new = rewritten(text, played["empty"].scenario, played["empty"].transcripts)
    bumped = [
        "    bumped:",
        "      group: {epoch: 2, assignmentEpoch: 1, state: Assigning}",
        "      target: {A: [foo-0, foo-1], B: []}",
        "      members:",
        "        A: {epoch: 1, partitions: [foo-0, foo-1], pending: []}",
        "        B: {epoch: 0, partitions: [], pending: []}",
    ]
    assert [line for line in difflib.ndiff(SMALL.splitlines(), new.splitlines()) if line[0] in "+-"] == [
        f"+ {line}" for line in bumped
    ]


def test_rewriting_keeps_comments_and_layout() -> None:
    own = SMALL.replace(
        "{A: [foo-0], B: [foo-1]}\n", "{A: foo-0, B: foo-1}  # by hand\n\n    # a comment\n", 1
    )
    own = own.replace("state: Stable", "state: Empty") + "\n# the end\n"
    start, right, end = own.rpartition("A: {epoch: 1, partitions: [foo-0, foo-1], pending: []}")
    own = f"{start}A: {{pending: [], partitions: foo-0..1, epoch: 1}}{end}" if right else ""
    placed = play([load_scenario(Path("x.yaml"), own)], SPEC)[0]
    assert rewritten(own, placed.scenario, placed.transcripts) == own.replace("state: Empty", "state: Stable")


def conform(*args: str) -> Result:
    return CliRunner().invoke(app, [*args])


def test_the_command_checks_rewrites_and_replays(tmp_path: Path) -> None:
    """A file without transcripts: not as written, then rewritten with its trace, then as written."""
    file, result_file = tmp_path / "new.yaml", tmp_path / "result.json"
    file.write_text("".join(line for line in SMALL.splitlines(True) if not line.startswith("      ")))
    text = file.read_text().replace("    expect:\n", "")
    file.write_text(text)
    rewrite = conform(
        "scenario",
        str(file),
        "--manifest",
        str(SPEC / "manifest.json"),
        "--rewrite",
        "--target",
        "python",
        "--json",
        str(result_file),
    )
    assert rewrite.exit_code == HOLDS, rewrite.output
    assert file.read_text() == SMALL
    assert f"rewritten: {file}\nrewritten: {tmp_path / 'new.itf.json'}\n" in rewrite.output
    assert "1 trace, 2 steps, 2 of them on python" in rewrite.output
    model = json.loads(result_file.read_text())["models"][0]
    assert (model["outcome"], model["distinct_states"], model["as_expected"]) == ("holds", 3, True)
    assert replay_files([file], "python").judged == 2


def test_the_command_tells_and_writes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    changed = SMALL.replace(*VARIANTS["wrong"], 1)
    file.write_text(changed)
    result = conform(
        "scenario", str(tmp_path), "--manifest", str(SPEC / "manifest.json"), "--target", "python"
    )
    assert result.exit_code == MODEL_VIOLATED
    assert "group epoch: the file has 3, the specification gives 1" in result.output
    assert "steps" in result.output and "of them on python" not in result.output
    assert file.read_text() == changed and [path.name for path in tmp_path.iterdir()] == ["wrong.yaml"]


def test_the_gate_checks_scenarios(tmp_path: Path) -> None:
    """A scenario that is not as written fails the gate, and so does a trace of another scenario beside it."""
    folder = tmp_path / "traces" / "golden"
    folder.mkdir(parents=True)
    (folder / "wrong.yaml").write_text(SMALL.replace(*VARIANTS["wrong"], 1))
    (folder / "stale.yaml").write_text(SMALL)
    shutil.copy(GOLDEN / "basic.itf.json", folder / "stale.itf.json")
    manifest = read_manifest(SPEC / "manifest.json")
    gate = Gate(GateOptions(manifest, folder.parent, tmp_path, 600, limits=Limits("1g")))
    assert Step("scenario", "golden") in gate.steps()
    done = gate.run(Step("scenario", "golden"), silent)
    assert done.exit_code == MODEL_VIOLATED
    assert done.message.startswith("2 scenarios, 0 uncorrected states: 2 differences")
    assert "stale.itf.json is stale: it starts from another state" in done.message


def test_the_command_line_is_explained(tmp_path: Path) -> None:
    for arguments, sentence in [
        (("scenario",), "No scenarios were given"),
        (("scenario", str(tmp_path)), "There are no scenarios (*.yaml) in"),
        (("scenario", "x.json"), "x.json is no scenario: their names end with .yaml"),
        (("scenario", "x.yaml", "--from", "y"), "--from prints one trace"),
    ]:
        result = conform(*arguments)
        assert result.exit_code == USAGE and sentence in result.output, result.output
    with pytest.raises(ConformError, match=r"There is no .*Golden\.tla: run in the repository's folder"):
        play([small()], tmp_path)
