"""Waivers: the differences that they cover, the fields that they need, and that none outlives its reason."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

import pytest
from partial_target import EVERYTHING, target

from harness.cli.replay import command
from harness.errors import ConformError
from harness.replay.files import replay_files, trace_files
from harness.replay.report import skipped
from harness.replay.signature import place, signature
from harness.waivers import Waiver, Waivers, read_waivers

BASIC = Path(__file__).parent.parent.parent / "traces" / "golden" / "basic.itf.json"
TODAY = date(2030, 5, 17)
JOIN = "Join/advance/NONE: group.metadata"
WAIVER = '[[waiver]]\nsignature = "{}"\nreason = "issue 17"\nexpires = {}\n'


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "waivers.toml"
    file.write_text(text, encoding="utf-8")
    return file


def waivers(*names: str, expires: date = TODAY) -> Waivers:
    return Waivers([Waiver(name, "issue 17", expires) for name in names], TODAY)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("group.members[m1].state", "group.members[].state"),
        ("group.timers[session m1].deadlineMs", "group.timers[session].deadlineMs"),
        ("records[ConsumerGroupMemberMetadata m1].value", "records[ConsumerGroupMemberMetadata].value"),
        ("response.errorCode", "response.errorCode 0 -> 25"),
        ("response.topics[0].errorCode", "response.topics[].errorCode"),
    ],
)
def test_whose_a_difference_is_does_not_count(path: str, where: str) -> None:
    assert place(path, 0, 25) == where
    assert signature("Heartbeat", "stable", "NONE", where) == f"Heartbeat/stable/NONE: {where}"
    assert signature("SessionTimeout", "", "", where) == f"SessionTimeout: {where}"


def test_a_waiver_with_the_words_of_a_cause_is_led_to_the_signature() -> None:
    """The causes of a replay name values, `group.state Stable -> Empty`; a signature names the place."""
    accepted = waivers("Heartbeat/revoke/NONE: group.state Stable")
    assert not accepted.covers("Heartbeat/revoke/NONE: group.state") and not accepted.covers("Leave: x")
    [given] = accepted.problems()
    assert given.endswith("has that signature. Did you mean Heartbeat/revoke/NONE: group.state?")


def test_a_waiver_counts_until_the_end_of_its_day() -> None:
    accepted = waivers("a", "b")
    assert accepted.covers("a") and accepted.covers("a") and not accepted.covers("c")
    assert [(one.signature, count) for one, count in accepted.listed()] == [("a", 2)]
    assert list(accepted.problems()) == [
        'The waiver of "b" covers nothing: no difference has that signature.'
    ]
    late = waivers("a", expires=TODAY - timedelta(days=1))
    assert not late.covers("a")
    assert list(late.problems()) == ['The waiver of "a" expired on 2030-05-16: issue 17.']


def test_a_waiver_covers_nothing_that_follows_from_its_difference() -> None:
    """A join is refused: the group and the records differ, too, and each of these differences has its own
    signature."""
    name, files = target(without=["static members"]), [BASIC.parent / "bugs" / "KAFKA-20641.itf.json"]
    refused = waivers("*: response.errorCode 0 -> 42")
    [failure] = replay_files(files, name, waives=refused.covers).failures
    paths = {one.path for one in failure.differences}
    assert refused.used.total() == 1 and "response.errorCode" not in paths
    assert {"response.memberEpoch", "group.groupEpoch", "group.members[A]"} <= paths
    whole = waivers("Join/advance/NONE: *")
    assert replay_files(files, name, waives=whole.covers).failures == []
    assert whole.used.total() == len(failure.differences) + 1


def test_a_star_in_a_waiver_stands_for_any_text() -> None:
    accepted = waivers("*: response.heartbeatIntervalMs", "Join*: group.members[].state", "Join/a: x")
    assert accepted.covers("Leave/last/NONE: response.heartbeatIntervalMs")
    assert accepted.covers("Join/advance/NONE: group.members[].state")
    assert accepted.covers("Join/a: x")
    for other in (
        "Leave: group.members[].state",
        "Join: group.members[m].state",
        "x: response.heartbeatIntervalMs2",
    ):
        assert not accepted.covers(other)
    assert {one.signature: count for one, count in accepted.listed()} == {
        "*: response.heartbeatIntervalMs": 1,
        "Join*: group.members[].state": 1,
        "Join/a: x": 1,
    }
    assert not list(accepted.problems())


def test_a_waiver_without_a_star_goes_first() -> None:
    accepted = waivers("*x", "ax")
    assert accepted.covers("ax") and accepted.used == {"ax": 1}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[waiver", "is not TOML"),
        ("waiver = 1", "must have tables"),
        ("[[waivers]]\nreason = 'x'", "must have tables"),
        ("[[waiver]]\nreason = 'x'\nexpires = 2030-01-01", 'waiver 1: the field "signature" is missing'),
        ("[[waiver]]\nsignature = 'x'\nexpires = 2030-01-01", 'waiver 1: the field "reason" is missing'),
        ("[[waiver]]\nsignature = 'x'\nreason = ' '\nexpires = 2030-01-01", "the reason is empty"),
        ("[[waiver]]\nsignature = 'x'\nreason = 'y'", 'the field "expires" is missing'),
        ("[[waiver]]\nsignature = 'x'\nreason = 'y'\nexpires = 'soon'", "must be a day, as 2027-03-01"),
        ("[[waiver]]\nsignature = 'x'\nreason = 'y'\nexpires = 2030-01-01T10:00:00", '"expires" must be'),
        (
            "[[waiver]]\nsignature = 'x'\nreason = 'y'\nexpires = 2030-01-01\nuntil = 1",
            'the field "until" is not known; known are signature, reason, expires',
        ),
        (WAIVER.format(" *: *", "2030-01-01"), "waiver 1: its signature covers everything"),
        (WAIVER.format("x", "2030-01-01") * 2, 'more than one waiver of "x"'),
    ],
)
def test_a_waiver_without_reason_or_date_is_a_wrong_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConformError, match=words) as caught:
        read_waivers(written(tmp_path, text), TODAY)
    assert caught.value.exit_code == 2


def test_there_must_be_a_file() -> None:
    with pytest.raises(ConformError, match="no-such-file") as caught:
        command([BASIC], waivers=Path("no-such-file.toml"))
    assert caught.value.exit_code == 2


def test_a_difference_is_waived_and_all_others_fail() -> None:
    """After a waived difference the target is loaded with the trace's state, as after any other."""
    files = trace_files([BASIC])
    every = replay_files(files, target(lie="late metadata"), max_differences=99)
    signatures = {failure.signature(one) for failure in every.failures for one in failure.differences}
    assert JOIN in signatures and len(signatures) > 2
    accepted = waivers(JOIN)
    some = replay_files(files, target(lie="late metadata"), max_differences=99, waives=accepted.covers)
    assert some.waived == accepted.used[JOIN] and 0 < some.waived < every.differences
    assert some.differences + some.waived == every.differences and some.judged == every.judged
    assert all(failure.signature(one) != JOIN for failure in some.failures for one in failure.differences)


