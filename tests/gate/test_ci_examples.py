"""The action for GitHub and the job for GitLab do what the workflow does, which test_installed.py runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import yaml

CI = Path(__file__).parents[2] / "examples" / "ci"


def read(name: str) -> Any:
    """An example, as its program reads it."""
    return yaml.safe_load((CI / name).read_text())


def commands_of_the_workflow() -> list[list[str]]:
    """The words of the commands that the workflow runs: build, install, gate."""
    steps = read("workflow.yml")["jobs"]["gate"]["steps"]
    return [shlex.split(step["run"]) for step in steps if "run" in step]


def test_the_action_installs_and_gates_as_the_workflow() -> None:
    action = read("action.yml")
    assert [name for name, one in action["inputs"].items() if one.get("required")] == ["target"]
    given = {name: one.get("default", "") for name, one in action["inputs"].items()}
    steps = [step for step in action["runs"]["steps"] if "run" in step]
    texts = [
        re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: given[match[1]], step["run"]) for step in steps
    ]
    _, install, gate = commands_of_the_workflow()
    target = gate[gate.index("--target") + 1]
    assert steps[1]["env"] == {"TARGET": "${{ inputs.target }}"}, "a target is no part of a shell's command"
    assert [shlex.split(text.replace("$TARGET", target)) for text in texts] == [install, gate]


def test_the_job_of_gitlab_builds_installs_and_gates_as_the_workflow() -> None:
    job = read("gitlab.yml")["conformance"]
    build, install, gate = commands_of_the_workflow()
    *_, installs = job["before_script"]
    builds, gates = job["script"]
    assert shlex.split(installs.removeprefix(".conform/bin/")) == install
    assert shlex.split(builds) == build
    words = shlex.split(gates.removeprefix(".conform/bin/"))
    assert words[: len(gate)] == gate
    reports = job["artifacts"]["reports"]
    assert words[len(gate) :] == ["--code-quality", reports["codequality"]]
    out = words[words.index("--out") + 1]
    assert (job["artifacts"]["paths"], reports["junit"]) == ([out], f"{out}/gate.xml")
