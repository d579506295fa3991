"""A page for each finding: what is broken, the shortest trace to it, what changed, and the command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from results_folder import GOLDEN, ROOT, fails_as_expected, good_build, holds, replayed, write, wrong_trace
from typer.testing import CliRunner

from harness.cli.main import app
from harness.itf import read_trace, write_trace
from harness.manifest import read_manifest
from harness.replay.rules import Rule
from harness.report.changes import Change, value
from harness.report.pages import MOST, Pages, pages
from harness.report.results import read_results

COUNTEREXAMPLE = ROOT / "traces" / "counterexamples" / "MCNoR9.itf.json"


def pages_of(build: Path) -> Pages:
    return pages(read_results(build, None))


def test_a_run_in_which_everything_holds_has_none(tmp_path: Path) -> None:
    assert pages_of(good_build(tmp_path)) == Pages([], 0)


def test_a_difference_on_a_target(tmp_path: Path) -> None:
    trace = wrong_trace(tmp_path)
    (page,) = pages_of(good_build(tmp_path, trace=trace)).shown
    assert page.title == "Join/advance/NONE: response.memberEpoch"
    assert (page.anchor, page.requirement, page.count, page.steps) == ("finding-1", "R6", "", 1)
    assert page.sentence.startswith("A member whose assignment does not change") and not page.listed
    assert page.command == f"conform replay {trace} --target python"
    assert page.changes[0] == Change("response.memberEpoch", "", "3", "1")
    assert Change("group.groupEpoch", "0", "1") in page.changes
    assert "response.memberEpoch: 3, got 1" in page.diagram and page.diagram.count('class="band"') == 1
    assert "    Note over L0,L1: response.memberEpoch: 3, got 1\n" in page.mermaid
    assert page.sent[0] == 'next target assignment: {"A": ["foo-0", "foo-1", "foo-2"]}'
    assert '"memberEpoch": 0' in page.sent[1]


def test_broken_rules_are_printed_in_words(tmp_path: Path) -> None:
    build = good_build(tmp_path, trace=wrong_trace(tmp_path))
    file = build / "results" / "replay-golden.json"
    data = json.loads(file.read_text())
    rule = {"requirement": "R7", "property": "HeldDisjoint", "says": "foo-2 is held by A and by C"}
    data["failures"][0]["rules"] = [rule]
    write(file, data)
    (page,) = pages_of(build).shown
    assert (page.requirement, page.rules) == ("R7", [Rule(**rule)])
    CliRunner().invoke(app, ["report", "--results", str(build)])
    html = (build / "report" / "index.html").read_text()
    assert "<b>R7</b>, <code>HeldDisjoint</code>: foo-2 is held by A and by C" in html


def test_the_command_waits_where_the_replay_did(tmp_path: Path) -> None:
    build = good_build(tmp_path, trace=wrong_trace(tmp_path))
    file = build / "results" / "replay-golden.json"
    waited = {"budget_s": 60.0, "spent_s": 3.1, "timers": 1, "note": ""}
    write(file, {**json.loads(file.read_text()), "waited": waited})
    (page,) = pages_of(build).shown
    assert page.command.endswith(" --target python --wait 60")


def test_alike_differences_are_one_finding_with_the_shortest_trace(tmp_path: Path) -> None:
    build = good_build(tmp_path, trace=wrong_trace(tmp_path))
    file = build / "results" / "replay-golden.json"
    data = json.loads(file.read_text())
    (failure,) = data["failures"]
    other = {**failure["differences"][0], "path": "group.members[A].state", "expected": "a", "got": "b"}
    longer = {**failure, "index": 9, "trace": "elsewhere"}
    epoch = {**other, "path": "group.groupEpoch", "expected": 1, "got": 5}
    data["failures"] = [longer, failure, {**failure, "differences": [other, epoch]}]
    write(file, data)
    second, first = pages_of(build).shown  # the most serious first, as causes are ordered
    assert (first.count, first.steps) == ("2 steps differ in this way", 1)
    assert first.trace == failure["trace"]
    assert (second.count, second.title) == ("", "Join/advance/NONE: group.members[].state and 1 more")
    assert Change("group.members[A].state", "absent", '"a"', '"b"') in second.changes
    assert Change("group.groupEpoch", "0", "1", "5") in second.changes
    (rest,) = (one for one in second.changes if one.path == "group.members[A], the rest")
    assert (rest.before, rest.got) == ("absent", None) and "state:" not in rest.expected


def test_findings_of_exhaust_are_read_from_its_examples(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    trace = read_trace(GOLDEN)
    example = tmp_path / "tables" / "examples" / "abc.itf.json"
    example.parent.mkdir(parents=True)
    write_trace(example, replace(trace, states=trace.states[:5]))
    finding: dict[str, Any] = {
        **{"finding": "abc", "requirement": "R1", "action": "Heartbeat", "branch": "revoke", "error": "NONE"},
        **{"count": 7, "steps": 4},
        "differences": [{"path": "response.memberId", "expected": '"A"', "got": "null"}],
    }
    file = build / "results" / "exhaust-MCTour.json"
    known = json.loads(file.read_text())
    write(file, {**known, "failed": 7, "output": str(tmp_path / "tables"), "findings": [finding]})
    (page,) = pages_of(build).shown
    assert (page.count, page.steps, page.requirement) == ("7 steps differ in this way", 4, "R1")
    assert page.changes[0] == Change("response.memberId", "", '"A"', "null")
    assert page.command == f"conform replay {example} --target python"
    assert "A e1 has foo-0,1, revokes foo-2" in page.diagram
    assert [stage.title for stage in page.stages][:3] == ["the beginning", "Join/advance", "Heartbeat/stable"]
    assert all(not stage.enabled for stage in page.stages)
    example.with_name("abc.enabled.json").write_text('{"2": ["Leave/leave: A"]}')
    (page,) = pages_of(build).shown
    assert [stage.enabled for stage in page.stages] == [(), (), ["Leave/leave: A"], (), ()]
    example.with_name("abc.enabled.json").write_text("[]")
    (page,) = pages_of(build).shown
    assert "abc.enabled.json is not what `conform exhaust` writes" in page.lacking


def test_the_group_of_a_finding_has_the_fields_of_its_kind(tmp_path: Path) -> None:
    """A Connect group has connectors and no partition metadata, in what its last step changes, too."""
    whole = read_trace(ROOT / "traces" / "golden" / "connect" / "worker-leaves.itf.json")
    example = tmp_path / "tables" / "examples" / "abc.itf.json"
    example.parent.mkdir(parents=True)
    write_trace(example, replace(whole, states=whole.states[:2]))
    finding: dict[str, Any] = {
        **{"finding": "abc", "requirement": "W1", "action": "Join", "branch": "", "error": "NONE"},
        **{"count": 1, "steps": 1, "differences": []},
    }
    build = good_build(tmp_path)
    file = build / "results" / "exhaust-MCTour.json"
    known = json.loads(file.read_text())
    write(file, {**known, "failed": 1, "output": str(tmp_path / "tables"), "findings": [finding]})
    (page,) = pages_of(build).shown
    text = " ".join(f"{change.path} {change.expected}" for change in page.changes)
    assert "connectorsAndTasks" in text
    assert "subscribedTopicNames" not in text and "numPartitions" not in text


def test_a_model_that_must_fail_has_its_counterexample(tmp_path: Path) -> None:
    failing = replace(fails_as_expected("MCNoR9", "NoDoubleOwnership"), counterexample=COUNTEREXAMPLE)
    (page,) = pages_of(good_build(tmp_path, [holds("MCSmall"), failing])).shown
    assert page.expected and page.title == "MCNoR9: NoDoubleOwnership"
    assert page.command == "conform check MCNoR9"
    assert "NoDoubleOwnership is violated" in page.diagram
    assert page.steps == 17 and all(change.got is None for change in page.changes)


def test_each_step_of_a_closed_model_says_what_it_changes_for_clients_and_network(tmp_path: Path) -> None:
    failing = replace(fails_as_expected("MCNoR9", "NoDoubleOwnership"), counterexample=COUNTEREXAMPLE)
    (page,) = pages_of(good_build(tmp_path, [holds("MCSmall"), failing])).shown
    assert [stage.number for stage in page.stages] == list(range(18))
    received = {change.path: (change.before, change.expected) for change in page.stages[12].changes}
    assert page.stages[12].title == "ReceiveResponse"
    assert received["clients.m2.owned"] == ("{}", '{<<"foo", 1>>}')
    assert set(received) == {"clients.m2.owned", "clients.m2.told", "responses.m2"}
    revoked = {change.path: change for change in page.stages[4].changes}
    assert {"group.members[m1].pendingRevocation", "responses.m1"} <= set(revoked)
    assert not {one for stage in page.stages for one in stage.changes if one.path.startswith("step")}


def test_a_missing_trace_is_reported(tmp_path: Path) -> None:
    trace = wrong_trace(tmp_path)
    build = good_build(tmp_path, trace=trace)
    trace.unlink()
    (page,) = pages_of(build).shown
    assert not page.diagram and page.lacking == f"The trace {trace} does not exist."
    assert page.changes == [Change("response.memberEpoch", "", "3", "1")]


def test_more_findings_than_anyone_reads_are_counted(tmp_path: Path) -> None:
    build = good_build(tmp_path, trace=wrong_trace(tmp_path))
    file = build / "results" / "replay-golden.json"
    data = json.loads(file.read_text())
    (failure,) = data["failures"]
    data["failures"] = [{**failure, "action": f"A{number}"} for number in range(MOST + 3)]
    write(file, data)
    assert (len(pages_of(build).shown), pages_of(build).left_out) == (MOST, 3)


def test_the_requirement_is_printed_in_words(tmp_path: Path) -> None:
    build = good_build(tmp_path, trace=wrong_trace(tmp_path))
    (page,) = pages(read_results(build, read_manifest(ROOT / "spec" / "manifest.json"))).shown
    assert page.sentence == "A member whose assignment does not change only moves to the new epoch"


@pytest.mark.parametrize(
    ("path", "given", "words"),
    [
        *(("group", "(absent)", "absent"), ("group", None, "null"), ("group.members", [], "[]")),
        ("group", {"a": None, "b": 1, "c": "x"}, 'b: 1\nc: "x"'),
        ("response.errorCode", 110, "110 (FENCED_MEMBER_EPOCH)"),
        ("response.topics", [{"errorCode": 113}], '[{"errorCode": 113 (STALE_MEMBER_EPOCH)}]'),
        ("response.topics", [{"errorCode": 0}], '[{"errorCode": 0}]'),
        *(("response.errorCode", 999, "999"), ("response.memberEpoch", 110, "110")),
    ],
)
def test_values(path: str, given: Any, words: str) -> None:
    assert value(path, given) == words


def test_a_replay_counts_requirements_and_how_coverage_grows() -> None:
    coverage = replayed(GOLDEN)["coverage"]
    assert coverage["requirements"]["R1"] == {"steps": coverage["branches"]["Heartbeat/revoke"], "traces": 1}
    quiet = ("Join/advance", "Heartbeat/advance", "Heartbeat/stable")
    assert coverage["requirements"]["R6"]["steps"] == sum(coverage["branches"][name] for name in quiet)
    assert coverage["growth"] == [[1, coverage["distinct_target_steps"], len(coverage["branches"])]]