def test_where_only_responses_differ_and_all_is_waived_the_trace_goes_on() -> None:
    """A target that cannot be loaded is taken to be in the state of the trace."""
    files, lie = trace_files([BASIC.parent]), {"lie": "greedy", "controls": ["topics", "fresh"]}
    stopped = replay_files(files, target(**lie), max_differences=99)
    names = {failure.signature(one) for failure in stopped.failures for one in failure.differences}
    for _ in range(9):
        accepted = waivers(*names)
        result = replay_files(files, target(**lie), max_differences=99, waives=accepted.covers)
        names |= {failure.signature(one) for failure in result.failures for one in failure.differences}
    assert result.failures == [] and "after a difference" not in skipped(result)
    assert result.judged > stopped.judged


def run(tmp_path: Path, text: str, lie: str) -> tuple[int, str]:
    """The command with these waivers: its exit code and what it failed with."""
    name = target(lie=lie, controls=[*EVERYTHING])
    try:
        command([BASIC], target=name, json_file=tmp_path / "a.json", waivers=written(tmp_path, text))
    except ConformError as error:
        return error.exit_code, error.message
    return 0, ""


def test_the_command_with_waivers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, given = run(tmp_path, "", "greedy")
    assert (code, "does not conform" in given) == (11, True)
    failures = json.loads((tmp_path / "a.json").read_text())["failures"]
    results = sorted({one["signature"] for failure in failures for one in failure["differences"]})
    text = "".join(WAIVER.format(name, "2999-01-01") for name in results)
    capsys.readouterr()
    assert run(tmp_path, text, "greedy") == (0, "")
    assert f"waived until 2999-01-01, issue 17: 1 x {results[0]}" in capsys.readouterr().out
    result = json.loads((tmp_path / "a.json").read_text())
    assert (result["differences"], len(result["waived"])) == (0, len(results))
    assert result["waived"][0] == {
        "signature": results[0], "reason": "issue 17", "expires": "2999-01-01", "differences": 1,
    }  # fmt: skip


def test_an_unused_and_an_expired_waiver_fail(tmp_path: Path) -> None:
    text = WAIVER.format("Join: x", "2999-01-01") + WAIVER.format("Leave: y", "2020-01-01")
    assert run(tmp_path, text, "") == (
        11,
        'The waiver of "Join: x" covers nothing: no difference has that signature. '
        'The waiver of "Leave: y" expired on 2020-01-01: issue 17.',
    )
    result = json.loads((tmp_path / "a.json").read_text())
    assert len(result["waiver_problems"]) == 2 and "covers nothing" in result["waiver_problems"][0]
