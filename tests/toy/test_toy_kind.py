"""A sixth kind of group takes two folders and a line in each registry: no verb of the kit knows of it.

The kind is tests/toy. It is put into a copy of the kit, and the verbs are run there as programs.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from assembled import LINES, ROOT, assemble, conform

SCENARIO = "traces/golden/toy/two-members.yaml"
RIGHT = "epoch = self.groups[request.group_id].epoch"


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kit")
    assemble(folder)
    return folder


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Assemble a kit whose coordinator answers the join of a toy group with an epoch that is 1 too high."""
    assemble(tmp_path)
    service = tmp_path / "coordinator/toy/service.py"
    text = service.read_text()
    assert RIGHT in text
    service.write_text(text.replace(RIGHT, f"{RIGHT} + 1"))
    return tmp_path


def done(kit: Path, *words: str) -> str:
    ran = conform(kit, *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def test_only_registries_are_changed() -> None:
    """The kit itself has nothing of the toy, and each file that gets a line is a registry."""
    for folder in ("harness", "coordinator"):
        for path in (ROOT / folder).rglob("*.py"):
            assert "toy" not in path.read_text().lower().replace("history", ""), path
    assert all(file.startswith(("harness/kinds/", "coordinator/")) for file in LINES)
    assert all(len(file.split("/")) <= 3 for file in LINES), "no file in the folder of another kind"


def test_replay_and_validate(kit: Path) -> None:
    assert "8 steps, 8 of them on python" in done(kit, "replay", "traces/golden", "--record", "log.jsonl")
    assert "0 differences" in done(kit, "replay", "traces/toy")
    assert "a behaviour of the specification" in done(kit, "validate", "log.jsonl")


def test_a_wrong_step_fails_and_is_drawn(broken: Path) -> None:
    """In replay, validate, and on the report's page, with the toy's own diagram."""
    words = ("replay", "traces/golden", "--record", "log.jsonl", "--json", "build/results/replay.json")
    ran = conform(broken, *words)
    assert ran.returncode == 11, ran.stdout + ran.stderr
    assert "response.memberEpoch" in ran.stdout
    ran = conform(broken, "validate", "log.jsonl")
    assert ran.returncode == 11, ran.stdout + ran.stderr
    assert "response.epoch" in ran.stdout
    conform(broken, "report", "--results", "build")
    page = (broken / "build/report/index.html").read_text()
    assert "toy heartbeat 0" in page
    assert "ToyJoin" in page


def test_scenario(kit: Path) -> None:
    assert "as written" in done(kit, "scenario", SCENARIO, "--target", "python")
    wrong = kit / "traces/wrong.yaml"
    wrong.write_text((kit / SCENARIO).read_text().replace("epoch: 4}", "epoch: 5}"))
    ran = conform(kit, "scenario", str(wrong))
    assert ran.returncode == 10, ran.stdout + ran.stderr
    assert "the specification gives 4" in ran.stdout


def test_graph(kit: Path) -> None:
    assert "34 states" in done(kit, "graph", "MCToy")
    assert "toy epoch 4" in (kit / "build/graphs/MCToy.svg").read_text()
    done(kit, "graph", "--trace", SCENARIO.replace(".yaml", ".itf.json"), "--sequence")
    assert "toy heartbeat 1" in (kit / "build/graphs/two-members-sequence.svg").read_text()


def test_gate(kit: Path) -> None:
    """Replays the toy's folder of traces beside those of other kinds, and checks its model."""
    folders = ("golden", "counterexamples", "corpus", "members", "classic", "cooperative", "connect")
    for name in (*folders, "migration", "client", "admission", "share"):
        trace = min((ROOT / "traces" / name).rglob("*.itf.json"), key=lambda path: path.stat().st_size)
        (kit / "traces" / name).mkdir(exist_ok=True)
        shutil.copy(trace, kit / "traces" / name / trace.name)
    done(kit, "gate", "--only", "replay,scenario,check", "--fresh")
    results = json.loads((kit / "build/gate/gate.json").read_text())
    steps = {(one["kind"], one["name"]): one for one in results["steps"]}
    assert steps["replay", "toy"]["exit_code"] == 0
    assert steps["check", "MCToy"]["exit_code"] == 0
    assert steps["scenario", "golden"]["exit_code"] == 0


@pytest.mark.sparks
def test_exhaust(kit: Path) -> None:
    report = done(kit, "exhaust", "MCToy", "--target", "python")
    assert "414 steps over 34 coordinator states hold" in report
