"""The summary on one screen, coverage, and the order of verdicts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from results_folder import ROOT, fails_as_expected, good_build, holds, write, wrong_count
from rich.console import Console
from verb_results import MUTATED, PAIR, SIMULATED

from harness.check import Checked
from harness.engines.base import Outcome
from harness.errors import (
    ENGINE_FAILED,
    EVIDENCE_MISSING,
    HOLDS,
    MODEL_VIOLATED,
    NOT_CONFORMANT,
    UNDECIDED,
    USAGE,
    WORST_FIRST,
    worst,
)
from harness.evidence import Evidence, Status
from harness.manifest import read_manifest
from harness.report.coverage import BRANCHES, ERRORS, coverage
from harness.report.page import page
from harness.report.results import read_results
from harness.report.summary import WIDTH, print_summary
from harness.report.verdict import MEANINGS, findings
from harness.stage_list import SHOWN


def summary(build: Path) -> list[str]:
    output = StringIO()
    console = Console(file=output, highlight=False, markup=False, width=WIDTH)
    print_summary(read_results(build, None), Path("build/report/index.html"), console)
    return output.getvalue().splitlines()


def whole_manifest() -> list[Checked]:
    """Every model of the repository as its entry expects it; all but those of every run are recorded."""
    checked: list[Checked] = []
    for entry in read_manifest(ROOT / "spec" / "manifest.json").entries:
        if entry.outcome is Outcome.HOLDS:
            one = holds(entry.name)
        else:
            one = fails_as_expected(entry.name, entry.property or "deadlock")
        one = replace(one, engine=entry.engine)
        if entry.name not in SHOWN:
            one = replace(
                one, evidence=Evidence(Status.ACCEPTED, recorded=f"2026-11-{20 + len(checked) % 4}")
            )
        checked.append(one)
    return checked


def test_the_repositorys_models_fit_on_one_screen(tmp_path: Path) -> None:
    lines = summary(good_build(tmp_path, whole_manifest()))
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    text = "\n".join(lines)
    for entry in read_manifest(ROOT / "spec" / "manifest.json").entries:
        if entry.tier == "small":
            figure = r" [\d,]+" if entry.name in SHOWN and entry.outcome == "holds" else ""
            family = "|".join(entry.name[:length] for length in range(5, len(entry.name) + 1))
            name = rf"\b{entry.name}|\b({family})… x \d+"
            assert re.search(rf"({name}){figure}(,|$)", text, re.MULTILINE), entry.name
    assert re.search(r"^golden +python +1 +12 +12 +0$", text, re.MULTILINE)
    recorded = len(read_manifest(ROOT / "spec" / "manifest.json").entries) - len(SHOWN)
    assert len(SHOWN) == 12
    assert f"results of models: 12 computed now, {recorded} recorded from 2026-11-20 to 2026-11-23" in text
    assert text.index("MCTour") < text.index("models recorded,") < text.index("MCSmall")
    assert "error codes: 1 of 15 reached; not reached by these traces: UNKNOWN_MEMBER_ID," in text
    assert lines[-1] == "verdict: everything holds"
    assert lines[-2] == "report: build/report/index.html"
    assert "\x1b" not in text


def test_errors_are_printed_before_the_verdict(tmp_path: Path) -> None:
    lines = summary(good_build(tmp_path, [holds("MCSmall"), wrong_count("MCOpen")]))
    assert "! MCOpen is not as expected: distinct_states: expected 7, got 12." in lines
    assert lines[-1] == f"verdict: {MEANINGS[MODEL_VIOLATED]}"
    assert next(line for line in lines if line.startswith("MCOpen")).split()[-1] == "NO"


def test_simulations_and_mutants_are_a_line_each(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    write(build / "results" / "simulate-groups.json", {**SIMULATED, "violations": []})
    write(build / "results" / "mutate.json", MUTATED)
    lines = " ".join(summary(build)).replace("  ", " ")
    assert "simulation of whole groups on python, without exemption: 152,887 events" in lines
    assert "668 rebalances, all of it holds" in lines
    assert "mutants: 193 of 197 killed, 1 survive" in lines


def exhausted(build: Path, **counts: object) -> list[str]:
    """The summary where `conform exhaust` gave other counts."""
    file = build / "results" / "exhaust-MCTour.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **counts}))
    return summary(build)


def test_different_steps_of_exhaust_are_listed(tmp_path: Path) -> None:
    lines = exhausted(good_build(tmp_path), failed=3)
    assert re.fullmatch(r"MCTour +python +312 +7,285 +0 +3", next(one for one in lines if "7,285" in one))
    assert "! python differs from the specification in 3 of 7,285 steps of MCTour." in lines
    assert lines[-1] == f"verdict: {MEANINGS[NOT_CONFORMANT]}"


WRONG = {"wrong": {"states": 92, "state": "a", "depth": 2, "differences": []}}


@pytest.mark.parametrize(
    "counts", [{"not_judged": 1}, {"quarantined": 1}, {"steps": 0}, {"loads": WRONG}], ids=" ".join
)
def test_steps_that_exhaust_left_out_are_no_success(tmp_path: Path, counts: dict[str, object]) -> None:
    assert exhausted(good_build(tmp_path), **counts)[-1] == f"verdict: {MEANINGS[ENGINE_FAILED]}"


STALE = 'The waiver of "Join: x" covers nothing: no difference has that signature.'


@pytest.mark.parametrize(
    ("file", "others"),
    [
        ("replay-golden", {"waiver_problems": [STALE]}),
        ("exhaust-MCTour", {"waiver_problems": [STALE], "holds": False}),
        ("exhaust-MCTour", {"holds": False}),
        ("simulate", {**PAIR, "found": [], "waiver_problems": [STALE]}),
    ],
)
def test_a_run_that_failed_without_a_difference_is_no_success(
    tmp_path: Path, file: str, others: dict[str, object]
) -> None:
    path = good_build(tmp_path) / "results" / f"{file}.json"
    write(path, {**(json.loads(path.read_text()) if path.is_file() else {}), **others})
    results = read_results(tmp_path / "build", None)
    [finding] = findings(results)
    assert finding.exit_code == NOT_CONFORMANT
    assert STALE in finding.sentence or "waiver_problems" not in others
    assert "oes not" in page(results, None) or "1 waiver to remove" in page(results, None)


def test_states_that_exhaust_loaded_wrongly_are_listed(tmp_path: Path) -> None:
    assert "! python did not load 92 states of MCTour: its adapter is to blame." in exhausted(
        good_build(tmp_path), loads=WRONG
    )


def test_a_refused_load_is_no_problem_of_exhaust(tmp_path: Path) -> None:
    lines = exhausted(good_build(tmp_path), loads={"refused": WRONG["wrong"]})
    assert not any("adapter" in line for line in lines)


def test_branches_that_count_are_those_of_the_specification() -> None:
    text = (ROOT / "spec" / "Coordinator.tla").read_text()
    body = re.search(r"^BranchOf\(.*?(?=^\S*\(\*{3})", text, re.DOTALL | re.MULTILINE)
    assert body
    accepted = set(re.findall(r'"([\w-]+)"', body[0])) - {"NONE"}
    refused = set(re.findall(r'(?:"[A-Z_]+"|UnknownError\(g\)|refused), "(\w+)"', text)) - {"join", "keep"}
    admission = (ROOT / "spec" / "Admission.tla").read_text()
    not_admitted = set(re.findall(r'!\.branch = "([\w-]+)"', admission))
    assert accepted | refused - {"current"} | not_admitted == set(BRANCHES)


def test_error_codes_that_count_are_those_of_the_dialect() -> None:
    modules = ("Coordinator.tla", "Dialects.tla", "Offsets.tla", "ClientAssignors.tla", "Admission.tla")
    text = "".join((ROOT / "spec" / name).read_text() for name in modules)
    given = set(re.findall(r'"((?:[A-Z]+_)+[A-Z]+|NONE)"', text))
    others = {"GROUP_ID_NOT_FOUND", "FENCED_INSTANCE_ID"}  # of dialects (UnknownGroupError, InstanceChecked)
    assert set(ERRORS) == given - others


def test_coverage_adds_up_replays(tmp_path: Path) -> None:
    results = read_results(good_build(tmp_path), None)
    actions, branches, errors = coverage([*results.replays, *results.replays])
    assert actions.counts == {"Join": 6, "Heartbeat": 18}
    assert (actions.reached, "Leave" in actions.unreached, "Join" in actions.unreached) == (2, True, False)
    assert branches.counts["Heartbeat/acknowledge"] == 4
    assert branches.unreached == [
        "revoking",
        "narrow",
        "acknowledge-revoke",
        "retry",
        "fenced",
        "unknown",
        "leave",
        "away",
        "return",
        "invalid",
        "unsupported",
        "unreleased",
        "full",
        "not-admitted",
    ]
    assert (errors.reached, errors.total) == (1, 15)


def test_every_exit_code_has_a_place_and_a_meaning() -> None:
    codes = {HOLDS, USAGE, ENGINE_FAILED, MODEL_VIOLATED, NOT_CONFORMANT, EVIDENCE_MISSING, UNDECIDED}
    assert set(WORST_FIRST) == set(MEANINGS) == codes
    assert worst([HOLDS, EVIDENCE_MISSING, NOT_CONFORMANT]) == NOT_CONFORMANT
    assert worst([MODEL_VIOLATED, ENGINE_FAILED]) == ENGINE_FAILED
    assert worst([]) == HOLDS


def test_parts_that_a_replay_left_out_are_listed(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    file = build / "results" / "replay-golden.json"
    left = "skipped, needs fire: 4 steps at the end of 1 traces"
    file.write_text(
        json.dumps({**json.loads(file.read_text()), "left_out": [left, "not compared <metadata>"]})
    )
    assert {f"golden: {left}", "golden: not compared <metadata>"} <= set(summary(build))
    shown = page(read_results(build, None))
    assert left in shown and "not compared &lt;metadata&gt;" in shown
