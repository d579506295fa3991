"""The cost of rebalances at small sizes: the figures are of a simulated clock, and can be computed
beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import __main__ as bench
from benchmarks.rebalance import HAPPENS, PROTOCOLS, Cost, costs, rebalances
from benchmarks.timeline import Ownership
from harness.errors import ConformError
from harness.report.lines import lines
from harness.report.plot import Axes

SVG = "{http://www.w3.org/2000/svg}"
MEMBERS = 4


@pytest.fixture(scope="module")
def cost_of() -> dict[tuple[str, str], Cost]:
    return {(cost.what, cost.protocol): cost for cost in costs(lambda line: None, [MEMBERS])}


def test_all_do_the_same_and_move_the_same(cost_of: dict[tuple[str, str], Cost]) -> None:
    assert len(cost_of) == len(HAPPENS) * len(PROTOCOLS)
    for what in HAPPENS:
        assert len({cost_of[what, protocol].moved for protocol in PROTOCOLS}) == 1, what
    assert {cost_of["one joins", protocol].moved for protocol in PROTOCOLS} == {8}
    assert {cost_of["one leaves", protocol].moved for protocol in PROTOCOLS} == {10}


@pytest.mark.parametrize("what", [what for what in HAPPENS if what != "rolling bounce"])
def test_eager_members_stop_all_and_the_others_what_moves(
    what: str, cost_of: dict[tuple[str, str], Cost]
) -> None:
    """C3, R1: of 40 partitions."""
    assert cost_of[what, "eager"].stopped == 40
    for protocol in ("cooperative", "KIP-848"):
        assert cost_of[what, protocol].stopped == cost_of[what, protocol].moved < 40


def test_rounds_are_those_of_the_protocols(cost_of: dict[tuple[str, str], Cost]) -> None:
    """A cooperative group needs a second one for what its owner must revoke first."""
    rounds = {protocol: cost_of["one joins", protocol].rounds for protocol in PROTOCOLS}
    assert rounds == {"eager": 1, "cooperative": 2, "KIP-848": 1}
    assert {cost_of["one leaves", protocol].rounds for protocol in PROTOCOLS} == {1}
    assert {cost_of["rolling bounce", protocol].rounds for protocol in PROTOCOLS} == {8, 12}


def test_one_that_is_busy_holds_up_who_waits_for_all(cost_of: dict[tuple[str, str], Cost]) -> None:
    """Behind the barrier eager members wait without work; without a barrier no member waits."""
    busy = {protocol: cost_of["one joins, another is busy for 20 s", protocol] for protocol in PROTOCOLS}
    assert busy["eager"].longest_s > 15
    assert busy["eager"].idle_s > 10 * busy["KIP-848"].idle_s
    assert busy["cooperative"].settled_s > 20
    assert busy["KIP-848"].longest_s < 3.1


def test_it_is_the_same_in_every_run(cost_of: dict[tuple[str, str], Cost]) -> None:
    again = costs(lambda line: None, [MEMBERS])
    assert {(cost.what, cost.protocol): cost for cost in again} == cost_of


def test_two_owners_end_the_measurement() -> None:
    owners = Ownership(2)
    owners.follow("a", frozenset(), frozenset({0, 1}), 5)
    owners.follow("a", frozenset({0, 1}), frozenset({0}), 7)
    owners.follow("b", frozenset(), frozenset({1}), 10)
    assert (owners.free, owners.moved, owners.stopped, owners.idle_ms, owners.longest_ms) == (0, 3, 1, 13, 5)
    with pytest.raises(ConformError, match="a and b own partition 0 at 11 ms"):
        owners.follow("b", frozenset({1}), frozenset({0, 1}), 11)


def test_the_figures_are_a_table_and_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "rebalances", lambda progress: rebalances(progress, [3]))
    bench.main(only=[bench.Part.rebalance], out=tmp_path)
    written = json.loads((tmp_path / "bench.json").read_text())["rebalance"]
    assert [row["protocol"] for row in written[:3]] == list(PROTOCOLS)
    assert all(row["idle_s"] > 0 and row["partitions"] == 30 for row in written)


def test_lines_rise_with_their_figures_and_their_names_are_apart() -> None:
    curves = {"one": {10: 1.0, 100: 100.0}, "two": {10: 10.0, 100: 99.0}}
    root = ElementTree.fromstring(lines(curves, Axes("members", "seconds")))
    assert "two, 100 members: 99.0 seconds" in {title.text for title in root.iter(f"{SVG}title")}
    first, second = root.findall(f"{SVG}g")
    low, high = (float(circle.attrib["cy"]) for circle in first.findall(f"{SVG}circle"))
    middle, _ = (float(circle.attrib["cy"]) for circle in second.findall(f"{SVG}circle"))
    assert middle == pytest.approx((low + high) / 2)
    names = [float(line.findall(f"{SVG}text")[0].attrib["y"]) for line in (first, second)]
    assert names[1] - names[0] == 14
