"""The benchmark at tiny sizes: every case runs and gives figures of any size."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import __main__ as bench
from benchmarks.curve import heartbeat_curves
from benchmarks.groups import request, stable_group
from benchmarks.measure import in_fresh_process, machine
from benchmarks.scale import heartbeats, takeovers, targets
from benchmarks.shapes import SHAPES, Shape, Size, assign, member_id, spec, subscriptions_of
from harness.errors import ConformError

SVG = "{http://www.w3.org/2000/svg}"
TINY = Size(12, 10)


def ignore(line: str) -> None:
    """Take a line of progress, and drop it."""


def test_targets_measure_every_step_alone_and_through_the_coordinator() -> None:
    table = targets(ignore, [TINY], [Shape("uniform", "few")])
    (row,) = table.rows
    assert row[:2] == ["12 x 1,000", "uniform, 20 topics of their own"]
    assert len(row) == len(table.columns)
    (data,) = table.data
    for step in (
        "assignor initial",
        "assignor join",
        "assignor leave",
        "coordinator join",
        "coordinator leave",
    ):
        assert data[step]["cpu_s"] > 0
        assert 1 < data[step]["before_mb"] <= data[step]["peak_mb"]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.title)
def test_a_stable_group_is_stable_and_balanced_by_its_assignor(shape: Shape) -> None:
    members = subscriptions_of(shape, TINY, TINY.members)
    assignment = assign(shape, spec(members, TINY))
    coordinator = stable_group(shape.assignor, TINY, members, assignment)
    group = coordinator.describe("g")
    assert group["state"] == "Stable"
    assert {member["memberId"] for member in group["members"]} == {member_id(n) for n in range(TINY.members)}
    assert sum(map(len, assignment.values())) == TINY.partitions
    response = request(coordinator, {"groupId": "g", "memberId": member_id(0), "memberEpoch": 1})
    assert response["memberEpoch"] == 1


def test_shapes_subscribe_as_they_say() -> None:
    size = Size(50, 100)
    different = {shape.subscriptions: set(subscriptions_of(shape, size, 50).values()) for shape in SHAPES}
    assert different["all"] == {frozenset(range(100))}
    assert len(different["sets"]) == 5
    assert frozenset().union(*different["sets"]) == frozenset(range(100))
    assert len(different["few"]) == 50
    assert all(len(topics) == 20 for topics in different["few"])


def test_heartbeats_give_a_table_and_a_picture() -> None:
    table, curves = heartbeats(ignore, [5, 20], 40)
    assert [row[0] for row in table.rows] == ["of 10 members in turn", "of all members in turn"]
    assert [data["senders"] for data in table.data] == [5, 10, 5, 20]
    root = ElementTree.fromstring(heartbeat_curves(curves))
    assert len(root.findall(f"{SVG}polyline")) == 2
    assert {"5", "20"} <= {text.text for text in root.findall(f"{SVG}text")}


def test_a_curve_rises_with_its_figures_and_stays_in_the_picture() -> None:
    root = ElementTree.fromstring(heartbeat_curves({"one": {10: 3.0, 100: 3.0, 1000: 30.0}}))
    first, second, third = root.findall(f"{SVG}circle")
    assert first.attrib["cy"] == second.attrib["cy"]
    assert 50 < float(third.attrib["cy"]) < float(first.attrib["cy"]) < 250
    assert float(second.attrib["cx"]) == (float(first.attrib["cx"]) + float(third.attrib["cx"])) / 2


def test_takeovers_load_the_same_log_from_both_sources() -> None:
    table = takeovers(ignore, 5)
    assert [data["source"] for data in table.data] == ["records", "sqlite"]
    assert {data["records"] for data in table.data} == {5 * 19}


def test_a_case_that_fails_says_which() -> None:
    with pytest.raises(ConformError, match=r"The benchmark load of \{'log': 'missing', .* failed"):
        in_fresh_process("load", log="missing", source="records")


def test_the_figures_are_written_with_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "takeovers", lambda progress: takeovers(progress, 2))
    bench.main(only=[bench.Part.load], out=tmp_path)
    written = json.loads((tmp_path / "bench.json").read_text())
    assert {"processor", "cores", "memory_gb", "python", "load_average"} <= written["machine"].keys()
    assert len(written["load"]) == 2
    assert written["machine"]["cores"] == machine()["cores"]
