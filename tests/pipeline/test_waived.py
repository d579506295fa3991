"""Differences that a waiver accepts: counted, named, no finding; an expired or unused one fails."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import Ran, faulty, run

from harness.cli.exhaust import command
from harness.errors import ConformError
from harness.pipeline.report import summary
from harness.waivers import Waiver, Waivers

TODAY = date(2030, 5, 17)
GROUP_EPOCH = "Leave/unknown/UNKNOWN_MEMBER_ID: group.groupEpoch"
ASSIGNMENT_EPOCH = "Leave/unknown/UNKNOWN_MEMBER_ID: group.assignmentEpoch"
WAIVER = '[[waiver]]\nsignature = "{}"\nreason = "issue 17"\nexpires = {}\n'


@pytest.fixture(scope="module")
def wrong(dot: Path, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A target whose groups are wrong after a member left."""
    return run(tmp_path_factory.mktemp("wrong") / "out", faulty("worse"), files=[dot])


def signatures(ran: Ran) -> list[str]:
    return sorted({name for one in ran.result.findings for name in one["signatures"]})


def accepting(*names: str) -> Waivers:
    return Waivers([Waiver(name, "issue 17", TODAY) for name in names], TODAY)


def test_a_finding_has_the_signatures_of_its_differences(wrong: Ran) -> None:
    assert signatures(wrong) == [ASSIGNMENT_EPOCH, GROUP_EPOCH]
    for one in wrong.rows("findings"):
        assert len(one["signatures"]) == len(one["paths"])


def test_waived_differences_are_no_findings(wrong: Ran, dot: Path) -> None:
    names = signatures(wrong)
    ran = run(wrong.place, faulty("worse"), files=[dot], waivers=accepting(*names))
    result = ran.result
    assert ran.units() == ["verdicts/graph"]
    assert (result.holds, result.failed, result.findings) == (True, 0, [])
    assert result.waived == wrong.result.failed > 0
    assert (
        sum(row["failed"] for row in result.coverage)
        == 0
        < sum(row["failed"] for row in wrong.result.coverage)
    )
    assert [one["signature"] for one in result.waivers] == names
    sentence = " ".join(" ".join(summary(result, None, "out")).split())
    named = ", ".join(f'"{name}"' for name in names)
    assert (
        f"hold on {result.target}, none left out, except {result.waived} steps waived by {named}" in sentence
    )
    assert f"waived until 2030-05-17, issue 17: {result.waivers[0]['steps']} x {names[0]}" in sentence


def test_a_step_that_differs_in_anything_else_is_a_finding(wrong: Ran, dot: Path) -> None:
    result = run(wrong.place, faulty("worse"), files=[dot], waivers=accepting(GROUP_EPOCH)).result
    assert result.failed + result.waived == wrong.result.failed and 0 < result.waived < wrong.result.failed
    assert not result.holds
    assert [one["signatures"] for one in result.findings] == [[ASSIGNMENT_EPOCH, GROUP_EPOCH]]


def test_a_step_of_which_only_some_differences_are_waived_fails() -> None:
    from harness.pipeline.results import waive

    one = {"action": "Leave", "branch": "leave", "error": "NONE", "count": 3, "signatures": ["a", "b"]}
    accepted = accepting("a", "b")
    assert waive([one], accepted) == ([], {("Leave", "leave", "NONE"): 3})
    assert accepted.used == {"a": 3, "b": 3}
    some = accepting("b")
    assert waive([one], some) == ([one], {})
    assert list(some.problems()) == []


def judged(folder: Path, text: str, wrong: Ran, dot: Path) -> tuple[ConformError | None, Any]:
    """The command with these waivers."""
    (folder / "waivers.toml").write_text(text)
    place = {"out": str(wrong.place), "json_file": folder / "a.json", "waivers": folder / "waivers.toml"}
    error = None
    try:
        command(inputs=[str(dot)], target=faulty("worse"), **place)  # type: ignore[arg-type]
    except ConformError as caught:
        error = caught
    return error, json.loads((folder / "a.json").read_text())


def test_an_unused_and_an_expired_waiver_fail(wrong: Ran, dot: Path, tmp_path: Path) -> None:
    accepted = "".join(WAIVER.format(name, "2999-01-01") for name in signatures(wrong))
    error, data = judged(tmp_path, accepted, wrong, dot)
    assert (error, data["holds"], data["waived"] > 0) == (None, True, True)
    error, data = judged(tmp_path, accepted + WAIVER.format("Leave: x", "2999-01-01"), wrong, dot)
    assert error is not None and error.exit_code == 11
    assert error.message == 'The waiver of "Leave: x" covers nothing: no difference has that signature.'
    assert (data["holds"], data["waiver_problems"]) == (False, [error.message])
    error, data = judged(tmp_path, accepted.replace("2999", "2020"), wrong, dot)
    assert error is not None and error.exit_code == 11 and "does not conform" in error.message
    assert "expired on 2020-01-01: issue 17" in error.message
    assert (data["holds"], data["waived"], data["differences"]) == (False, 0, wrong.result.failed)
