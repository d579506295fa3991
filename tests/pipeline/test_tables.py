"""The tables on disk: their schemas, and every transition of the state graph once."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pipeline_runs import ROOT, Ran, dataset

from harness.engines.tlc_output import read_report
from harness.pipeline import tables
from harness.tlaparse import Reader

FOLDERS = {
    "quarantine": ["quarantine"],
    "graph": ["graph"],
    "states": ["states"],
    "steps": ["steps/graph"],
    "verdicts": ["verdicts/graph"],
    "coverage": ["coverage"],
    "findings": ["findings"],
    "timings": ["timings"],
}
"""The tables of a run of a model; `traces` is looked at where there are traces."""


def test_each_column_of_a_published_table_has_a_meaning() -> None:
    columns = {name: tables.TABLES[name].names for name in tables.MEANINGS}
    assert columns == {name: list(meanings) for name, meanings in tables.MEANINGS.items()}


def plain(schema: pa.Schema) -> dict[str, str]:
    """Names and types; a dictionary and its values are one type, and the name of a list's items does not
    matter."""
    return {field.name: plain_type(field.type) for field in schema}


def plain_type(kind: pa.DataType) -> str:
    if pa.types.is_dictionary(kind):
        return plain_type(kind.value_type)
    return f"list of {plain_type(kind.value_type)}" if pa.types.is_list(kind) else str(kind)


@pytest.mark.parametrize("table", FOLDERS)
def test_a_table_on_disk_has_the_schema_that_is_documented(differing: Ran, table: str) -> None:
    for folder in FOLDERS[table]:
        assert plain(dataset(differing.place, folder).schema) == plain(tables.TABLES[table])


def test_every_schema_says_what_its_rows_are() -> None:
    text = Path(tables.__file__).read_text()
    assert {name for name in tables.TABLES} >= set(FOLDERS)
    for name in tables.TABLES:
        after = text.partition(f"\n{name.upper()}: Final = _schema(")[2].partition("\n)\n")[2]
        definition = text.partition(f"\n{name.upper()}: Final = _schema(")[2]
        assert after.startswith('"""') or definition.partition(")\n")[2].startswith('"""'), name


JSON = {
    "states": ["description"],
    "steps": [
        *("configuration", "load", "before", "lost", "script", "operation"),
        *("response", "group", "records", "fired"),
    ],
}


@pytest.mark.parametrize(("table", "columns"), JSON.items())
def test_json_columns_are_json_with_sorted_keys(tour: Ran, table: str, columns: list[str]) -> None:
    nulls: Counter[str] = Counter()
    for row in tour.rows(table):
        for column in columns:
            if row[column] is None:
                nulls[column] += 1
            else:
                sorted_keys = json.dumps(json.loads(row[column]), sort_keys=True, separators=(",", ":"))
                assert sorted_keys == row[column]
    assert nulls.keys() <= {"lost", "script", "response"}


def coordinator(state: Any) -> tuple[Any, Any]:
    """The state of the coordinator."""
    return state["group"], state["topics"]


def test_every_transition_of_the_state_graph_is_a_step_and_has_a_verdict(tour: Ran, graph: Any) -> None:
    reader = Reader()
    steps, result = tour.rows("steps", "graph"), tour.result
    by_key = {row["state"]: coordinator(reader.state(row["text"])) for row in tour.rows("states")}
    assert len(by_key) == len(set(by_key.values())) == len(graph)
    outcome = Counter((by_key[row["source"]], reader.state(row["state_after"])["step"]) for row in steps)
    expected = Counter(
        (coordinator(graph.nodes[start]["state"]), edge["state"]["step"])
        for start, _, edge in graph.edges(data=True)
        if edge["state"]["step"]["action"]
    )
    # a step that leads to several states is one transition to each of them
    assert outcome == expected
    assert result.steps == len(steps) == graph.number_of_edges() == 7285
    assert result.states == len(graph) == 312
    assert len({row["step"] for row in steps}) == len(steps)
    assert Counter(row["step"] for row in tour.rows("verdicts", "graph")) == Counter(
        row["step"] for row in steps
    )
    assert result.holds and {row["verdict"] for row in tour.rows("verdicts", "graph")} == {"pass"}


def test_the_nodes_of_the_dump_are_those_that_tlc_reports(tour: Ran) -> None:
    report = read_report((tour.place / "dump.log").read_text().splitlines())
    kinds = Counter(row["kind"] for row in tour.rows("graph"))
    assert report.distinct_states == kinds["state"] + kinds["step"]
    assert kinds["state"] == 312 and not kinds["bad"]


def test_a_state_has_the_depth_of_its_shortest_way(tour: Ran, graph: Any) -> None:
    depth = dict.fromkeys(graph.graph["initial"], 0)
    layer = list(depth)
    while layer:
        following = {after for node in layer for after in graph.successors(node)} - depth.keys()
        depth |= dict.fromkeys(following, depth[layer[0]] + 1)
        layer = list(following)
    expected = {coordinator(graph.nodes[node]["state"]): steps for node, steps in depth.items()}
    reader = Reader()
    rows = tour.rows("states")
    assert {coordinator(reader.state(row["text"])): row["depth"] for row in rows} == expected
    assert max(expected.values()) > 5
    depths = {row["state"]: row["depth"] for row in rows}
    assert all(row["depth"] == depths[row["source"]] for row in tour.rows("steps", "graph"))


def test_coverage_adds_up(tour: Ran) -> None:
    tested: Counter[tuple[str, str, str]] = Counter()
    for row in tour.rows("verdicts", "graph"):
        tested[row["action"], row["branch"], row["error"]] += 1
    for row in tour.rows("coverage"):
        assert row["tested"] == tested[row["action"], row["branch"], row["error"]]
        assert (row["failed"], row["dialect"]) == (0, "kip-848")
    covered = {(row["action"], row["branch"], row["error"]) for row in tour.rows("coverage")}
    assert covered == tested.keys()


def test_coverage_has_only_requirements(tour: Ran) -> None:
    known = set(re.findall(r"^\| ([A-Z]\d+) \|", (ROOT / "REQUIREMENTS.md").read_text(), re.MULTILINE))
    rows = tour.rows("coverage")
    assert {row["requirement"] for row in rows} <= known
    assert {row["branch"] for row in rows} >= {"advance", "assign", "revoke", "acknowledge", "retry", "leave"}
