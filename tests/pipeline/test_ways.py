"""Shortest ways to the states of a model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_runs import Ran, rows, run
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame

from harness.errors import USAGE, ConformError
from harness.itf import read_trace
from harness.pipeline.paths import WaysOfWorker, keys_to, ways_to
from harness.pipeline.run import Run
from harness.pipeline.store import Store
from harness.pipeline.tables import STATES, STEPS

LINKS = {"a": "", "b": "a", "c": "b"}


def test_a_way_begins_at_an_initial_state() -> None:
    assert keys_to(LINKS, "c") == ["a", "b", "c"]


def test_a_way_in_a_circle_ends_with_a_sentence() -> None:
    """States that differ in a variable which no kind keeps have one key, and such a way grew without end."""
    with pytest.raises(ConformError, match="states that differ in a variable") as refused:
        keys_to({**LINKS, "a": "c"}, "c")
    assert refused.value.exit_code == USAGE


def test_a_state_with_several_distances_counts_at_the_nearest(tmp_path: Path) -> None:
    """Clients of a closed model act while the coordinator's state stays: "b" is 1, 2 and 3 steps from the
    start, and a step that stays in it was taken for the way to it."""
    session = SparkSession.active()
    states = [("a", 0), ("a", 1), ("b", 1), ("b", 2), ("b", 3), ("c", 3)]
    named = [{"state": state, "depth": depth, "text": state.upper()} for state, depth in states]
    steps = [("1", "b", "b", 1), ("2", "b", "b", 2), ("3", "a", "b", 0), ("4", "b", "c", 2)]
    made = [
        {"step": step, "source": source, "after": after, "depth": depth, "operation": "{}"}
        | {"state_after": after.upper()}
        for step, source, after, depth in steps
    ]
    for place, schema, table in (("states", STATES, named), ("steps/graph", STEPS, made)):
        (tmp_path / place).mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(table, schema), tmp_path / place / "rows.parquet")
    examples = ways_to(Run(session, Store(str(tmp_path))), ["1", "4"])
    assert examples.keys == {"1": ["a", "b"], "4": ["a", "b"]}
    assert examples.texts == {"a": "A", "b": "B"}


def test_a_worker_reads_the_links_of_all_states_and_texts_as_it_needs_them(tmp_path: Path) -> None:
    for number, state in enumerate(LINKS):
        row = {"state": state, "source": LINKS[state], "text": state.upper()}
        pq.write_table(pa.Table.from_pylist([row]), tmp_path / f"part-{number}.parquet")
    ways = WaysOfWorker(str(tmp_path))
    assert (ways.links, ways.texts({"a", "c"})) == (LINKS, {"a": "A", "c": "C"})


def test_the_driver_gets_the_texts_of_the_states_on_the_way_to_findings_alone(
    differing: Ran, buggy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A state's text is long, and a graph may have millions of states. The driver once got all texts."""
    place, texts, collect = tmp_path / "again", list[str](), DataFrame.collect
    shutil.copytree(differing.place, place)

    def noted(frame: DataFrame) -> Any:
        results = collect(frame)
        texts.extend(row["text"] for row in results if "text" in row)
        return results

    monkeypatch.setattr(DataFrame, "collect", noted)
    again = run(place, model=differing.model, target=buggy)
    assert again.result.findings == differing.result.findings
    named = [one["finding"] for one in again.result.findings]
    ways = [read_trace(place / "examples" / f"{one}.itf.json").states[:-1] for one in named]
    assert len(texts) == len(set(texts)) <= sum(map(len, ways))
    assert 0 < len(texts) < len(rows(place, "states")) / 2
    for one in named:
        file = f"examples/{one}.itf.json"
        assert (place / file).read_bytes() == (differing.place / file).read_bytes()
