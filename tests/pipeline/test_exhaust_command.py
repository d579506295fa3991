"""`conform exhaust` in use: help, a sentence and an exit code for each mistake, findings in words."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import GOLDEN, SPEC, Ran, faulty, run

from harness.cli.exhaust import command, end_with
from harness.errors import ConformError
from harness.pipeline.exhaust import Exhausted
from harness.pipeline.report import summary


def test_the_help_has_examples_and_exit_codes() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "harness", "exhaust", "--help"], capture_output=True, text=True, check=True
    ).stdout
    for part in ("conform exhaust MCTour", "--input traces/golden", "Exit codes: 0", "11 differences"):
        assert part in done


@pytest.mark.parametrize(
    ("words", "sentence", "code"),
    [
        ({}, "Say what to judge: a MODEL, files with --input, or both.", 2),
        ({"name": "MCNone"}, "There is no model MCNone", 2),
        ({"name": "MCConnectTurns"}, "a check of the specification alone: it orders the ids", 2),
        ({"name": "MCKafka42Kinds"}, "its groups migrate as in KIP-848's text", 2),
        ({"name": "no.tla"}, "The module no.tla does not exist.", 2),
        ({"name": "MCTour", "target": "java"}, "There is no target 'java'", 2),
        ({"name": "MCTour", "target": "stdio:no-such-program"}, "cannot be started", 2),
        ({"name": "MCTour", "dialect": "kip-0"}, "kip-0", 2),
        ({"inputs": ["no-such-folder"]}, "The input no-such-folder does not exist.", 2),
        ({"inputs": ["EMPTY"]}, "There is nothing to read in EMPTY: no .itf.json, .yaml, .jsonl, .dot.", 2),
        ({"inputs": ["other://host/x"]}, "Spark cannot read the input other://host/x: ", 2),
        ({"name": "MCTour", "inputs": ["graph.dot"]}, "A model and a dump are two state graphs", 2),
        ({"inputs": ["graph.dot"], "target": "stdio:false"}, "closed its output before it answered hello", 3),
    ],
)
def test_errors_are_sentences(
    words: dict[str, Any], sentence: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "EMPTY").mkdir()
    (tmp_path / "graph.dot").touch()
    with pytest.raises(ConformError) as caught:
        command(**{"manifest": SPEC / "manifest.json", "out": str(tmp_path / "out"), **words})
    assert sentence in caught.value.message and caught.value.exit_code == code
    assert "\n" not in caught.value.message
    assert not list(tmp_path.glob("out/[!l]*/*"))


def test_differences_end_with_11_and_unread_files_with_3(
    dot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder whose name Spark, a URI and pyarrow might each read in another way."""
    here = tmp_path / "ü 100% a"
    here.mkdir()
    (here / "bad.itf.json").touch()
    inputs = [str(GOLDEN / "basic.itf.json"), str(here)]
    with pytest.raises(ConformError, match="1 input could not be read and 0 steps not be judged") as unread:
        command(inputs=inputs, out=str(here / "out"), json_file=here / "a.json")
    assert unread.value.exit_code == 3
    result = json.loads((here / "a.json").read_text())
    assert (result["quarantined"], result["differences"], result["holds"]) == (1, 0, False)
    capsys.readouterr()
    with pytest.raises(ConformError, match=r"does not conform: \d+ of 748 steps differ") as differs:
        command(inputs=[str(dot)], target=faulty("wrong"), out=str(here / "out"), json_file=None)
    assert differs.value.exit_code == 11
    captured = capsys.readouterr()
    assert "examples/" in captured.out and "findings: " in captured.out
    assert "WARN" not in captured.err and "Warning" not in captured.err


def test_findings_in_words_fit_a_terminal(differing: Ran) -> None:
    lines = list(summary(differing.result, differing.model, "build/exhaust/MCTour"))
    assert f"findings: {len(differing.result.findings)}" in lines
    assert all(len(line) <= 100 or len(line.split()) <= 2 for line in lines)
    for one in differing.result.findings:
        assert any(f"{one['requirement']} " in line and f"{one['count']} x " in line for line in lines)
        assert any(
            line.endswith(f"build/exhaust/MCTour/examples/{one['finding']}.itf.json") for line in lines
        )
    assert "none left out" not in " ".join(lines)


def test_the_seconds_of_all_parts_add_up_to_the_time_of_the_run(dot: Path, tmp_path: Path) -> None:
    begin = time.perf_counter()
    ran = run(tmp_path / "out", files=[dot])
    took = time.perf_counter() - begin
    seconds = {one["unit"]: one["seconds"] for one in ran.result.timings}
    assert {"summary/findings", "summary/digests", "summary/rest"} < seconds.keys()
    assert all(one >= 0 for one in seconds.values()) and sum(seconds.values()) <= took
    assert sum(seconds.values()) == pytest.approx(took, rel=0.5)


def test_a_step_that_several_states_of_the_model_have_counts_once() -> None:
    """In a model with a log the coordinator's state is not the whole state."""
    result = Exhausted("python", "kip-848", states=3, transitions=10, steps=4, inputs=4)
    sentence = " ".join(" ".join(summary(result, None, "out")).split())
    assert "4 steps over 3 coordinator states hold on python, none left out" in sentence
    assert "10 steps from loaded states" in sentence and "6 of them again in other states" in sentence


def test_steps_of_clients_are_counted_and_not_claimed() -> None:
    result = Exhausted("python", "kip-848", states=3, transitions=4, steps=4, inputs=4, of_clients=7)
    sentence = " ".join(" ".join(summary(result, None, "out")).split())
    assert "4 steps over 3 coordinator states hold" in sentence
    assert (
        "7 steps are those of clients and their network" in sentence
        and "conform replay judges them" in sentence
    )
    none = Exhausted("python", "kip-848", of_clients=7)
    with pytest.raises(ConformError, match=r"no step to judge.*\(7 are those of clients\)"):
        end_with(none)


def test_parts_that_the_target_does_not_show_are_listed() -> None:
    result = Exhausted("T", "kip-848", steps=4, unobserved=("metadata", "timers.group"))
    sentence = " ".join(summary(result, None, "out"))
    assert "not compared, because the target does not show it: metadata, timers.group" in sentence


def test_the_parts_of_a_run_are_distinguished() -> None:
    """TLC runs within the unit that reads the graph; waves of verdicts are one part."""
    units = {"start": [4.0], "tlc": [30.0], "graph": [41.0], "verdicts/graph": [7.0, 8.0]}
    units |= {"summary/findings": [30.0], "summary/digests": [100.0]}
    timings = [{"unit": unit, "seconds": one} for unit, every in units.items() for one in every]
    output = summary(Exhausted("python", "kip-848", steps=4, timings=timings), None, "out")
    parts = "Spark's start 4, TLC's state graph 30, reading the graph 11, judging them 15, "
    parts += "gathering the findings 30, digests of the tables 100"
    assert f"seconds on the clock: {parts}" in " ".join(" ".join(output).split())
    assert not any("clock" in line for line in summary(Exhausted("python", "kip-848", steps=4), None, "out"))
