"""The page of findings about clients: its table is that of the files, each with its picture."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.clients.judge import RULES
from harness.clients.run import in_words

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/clients/findings"
FILES = sorted(FOLDER.rglob("*.json"))
PAGE = (ROOT / "docs/findings.md").read_text()
PICTURES = ROOT / "docs/pictures/findings"
NAMES = {"platformatic": "@platformatic/kafka"}
AGAIN = re.compile(r'^conform client --agent ".*librdkafka.*$', re.MULTILINE)
"""The command of the page that runs a schedule with its client."""


def finding(file: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(file.read_text())
    return results


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_each_finding_has_its_row_and_its_picture(file: Path) -> None:
    one = finding(file)
    assert (file.parent.name, file.stem) == (one["client"], one["rule"])
    steps = ", ".join(f"`{in_words(step)}`" for step in one["schedule"])
    steps += ", with an instance id" if one["instance"] else ""
    client = f"{NAMES.get(one['client'], one['client'])} {one['version']}"
    assert f"| {client} | [{one['rule']}](#{one['rule'].lower()}) | {steps} | {one['kind']} |\n" in PAGE
    picture = f"{one['client']}-{one['rule']}.svg"
    assert f"![{client}: {one['rule']}](pictures/findings/{picture})" in PAGE
    svg = (PICTURES / picture).read_text()
    assert f"{client}: {one['requirement']} {one['rule']}<" in svg
    assert one["message"] in svg


def test_the_table_of_rules_has_these_findings_and_no_others() -> None:
    """A column for each client, a row for each rule."""
    clients = ["librdkafka", "kafka-clients", "franz-go", "platformatic"]
    cells = re.findall(r"^\| ([A-Z]\d+) \| (\w+) \| (.*) \|$", PAGE, re.MULTILINE)
    rows = {rule: (requirement, verdicts.split(" | ")) for requirement, rule, verdicts in cells}
    assert {rule.__name__: rule.requirement for rule in RULES} == {
        rule: requirement for rule, (requirement, _) in rows.items()
    }
    broken = {
        (client, rule)
        for rule, (_, verdicts) in rows.items()
        for client, verdict in zip(clients, verdicts, strict=True)
        if verdict == "**broken**"
    }
    assert broken == {(one["client"], one["rule"]) for one in map(finding, FILES)}
    assert {path.name for path in PICTURES.iterdir()} == {f"{client}-{rule}.svg" for client, rule in broken}


def test_a_schedule_of_the_page_shows_the_finding_with_its_client() -> None:
    pytest.importorskip("confluent_kafka", reason="librdkafka (confluent-kafka) is not installed")
    [command] = AGAIN.findall(PAGE)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = [*shlex.split(command)[1:], "--no-kept"]
    ended = subprocess.run(
        [sys.executable, "-m", "harness", *words],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 11, ended.stderr
    assert "O4 RepeatsStaleCommit: A stale commit of the application is repeated" in ended.stdout
