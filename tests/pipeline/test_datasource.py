"""Traces, logs and dumps as Python Data Sources, as a notebook reads them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import GOLDEN, ROOT, TRACE, Ran
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from harness.itf import read_trace, value_to_json
from harness.pipeline.datasource import SCHEMA_VERSION, ItfSource, LogSource, register


@pytest.fixture(scope="module")
def session() -> Any:
    result = SparkSession.active()
    register(result)
    register(result)
    return result


def test_a_trace_is_a_row_a_state(session: Any, tmp_path: Path) -> None:
    (tmp_path / "cut.itf.json").write_text('{"#meta')
    (tmp_path / "basic.itf.json").write_bytes(TRACE.read_bytes())
    rows = session.read.format("itf").load(str(tmp_path)).orderBy("uri", "index").collect()
    trace = read_trace(TRACE)
    states: Any = trace.states
    *good, bad = rows
    assert [row["index"] for row in good] == list(range(len(states)))
    assert [row["action"] for row in good[1:]] == [state["step"]["action"] for state in states[1:]]
    for row, state in zip(good, states, strict=True):
        assert json.loads(row["state"]) == {name: value_to_json(value) for name, value in state.items()}
    assert bad["uri"].endswith("/cut.itf.json") and bad["state"] is None and "Unterminated" in bad["problem"]


def test_a_log_is_a_row_a_line(session: Any, tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_text('{"op": "hello"}\n\n{"ok": true}\n{"op"\n')
    rows = session.read.format("conform-log").load(str(tmp_path / "run.jsonl")).orderBy("line").collect()
    assert [(row["line"], row["op"], row["problem"] is None) for row in rows] == [
        *((1, "hello", True), (3, None, True), (4, None, False)),
    ]


def test_values_that_are_nested_too_deeply_are_a_problem(tmp_path: Path) -> None:
    for name in ("deep.itf.json", "deep.jsonl"):
        (tmp_path / name).write_text("[" * 100_000)
        [row] = (ItfSource if "itf" in name else LogSource).rows({"uri": str(tmp_path / name)})
        assert "recursion" in row["problem"]


def test_a_dump_is_a_row_a_line(session: Any, dot: Path) -> None:
    rows = session.read.format("tlc-dump").load(str(dot)).groupBy("kind").count().collect()
    counts = {row["kind"]: row["count"] for row in rows}
    content = dot.read_text()
    assert sum(counts.values()) == len(content.splitlines()) and "bad" not in counts
    assert counts["edge"] == len(re.findall(r"^-?\d+ -> -?\d+", content, re.MULTILINE)) > 700


def test_columns_say_what_they_mean(session: Any) -> None:
    for name, place in (("itf", TRACE), ("conform-log", GOLDEN), ("tlc-dump", GOLDEN)):
        fields = session.read.format(name).load(str(place)).schema.fields
        assert fields and all(one.metadata["schema_version"] == SCHEMA_VERSION for one in fields)
        assert all(one.metadata["comment"] for one in fields)


def test_a_place_without_such_files_is_an_error(session: Any) -> None:
    with pytest.raises(PySparkException, match=r"There is nothing to read in .*golden: no \.dot"):
        session.read.format("tlc-dump").load(str(GOLDEN)).count()


def test_the_notebook_asks_the_tables_of_a_run(session: Any, differing: Ran, capsys: Any) -> None:
    """The notebook's cells, in their order, on a run with findings."""
    cells = json.loads((ROOT / "examples" / "spark" / "findings.ipynb").read_text())["cells"]
    named: dict[str, Any] = {}
    for cell in (one for one in cells if one["cell_type"] == "code"):
        code = "".join(cell["source"]).replace("build/exhaust/MCTour", str(differing.place))
        exec(compile(code, cell["id"], "exec"), named)
    findings = differing.rows("findings")
    broken = {row["requirement"]: row["steps"] for row in named["broken"].collect()}
    assert sum(broken.values()) == sum(one["count"] for one in findings) and len(broken) == 2
    assert sum(row["failed"] for row in named["shares"].collect()) == differing.result.failed
    assert len(named["way"]) == min(one["steps"] for one in findings) + 1
    assert capsys.readouterr().out.rstrip().endswith(" -> ".join(named["way"][1:]))
