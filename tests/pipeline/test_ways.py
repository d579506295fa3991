"""Shortest ways to the states of a model."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_runs import Ran, rows, run
from pyspark.sql.classic.dataframe import DataFrame

from harness.errors import USAGE, ConformError
from harness.itf import read_trace
from harness.pipeline.paths import WaysOfWorker, keys_to

LINKS = {"a": "", "b": "a", "c": "b"}


def test_a_way_begins_at_an_initial_state() -> None:
    assert keys_to(LINKS, "c") == ["a", "b", "c"]


def test_a_way_in_a_circle_ends_with_a_sentence() -> None:
    """States that differ in a variable which no kind keeps have one key, and such a way grew without end."""
    with pytest.raises(ConformError, match="states that differ in a variable") as refused:
        keys_to({**LINKS, "a": "c"}, "c")
    assert refused.value.exit_code == USAGE


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
