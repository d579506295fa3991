"""Clients by rules and implementations by requirements in the report, and the verdict on another team's
implementation."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from results_folder import GOLDEN, ROOT, good_build, replayed, write, wrong_trace
from typer.testing import CliRunner

from harness.cli.main import app
from harness.clients.judge import RULES
from harness.errors import EVIDENCE_MISSING, NOT_CONFORMANT
from harness.report.pages import pages
from harness.report.readers.client import recorded
from harness.report.results import Results, read_results
from harness.report.tables import Cell, Table, clients, implementations

RECORD = ROOT / "spec" / "evidence" / "Clients.json"
RULED = {rule.__name__: (rule.requirement, rule.sentence) for rule in RULES}


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """`conform client --json` of a client that closes without a leave."""
    file = tmp_path_factory.mktemp("judged") / "client.json"
    ended = subprocess.run(
        [
            *(sys.executable, "-m", "harness", "client", "faulty:ClosesSilently", "--seeds", "12"),
            *("--no-kept", "--json", str(file)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "clients")},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == NOT_CONFORMANT, ended.stderr
    results: dict[str, Any] = json.loads(file.read_text())
    return results


def read(build: Path) -> Results:
    return read_results(build, None)


def cells(table: Table, column: str) -> dict[str, Cell]:
    number = [name for name, _ in table.columns].index(column)
    return {line.name or line.requirement: line.cells[number] for line in table.lines}


def test_a_broken_rule_leads_to_its_shortest_schedule(tmp_path: Path, judged: dict[str, Any]) -> None:
    build = good_build(tmp_path)
    write(build / "results" / "client-closes.json", judged)
    results = read(build)
    outcome = pages(results).shown
    of_client = cells(clients(results, outcome), "faulty:ClosesSilently")
    assert [name for name, cell in of_client.items() if cell.broken] == ["LeavesWhenClosed"]
    broken = of_client["LeavesWhenClosed"]
    shown = next(page for page in outcome if page.anchor == broken.anchor)
    [finding] = judged["findings"]
    assert list(shown.sent) == finding["inWords"] and shown.sent[0].startswith("start ")
    assert (broken.steps, shown.requirement) == (len(shown.sent), "H2")
    seed = str(finding["seed"])
    assert shown.command == f"conform client faulty:ClosesSilently --seed {seed} --seeds 1"
    assert "closes without leaving the group" in shown.mermaid and "participant" in shown.mermaid
    assert of_client["JoinsWithAllFields"].judged > 0, "a rule that holds says how often it was judged"
    assert (
        of_client["RepeatsStaleCommit"].judged
        == {one["rule"]: one["judged"] for one in judged["rules"]}["RepeatsStaleCommit"]
    )
    result = CliRunner().invoke(app, ["report", "--results", str(build), "--manifest", "none"])
    assert result.exit_code == NOT_CONFORMANT
    assert "The client faulty:ClosesSilently breaks LeavesWhenClosed." in result.output
    text = (build / "report" / "index.html").read_text()
    assert f'<a href="#{broken.anchor}">' in text and f'id="{broken.anchor}"' in text


def test_a_requirement_that_one_implementation_breaks_holds_on_another(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    wrong = {**replayed(wrong_trace(tmp_path)), "target": "stdio:./theirs"}
    write(build / "results" / "replay-theirs.json", wrong)
    results = read(build)
    result = pages(results).shown
    table = implementations(results, result)
    theirs, own = cells(table, "stdio:./theirs"), cells(table, "python")
    [named] = {one["requirement"] for failure in wrong["failures"] for one in failure["differences"]}
    assert theirs[named].broken and not own[named].broken and own[named].judged > 0
    shown = next(page for page in result if page.anchor == theirs[named].anchor)
    assert (shown.about, shown.steps) == ("stdio:./theirs", wrong["failures"][0]["index"])
    (build / "results" / "replay-theirs.json").unlink()
    assert not implementations(read(build), ()).lines, "the kit alone has its table of requirements"


def test_a_property_that_no_step_judges_is_not_reported_to_hold(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    little = {**replayed(GOLDEN), "target": "stdio:./theirs"}
    some = dict(list(little["coverage"]["requirements"].items())[:1])
    write(
        build / "results" / "replay-theirs.json",
        {**little, "coverage": {**little["coverage"], "requirements": some}},
    )
    table = implementations(read(build), ())
    theirs = cells(table, "stdio:./theirs")
    assert {name for name, cell in theirs.items() if cell.judged} == {*some} < {*theirs}


def test_the_record_counts_until_the_reference_is_judged(tmp_path: Path, judged: dict[str, Any]) -> None:
    one = recorded(RECORD, ROOT, RULED)
    assert one.schedules > 0 and not any(rule.broken for rule in one.rules)
    assert one.note.startswith("recorded")
    data = json.loads(RECORD.read_text())
    changed = {**data, "files": {"harness/clients/judge.py": "0" * 64}}
    write(tmp_path / "Clients.json", changed)
    assert recorded(tmp_path / "Clients.json", ROOT, RULED).note == "recorded; its sources have changed since"
    build = good_build(tmp_path)
    assert [each.name for each in read_results(build, None, [one]).clients] == ["reference"]
    write(build / "results" / "client.json", {**judged, "client": "reference"})
    [own] = read_results(build, None, [one]).clients
    assert own.schedules == judged["schedules"] and not own.note


def test_the_verdict_on_a_broker_comes_before_the_models(tmp_path: Path) -> None:
    build = good_build(tmp_path, trace=wrong_trace(tmp_path))
    own = CliRunner().invoke(app, ["report", "--results", str(build), "--manifest", "none", "--summary"])
    assert "results of models:" in own.output
    replay = build / "results" / "replay-golden.json"
    write(replay, {**json.loads(replay.read_text()), "target": "broker:127.0.0.1:9092"})
    (build / "results" / "exhaust-MCTour.json").unlink()
    ended = CliRunner().invoke(app, ["report", "--results", str(build), "--manifest", "none", "--summary"])
    assert ended.exit_code == NOT_CONFORMANT != EVIDENCE_MISSING
    assert "results of models:" not in ended.output
    text = (build / "report" / "index.html").read_text()
    order = [
        "broker:127.0.0.1:9092 differs from the specification",
        "<span>differences</span>",
        "<span>models as expected</span>",
        '<section id="findings">',
        '<section id="implementations">',
        '<section id="replay">',
        '<section id="models">',
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert not re.search(r"Every model gives exactly", text)
