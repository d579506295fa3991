"""A seeded bug: `exhaust` finds the same differences as `conform replay`; every finding can be replayed."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from pipeline_runs import Ran, faulty, run, tiny

from harness.generate import tour_traces
from harness.itf import read_trace, write_trace
from harness.pipeline.tables import text
from harness.replay.files import replay_files
from harness.requirements import broken


def test_a_run_on_another_target_judges_again_and_does_nothing_else_again(differing: Ran) -> None:
    assert differing.units() == ["verdicts/graph"]


def test_the_same_actions_and_branches_fail_as_in_a_replay_of_tour_traces(
    differing: Ran, buggy: str, graph: Any, tmp_path: Path
) -> None:
    assert differing.model is not None
    files = []
    for number, trace in enumerate(tour_traces(differing.model, graph, max_length=200)):
        files.append(tmp_path / f"{number:04}.itf.json")
        write_trace(files[-1], trace)
    replayed = replay_files(files, buggy, max_differences=10**9)
    by_replay = {(one.action, one.branch) for one in replayed.failures}
    failed = [row for row in differing.rows("verdicts", "graph") if row["verdict"] == "fail"]
    assert {(row["action"], row["branch"]) for row in failed} == by_replay
    assert len(by_replay) > 1
    assert differing.result.failed == len(failed) > 10
    assert not differing.result.holds


def test_a_finding_is_all_differences_with_its_signature(differing: Ran) -> None:
    findings, failed = differing.rows("findings"), Counter[Any]()
    for row in differing.rows("verdicts", "graph"):
        if row["verdict"] == "fail":
            failed[signature(row)] += 1
    assert {named(one): one["count"] for one in findings} == failed
    assert sum(failed.values()) == differing.result.failed
    assert len({one["finding"] for one in findings}) == len(findings) > 1
    assert [one["count"] for one in findings] == sorted((one["count"] for one in findings), reverse=True)


def named(finding: Any) -> Any:
    return finding["action"], finding["branch"], finding["error"], tuple(finding["paths"])


def signature(row: Any) -> Any:
    """The place where a step differs: text in brackets in a path names one of several, and does not count;
    the type of a record and the name of a timer do."""
    names = set()
    for one in row["differences"]:
        place = re.sub(r"\[(?:([A-Za-z]+) )?[^\]]*\]", lambda match: f"[{match[1] or ''}]", one["path"])
        if place == "response.errorCode":
            place = f"{place} {one['expected']} -> {one['got']}"
        names.add(place)
    return row["action"], row["branch"], row["error"], tuple(sorted(names))


def test_a_finding_names_the_requirement_that_it_breaks(differing: Ran) -> None:
    for one in differing.rows("findings"):
        assert one["requirement"] == broken(one["action"], one["branch"], one["error"], one["paths"])
    assert {one["requirement"] for one in differing.rows("findings")} == {"R6", "R2"}


def test_the_example_of_a_finding_is_the_shortest(differing: Ran) -> None:
    depths = {row["state"]: row["depth"] for row in differing.rows("states")}  # which are checked elsewhere
    shortest: dict[Any, int] = {}
    for row in differing.rows("verdicts", "graph"):
        if row["verdict"] == "fail":
            name, steps = signature(row), depths[row["source"]] + 1
            shortest[name] = min(steps, shortest.get(name, steps))
    assert {named(one): one["steps"] for one in differing.rows("findings")} == shortest
    assert max(shortest.values()) > 2


def test_the_example_of_a_finding_replays_to_the_same_difference(differing: Ran, buggy: str) -> None:
    findings = {one["finding"]: one for one in differing.rows("findings")}
    examples = sorted((differing.place / "examples").glob("*.itf.json"))
    assert {path.name for path in examples} == {f"{name}.itf.json" for name in list(findings)[:20]}
    for path in examples:
        one = findings[path.name.removesuffix(".itf.json")]
        assert len(read_trace(path).states) == one["steps"] + 1
        replayed = replay_files([path], buggy, max_differences=10**9)
        last = replayed.failures[-1]
        assert last.index == one["steps"]
        assert (last.action, last.branch) == (one["action"], one["branch"])
        results = {(each.path, text(each.expected), text(each.got)) for each in last.differences}
        kept = {(each["path"], each["expected"], each["got"]) for each in one["differences"]}
        assert {way for way in results if "timers" not in way[0]} == kept
        assert not replay_files([path], "python").failures


def test_beside_an_example_stands_what_was_enabled_at_each_step(differing: Ran) -> None:
    for path in (differing.place / "examples").glob("*.itf.json"):
        enabled = json.loads(path.with_name(path.name.replace(".itf.json", ".enabled.json")).read_text())
        states: Any = read_trace(path).states
        assert list(enabled) == [str(number) for number in range(1, len(states))]
        for number, state in enumerate(states[1:], start=1):
            action, branch, member = (state["step"][name] for name in ("action", "branch", "member"))
            name = "/".join(filter(None, (action, branch)))
            ways = [way for way in enabled[str(number)] if re.match(rf"{re.escape(name)}(?: [A-Z_]+)?:", way)]
            assert any(member in way.partition(": ")[2].split(", ") for way in ways)
            assert len(enabled[str(number)]) > len(ways)
    first = next(iter((differing.place / "examples").glob("*.enabled.json"))).read_text()
    assert not re.search(r"Heartbeat/stable", str(json.loads(first)["1"]))  # nobody is a member yet


def test_the_example_of_a_full_group_replays_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "spec").mkdir()
    target = faulty("wrong")
    ran = run(tmp_path / "out", target, tiny(tmp_path / "spec", MaxGroupSize=1))
    assert any(row["error"] == "GROUP_MAX_SIZE_REACHED" for row in ran.rows("verdicts", "graph"))
    assert ran.result.findings
    for path in (tmp_path / "out" / "examples").glob("*.itf.json"):
        assert read_trace(path).meta["constants"]["MaxGroupSize"] == 1
        assert replay_files([path], target).failures


def test_a_run_without_differences_has_no_findings(tour: Ran) -> None:
    assert tour.rows("findings") == []
    assert not (tour.place / "examples").exists()


def test_the_page_of_the_graph_shows_what_failed(differing: Ran) -> None:
    page = (differing.place / "graph.html").read_text()
    judged = {row["step"]: row["verdict"] for row in differing.rows("verdicts", "graph")}
    edges: dict[Any, set[str]] = {}
    for row in differing.rows("steps", "graph"):
        edge = tuple(row[name] for name in ("source", "after", "action", "branch", "member"))
        edges.setdefault(edge, set()).add(judged[row["step"]])
    failed = sum("fail" in verdicts for verdicts in edges.values())
    assert failed > 100
    assert f"{failed:,} failed" in page and f"{len(edges) - failed:,} tested" in page
    assert f"{len(differing.rows('states')):,} states" in page
