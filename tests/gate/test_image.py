"""The image's build and the container of developers: their parts are those that the kit has."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from wheel_parts import PARTS

from harness.cli.main import VERBS

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
STAGES = re.split(r"^FROM ", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)[1:]


def instructions(stage: str, name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", stage, re.MULTILINE)


def test_the_wheel_of_the_image_is_built_from_what_the_tested_wheel_is_built_from() -> None:
    copied = [word for line in instructions(STAGES[0], "COPY") for word in line.split()[:-1]]
    assert sorted(copied) == sorted(PARTS)
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert ignored[1] == "*"
    assert sorted(line[1:] for line in ignored if line.startswith("!")) == sorted(PARTS)


def test_the_image_installs_extras_that_there_are_and_runs_conform_as_no_root() -> None:
    (extras,) = instructions(STAGES[1], "ARG")
    assert set(extras.removeprefix("EXTRAS=").split(",")) <= set(PROJECT["optional-dependencies"])
    assert json.loads(instructions(STAGES[1], "ENTRYPOINT")[0]) == [next(iter(PROJECT["scripts"]))]
    assert instructions(STAGES[1], "USER") == ["1000"]
    after = STAGES[1].split("\nUSER ")[1]
    assert "pip install" not in after and "apt-get" not in after
    page = (ROOT / "docs/install.md").read_text()
    runs = re.findall(r"^docker run .* conform (\w+)", page, re.MULTILINE)
    assert runs and set(runs) <= set(VERBS)


def test_every_python_is_one_that_the_kit_takes() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    oldest = tuple(map(int, PROJECT["requires-python"].removeprefix(">=").split(".")))
    images = [*(stage.split()[0] for stage in STAGES), container["image"]]
    results = [re.search(r"python:(\d+)\.(\d+)", image) for image in images]
    assert all(version and tuple(map(int, version.groups())) >= oldest for version in results), images


def test_the_container_of_developers_does_what_make_does() -> None:
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    command = container["onCreateCommand"]
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert re.findall(r"make (\w+)", command) == ["setup"] and "setup" in targets
    java = container["features"]["ghcr.io/devcontainers/features/java:1"]["version"]
    assert int(java) >= 17
    assert container["remoteEnv"]["PATH"].startswith("${containerWorkspaceFolder}/.venv/bin:")
