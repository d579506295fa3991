"""The same inputs give the same tables, in any number of pieces; finished work is not done again."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from pipeline_runs import GOLDEN, TRACE, Ran, run

from harness.engines.base import Model
from harness.pipeline.report import summary
from harness.pipeline.version import package_key

PROGRAM = Path(__file__).parent / "small_parts.py"
PARTS = 8


def small_parts(output: Path, dot: Path, split: int, end: str, seed: str) -> subprocess.Popen[str]:
    """`exhaust` on one core, in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(output), str(dot), str(TRACE), str(split), "100", end],
        env={**os.environ, "PYTHONHASHSEED": seed},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command(output: Path, model: Model, seed: str) -> subprocess.Popen[str]:
    """`conform exhaust` of the same inputs, as users run it."""
    words = ["exhaust", str(model.module), "--config", str(model.config), "--input", str(TRACE)]
    more = ["--master", "local[2]", "--out", str(output), "--json", str(output / "result.json")]
    return subprocess.Popen(
        [sys.executable, "-m", "harness", *words, *more],
        env={**os.environ, "PYTHONHASHSEED": seed, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def others(
    model: Model, dot: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str], Path]:
    """The run in two processes side by side: on one core in many pieces, and by the command."""
    folder = tmp_path_factory.mktemp("others")
    for name in ("pieces", "command"):
        (folder / name).mkdir()
    pieces = small_parts(folder / "pieces", dot, 50_000, "finish", "1")
    used = command(folder / "command", model, "2")
    ended = []
    for process in (pieces, used):
        output, errors = process.communicate()
        ended.append(subprocess.CompletedProcess(process.args, process.returncode, output, errors))
    assert dot.stat().st_size > 5 * 50_000
    return ended[0], ended[1], folder


def test_the_same_tables_on_one_core_or_two_in_any_number_of_pieces_with_any_hashes(
    tiny_run: Ran, others: tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str], Path]
) -> None:
    pieces, used, folder = others
    assert pieces.returncode == 0, pieces.stderr
    assert used.returncode == 0, used.stderr
    result = json.loads((folder / "command" / "result.json").read_text())
    assert json.loads(pieces.stdout) == tiny_run.result.digests
    assert result["digests"] == tiny_run.result.digests
    assert tiny_run.result.digests.keys() == {
        *("verdicts", "coverage", "findings", "quarantine"),
        *("steps/graph", "steps/traces", "states", "traces"),
    }
    parts = {path.name for path in (folder / "pieces" / "verdicts" / "graph").glob("part=*")}
    assert len(parts) == PARTS


def test_the_output_of_the_command_fits_a_terminal(
    others: tuple[subprocess.CompletedProcess[str], subprocess.CompletedProcess[str], Path], model: Model
) -> None:
    _, used, folder = others
    lines = used.stdout.splitlines()
    assert lines[0].startswith(f"{model.name} (TLC ")
    assert "748 steps over 27 coordinator states hold on python, none left out" in " ".join(
        line.strip() for line in lines[:3]
    )
    assert lines[-1] == f"tables: {folder / 'command'}"
    assert all(len(line) <= 100 or len(line.split()) <= 2 for line in lines)
    assert len(lines) < 13
    taken = " ".join(" ".join(lines).split()).partition("seconds on the clock: ")[2]
    parts = re.findall(r"([A-Z]?[a-zA-Z' ]+) \d+,? ?", taken.partition(" tables: ")[0])
    assert parts[:3] == ["Spark's start", "TLC's state graph", "reading the graph"] and len(parts) == 16
    assert all(line.startswith(f"judging {model.name} on python") for line in used.stderr.splitlines())
    result = json.loads((folder / "command" / "result.json").read_text())
    counts = {name: result[name] for name in ("steps", "states", "differences", "by_path", "holds")}
    assert counts == {"steps": 748, "states": 27, "differences": 0, "by_path": 0, "holds": True}


def ledger(place: Path) -> dict[str, int]:
    """The entries of the ledger, and when they were written."""
    return {path.name: path.stat().st_mtime_ns for path in (place / "ledger").iterdir()}


def test_a_run_that_was_killed_goes_on_where_it_was(
    tiny_run: Ran, dot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "out"
    place.mkdir()
    killed = small_parts(place, dot, 50_000, "die", "3")
    _, errors = killed.communicate()
    assert killed.returncode == -signal.SIGKILL, errors
    before = ledger(place)
    done = {name for name in before if name.startswith("verdicts.graph.part=")}
    assert 0 < len(done) < PARTS
    monkeypatch.setattr("harness.pipeline.run.PART", 100)
    package_key.cache_clear()
    ran = run(place, files=[dot, TRACE])
    after = ledger(place)
    assert {name: after[name] for name in before} == before
    assert len([name for name in after if name.startswith("verdicts.graph.part=")]) == PARTS
    assert not {"graph", "states", "steps/graph"} & set(ran.units())
    judged = sum(timing["rows"] for timing in ran.result.timings if timing["unit"] == "verdicts/graph")
    assert judged == 748 - sum(
        json.loads((place / "ledger" / name).read_text())["counts"]["verdicts"] for name in done
    )
    assert ran.result.digests == tiny_run.result.digests
    assert set(Counter(row["step"] for row in ran.rows("verdicts", "graph")).values()) == {1}


def test_a_second_run_does_nothing_and_says_the_same(tiny_run: Ran) -> None:
    before = ledger(tiny_run.place)
    again = run(tiny_run.place, model=tiny_run.model, files=[TRACE])
    assert (again.units(), ledger(tiny_run.place)) == ([], before)
    assert again.result.digests == tiny_run.result.digests
    assert again.result.holds
    assert again.result.earlier == again.result.transitions + again.result.trace_steps
    sentence = f"{again.result.earlier} steps were judged in an earlier run, and not again"
    assert sentence in list(summary(again.result, again.model, "out"))


def test_another_trace_makes_only_what_depends_on_it_be_done_again(tiny_run: Ran, tmp_path: Path) -> None:
    place = tmp_path / "out"
    shutil.copytree(tiny_run.place, place)
    changed = run(place, model=tiny_run.model, files=[GOLDEN / "incremental.itf.json"])
    assert changed.units() == ["steps/traces", "traces", "verdicts/traces"]
    assert changed.result.holds
    assert changed.result.digests["steps/graph"] == tiny_run.result.digests["steps/graph"]
    assert changed.result.digests["steps/traces"] != tiny_run.result.digests["steps/traces"]
    assert changed.result.steps == tiny_run.result.steps
