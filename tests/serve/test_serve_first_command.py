"""The first command for a broker that has no description yet: `conform replay --target broker:HOST:PORT`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from served import serving
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import HOLDS, NOT_CONFORMANT
from harness.gate.steps import KINDS
from harness.identify.own import own_traces
from harness.kit import kit_folder
from harness.replay.files import trace_files


@pytest.mark.parametrize(("dialect", "traces"), [("kafka-4.4", "kafka-4.4"), ("kafka-4.1", "kafka-4.2")])
def test_the_traces_are_those_of_the_identified_dialect(dialect: str, traces: str, tmp_path: Path) -> None:
    """The wire does not tell Kafka 4.1 from 4.2: the newest is taken, and the others are named."""
    result = tmp_path / "result.json"
    with serving(topics={}, dialect=dialect, settings={}) as (_, port):
        words = ["replay", "--target", f"broker:127.0.0.1:{port}", "--json", str(result)]
        ended = CliRunner().invoke(app, words)
    report = json.loads(result.read_text())
    assert report["dialect"] == traces
    assert f"\n  {traces}\n  undecided, for want of a probe" in ended.output
    assert report["traces"] == len(trace_files(own_traces(traces)))
    assert (ended.exit_code == HOLDS) == (report["differences"] == 0)
    assert report["differences"] == 0 or dialect != traces
    assert ("if you know that it is another of these, say so: --dialect " in ended.output) == (
        dialect != traces
    )


def test_the_gate_of_a_broker(tmp_path: Path) -> None:
    """The steps that are worth running, and a sentence for each of the others."""
    with serving(topics={}, dialect="kafka-4.4", settings={}) as (_, port):
        ended = CliRunner().invoke(
            app, ["gate", "--target", f"broker:127.0.0.1:{port}", "--out", str(tmp_path)]
        )
    report = json.loads((tmp_path / "gate.json").read_text())
    steps = [(step["kind"], step["outcome"]) for step in report["steps"]]
    assert steps[:3] == [("doctor", "done"), ("identify", "done"), ("replay", "done")]
    assert {kind for kind, outcome in steps[3:] if outcome == "left out"} == set(KINDS)
    assert "level: observable" in ended.output
    assert re.search(r"identify dialect: ok \(.* s\): kafka-4\.4", ended.output)
    assert (ended.exit_code, report["steps"][2]["name"]) == (HOLDS, "dialects/kafka-4.4")


def test_nothing_is_hidden_after_some_differences(tmp_path: Path) -> None:
    """The text's traces on a target that departs from the text often: all are judged, and the causes are
    few."""
    result = tmp_path / "result.json"
    target = f"stdio:{sys.executable} -m coordinator --stdio --dialect kafka-4.2"
    files = [str(file) for file in trace_files([kit_folder("traces") / "corpus"]) if "simulate" in file.name]
    words = ["replay", *files[:2], "--target", target, "--dialect", "kafka-4.2", "--json", str(result)]
    ended = CliRunner().invoke(app, words)
    report = json.loads(result.read_text())
    assert (ended.exit_code, report["not_judged"]) == (NOT_CONFORMANT, 0)
    assert report["differences"] > 20
