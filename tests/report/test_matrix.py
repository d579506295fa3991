"""The coverage matrix: the files that cite a requirement, and the traces that exercise it; plots."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from results_folder import GOLDEN, ROOT, good_build, replayed, write

from harness.graph.draw import depths
from harness.graph.dump import trace_graph
from harness.itf import read_trace
from harness.manifest import read_manifest
from harness.report.citations import in_module, in_python, requirements
from harness.report.matrix import Row, letters, matrix
from harness.report.plot import Axes, bars, curve, evenly, round_up
from harness.report.results import read_results

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("Z1", "Z2", "Z3", "Z4", "Z5", "Y1", "X1", "X2", "X3", "X4", "X5")
MODULE = """---- MODULE M ----
(* Z1 is of the module, *)
CONSTANTS
  \\* Y1: of the constant.
  Size,
  \\* no more

\\* Z2, over an operator.
\\* @type: Int;
Op(a) ==
  /\\ a  \\* Z3, in it
  \\* Z4, too
  /\\ TRUE

Other == Z5
"""
CODE = '''"""X1 of the module."""

def outer() -> None:
    """X2."""
    def inner() -> None:
        pass  # X3

class C:
    """X4."""
    def m(self) -> None:
        """X5."""
'''


def test_citations_of_a_module() -> None:
    cited = [
        (place, name) for place, words in in_module(Path("M.tla"), MODULE) for name in NAMES if name in words
    ]
    assert cited == [("M", "Z1"), ("M.Size", "Y1"), ("M.Op", "Z2"), ("M.Op", "Z3"), ("M.Op", "Z4")]


def test_citations_of_a_python_file() -> None:
    places = in_python(Path("/x/coordinator/a/b.py"), CODE, Path("/x"))
    cited = [(place, name) for place, words in places for name in NAMES if name in words]
    assert cited == [
        ("a.b", "X1"),
        ("a.b.outer", "X2"),
        ("a.b.outer.inner", "X3"),
        ("a.b.C", "X4"),
        ("a.b.C.m", "X5"),
    ]


def test_the_repositorys_own_requirements() -> None:
    known = {one.name: one for one in requirements(ROOT)}
    assert len(known) > 40
    first = known["R1"]
    assert first.sentence.startswith("While a member holds partitions") and first.missing == ""
    assert list(first.spec[:2]) == ["Coordinator.Revoke", "Coordinator.NarrowRevocation"]
    assert first.code[0] == "consumer.reconcile.revoke" and "test_reconciliation" in first.tests
    assert (first.trace, first.step) == ("corpus/MCOpen-goal-0027-heartbeat-narrow", "Heartbeat narrow")
    assert known["H4"].missing == "" and known["D3"].missing and known["Z1"].missing
    assert (
        known["C7"].code[0] == "coordinator/members/consumer/metrics.py:RebalanceMetrics"
        and known["C7"].tests
    )
    assert "ClosedGroup.NetworkDropsOldRequests" in known["R9"].spec
    for one in known.values():
        if not one.missing:
            assert one.code and one.tests, one.name
            assert (one.spec and one.trace) or "/" in one.code[0], one.name


def rows(build: Path) -> dict[str, Row]:
    result = matrix(read_results(build, read_manifest(ROOT / "spec" / "manifest.json")))
    return {row.requirement.name: row for row in result}


def test_steps_and_traces_of_all_sources_count(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    write(build / "results" / "replay-again.json", replayed(GOLDEN))
    file = build / "results" / "exhaust-MCTour.json"
    tested = [{"requirement": "R1", "tested": 10}, {"requirement": "R1", "tested": 5}]
    write(file, {**json.loads(file.read_text()), "coverage": tested})
    results = rows(build)
    assert (results["R1"].steps, results["R1"].traces) == (2 + 2 + 15, 2)
    assert [one.source for one in results["R1"].exercised] == [
        "traces again",
        "traces golden",
        "every step of MCTour",
    ]
    assert {"MCSmall", "MCNoR9", "ProofOpen2Implies"} <= set(results["R7"].models)
    assert "MCTour" in results["R7"].models and "MCLive" not in results["R7"].models
    assert (results["O1"].steps, results["O1"].tested) == (0, True)
    assert not results["D3"].tested
    assert list(letters(list(results.values())))[:3] == ["E", "R", "H"]


def test_no_table_no_matrix(tmp_path: Path) -> None:
    assert requirements(tmp_path) == []
    assert matrix(read_results(good_build(tmp_path), None)) == []


@pytest.mark.parametrize(
    ("most", "top"), [(0, 2), (1, 2), (3, 4), (9, 10), (10, 10), (11, 20), (99, 100), (6500, 8000)]
)
def test_axes_end_at_round_numbers(most: int, top: int) -> None:
    assert round_up(most) == top


@pytest.mark.parametrize(
    ("most", "numbers"),
    [(0, [0]), (3, [0, 1, 2, 3]), (7, [0, 2, 4, 6]), (21, [0, 6, 12, 18]), (215, [0, 54, 108, 162, 215])],
)
def test_numbers_are_evenly_apart(most: int, numbers: list[int]) -> None:
    assert evenly(most) == numbers


def test_a_curve_begins_at_zero_and_ends_at_its_last_point() -> None:
    root = ElementTree.fromstring(curve([(1, 3), (4, 20)], Axes("traces", "steps")))
    line = root.find(f"{SVG}polyline")
    assert line is not None
    points = [tuple(map(float, pair.split(","))) for pair in line.get("points", "").split()]
    assert len(points) == 3
    assert points[0][0] < points[1][0] < points[2][0] and points[0][1] > points[1][1] > points[2][1]
    words = [one.text for one in root.iter(f"{SVG}text")]
    assert {"0", "4", "10", "20", "traces"} <= set(words)
    assert "20 steps after 4 traces" in [one.text for one in root.iter(f"{SVG}title")]


def test_bars_are_as_high_as_their_counts() -> None:
    root = ElementTree.fromstring(bars([1, 4, 2], Axes("depth", "states")))
    heights = [float(one.get("height", "")) for one in root.iter(f"{SVG}rect")]
    assert heights == [heights[0], heights[0] * 4, heights[0] * 2]


def test_states_by_depth_of_a_graph() -> None:
    graph, path = trace_graph(read_trace(GOLDEN))
    assert depths(graph) == [1] * len(set(path))
