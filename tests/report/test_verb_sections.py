"""The sections of the report for simulate, mutate, diff and bench, and their effect on the verdict."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from results_folder import good_build, write
from test_page import Page, page, report
from test_sequence import Drawn
from verb_results import DIFFERED, MUTATED, PAIR, REBALANCED, SIMULATED

from harness.errors import EVIDENCE_MISSING, HOLDS, NOT_CONFORMANT, USAGE
from harness.report.changes import Change
from harness.report.pages import pages
from harness.report.results import read_results

TAG = re.compile(r"<[^>]*>")


def shown(folder: Path, name: str, data: Any, exit_code: int) -> tuple[Page, str]:
    """The report on a run with one more result, and its text with single spaces."""
    build = good_build(folder)
    write(build / "results" / f"{name}.json", data)
    ended = report(build)
    assert ended.exit_code == exit_code, ended.output
    result = page(build)
    return result, " ".join(unescape(TAG.sub(" ", result.source)).split())


def test_a_simulation_that_holds(tmp_path: Path) -> None:
    holds = {**SIMULATED, "violations": [], "assumptions": {"r9": True, "exemption": True}}
    result, text = shown(tmp_path, "simulate-groups", holds, HOLDS)
    assert "#simulate" in result.links
    assert "Whole groups on python (kip-848)" in text
    assert "everything holds : 152,887 events in 30 seeds, 668 rebalances, seed 848." in text
    assert "conform simulate --seed 848 --seeds 30" in text
    assert "2 faults fail-over 852 stall 0" in text


def test_a_violation_is_a_page_with_its_messages(tmp_path: Path) -> None:
    _, text = shown(tmp_path, "simulate-groups", SIMULATED, NOT_CONFORMANT)
    assert "Simulation of whole groups on python, without exemption: 1 kind of violations." in text
    (one,) = pages(read_results(tmp_path / "build", None)).shown
    assert (one.title, one.requirement) == ("R7 NoDoubleOwnership", "R7")
    assert one.command == "conform simulate --replay out/R7.json"
    assert (
        one.count == "seeds that show it: 39"
        and one.steps == 2
        and one.sent[-1] == "as a scenario: out/R7.yaml"
    )
    assert one.changes == [Change("group.processes[g10].owned", "[]", '["foo-0"]')]
    assert "The state at the last step place before after group.processes[g10].owned" in text
    drawn = Drawn(one.diagram)
    assert list(drawn.lanes) == ["g0", "g10", "coordinator"]
    assert drawn.says("join, subscribes to foo").kinds == ("request", "arrives")
    assert drawn.says("epoch 1, assigned foo-0").kinds == ("answer", "lost")
    assert drawn.says("late: heartbeat, epoch 1").kinds == ("request", "late")
    assert drawn.says("FENCED_MEMBER_EPOCH").kinds == ("error", "arrives")
    assert {"fail-over", "foo-0 is owned by g0 and by g10"} <= set(drawn.words)


def test_two_targets_that_differ(tmp_path: Path) -> None:
    _, text = shown(tmp_path, "simulate", PAIR, NOT_CONFORMANT)
    assert "600 steps in 3 runs" in text and "requests of administrators" in text
    (one,) = pages(read_results(tmp_path / "build", None)).shown
    assert one.command == "conform compare --target python --against kafka:4.2.1 --replay out/two.json"
    assert one.heads == ("after, on A", "after, on B")
    assert one.changes == [
        Change("response.memberEpoch", "", "2", "3"),
        Change("group.members[m1].target", "[]", '["foo-0", "foo-1"]'),
    ]
    drawn = Drawn(one.diagram)
    assert drawn.says("join as i1 topics foo").x1 == drawn.lanes["x1"]
    assert drawn.says("heartbeat e2 as i1 owns foo-0 foo-1 topics foo").x1 == drawn.lanes["m1"]
    assert "response.memberEpoch: A 2, B 3" in drawn.words


def test_a_simulation_without_an_event_shows_nothing(tmp_path: Path) -> None:
    _, text = shown(tmp_path, "simulate", {**SIMULATED, "violations": [], "events": 0}, NOT_CONFORMANT)
    assert "did nothing" in text


def test_mutants(tmp_path: Path) -> None:
    _, text = shown(tmp_path, "mutate", MUTATED, HOLDS)
    assert "1 mutants of 197 survive all checks." in text
    assert "all 240 197 193 1 1 2 99.5 %" in text
    assert "coordinator/x.py:55 drop - a or b + a" in text
    assert "Never <b>." in text and "basic.itf.json 52" in text


def test_the_cost_of_rebalances_is_a_plot_and_a_table(tmp_path: Path) -> None:
    result, text = shown(tmp_path, "bench", REBALANCED, HOLDS)
    assert "#rebalance" in result.links
    assert "eager, 100 members: 1,269.4 partition seconds" in text
    assert "KIP-848 100 1,000 1 9 1,000 0.0 0.0 2.5" in text
    assert "lines on logarithmic axes" in text


def test_figures_that_mutate_prints_count(tmp_path: Path) -> None:
    wrong = {**MUTATED, "exit_code": EVIDENCE_MISSING, "stale": ["x.py:7 is no mutant any more."]}
    _, text = shown(tmp_path, "mutate", wrong, EVIDENCE_MISSING)
    assert "Mutation: 1 of 197 mutants survive. x.py:7 is no mutant any more." in text


def test_a_change_of_the_protocol(tmp_path: Path) -> None:
    result, text = shown(tmp_path, "diff-fencing", DIFFERED, HOLDS)
    assert "#diff" in result.links
    assert "A is kip-848 , B is kip-848,FencedMemberIsRemoved=FALSE ." in text
    assert "FencedMemberIsRemoved: TRUE → FALSE. H5: it is removed." in text
    assert "Coordinator: Fence changed" in text and "INVARIANT X is new" in text
    assert "312 states in both, 1 in A alone, 0 in B alone" in text
    assert "Heartbeat 8,256 8,592 0 0" in text
    assert "Not compared: step.offset." in text and "TypeOK E4 holds holds still holds" in text
    assert "Heartbeat of m1 with epoch 2 FENCED_MEMBER_EPOCH; m1 is removed FENCED_MEMBER_EPOCH" in text
    assert "1 properties, 1 hold in both" in text and "1 properties, 0 hold in both" in text


@pytest.mark.parametrize(
    ("name", "data"),
    [("simulate", SIMULATED), ("mutate", MUTATED), ("diff", DIFFERED), ("bench", REBALANCED)],
)
def test_a_result_of_another_form_is_named(name: str, data: dict[str, Any], tmp_path: Path) -> None:
    build = good_build(tmp_path)
    first = next(key for key, value in data.items() if isinstance(value, list))
    write(build / "results" / f"{name}.json", {**data, first: 3})
    ended = report(build)
    assert ended.exit_code == USAGE and f"{name}.json" in ended.output


def test_none_of_them_is_missed(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    assert report(build).exit_code == HOLDS
    assert not {"#simulate", "#mutate", "#diff", "#rebalance"} & set(page(build).links)
