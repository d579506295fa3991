"""Faults from a seed and from a schedule."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import USAGE, ConformError
from harness.proxy.faults import KINDS, Fault, from_file, from_seed

API = "ConsumerGroupHeartbeat"


def test_the_same_seed_gives_the_same_faults_in_any_order_of_requests() -> None:
    places = [(client, api, nth) for client in (1, 2) for api in (API, "JoinGroup") for nth in range(1, 400)]
    one, again, other = from_seed(7), from_seed(7), from_seed(8)
    drawn = {place: one(*place) for place in places}
    assert {place: again(*place) for place in reversed(places)} == drawn
    assert {place: other(*place) for place in places} != drawn
    kinds = Counter(fault.fault for fault in drawn.values() if fault is not None)
    assert kinds.keys() == KINDS.keys()
    assert 0.05 < kinds.total() / len(places) < 0.15


def test_the_faults_of_a_record_are_a_schedule(tmp_path: Path) -> None:
    """A record has other lines, too, and faults that follow from others."""
    fault = Fault("late", after=2)
    given = [
        {"op": "hello", "answer": {}},
        {"op": "fault", "client": 2, "api": API, "nth": 3, **fault.shown(), "group": "g", "answer": {}},
        {"op": "fault", "client": 2, "api": API, "nth": 4, "fault": "behind a lost one", "answer": {}},
        {"op": "fault", "fault": "not recorded", "group": "h", "says": "", "answer": {}},
    ]
    schedule = tmp_path / "run.jsonl"
    schedule.write_text("".join(json.dumps(line) + "\n" for line in given))
    faults = from_file(schedule)
    again = faults(2, API, 3)
    assert again is not None and again.shown() == fault.shown()
    assert [faults(2, API, nth) for nth in (2, 4)] == [None, None]
    assert faults(1, API, 3) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("no JSON", "it is not JSON .Expecting value"),
        ("[" * 100_000, "maximum recursion depth"),
        ("[]", "it must be an object"),
        ('{"client":1,"api":"Fetch","nth":1,"fault":"delay"}', "there is no Fetch"),
        ('{"client":0,"api":"Heartbeat","nth":1,"fault":"delay"}', '"client" must be at least 1'),
        ('{"client":1,"api":"Heartbeat","nth":0,"fault":"delay"}', '"nth" must be at least 1'),
        ('{"client":1,"api":"Heartbeat","nth":1,"fault":"error","code":0}', '"code" 0 is no error'),
        ('{"client":1,"api":"Heartbeat","fault":"delay"}', 'the field "nth" is missing'),
        ('{"client":"1","api":"Heartbeat","nth":1,"fault":"delay"}', '"client" must be a whole number'),
        ('{"client":1,"api":"Heartbeat","nth":1,"fault":"death"}', "no fault 'death'"),
        ('{"client":1,"api":"Heartbeat","nth":1,"fault":["delay"]}', '"fault" must be a text, not a list'),
        ('{"op":"fault","fault":[1]}', '"fault" must be a text|"client" is missing'),
        ('{"client":1,"api":"Heartbeat","nth":1,"fault":"delay","ms":-1}', '"ms" must be at least 0'),
        ('{"client":1,"api":"Heartbeat","nth":1,"fault":"delay","ms":"x"}', '"ms" must be a whole number'),
        ('{"client":1,"api":"Heartbeat","nth":1,"fault":"error","code":null}', '"code" must be a whole'),
        ('{"client":1,"api":"Heartbeat","nth":1,"fault":"delay","md":1}', '"md" is not known'),
    ],
)
def test_a_wrong_line_of_a_schedule_is_named(tmp_path: Path, line: str, why: str) -> None:
    schedule = tmp_path / "schedule.jsonl"
    schedule.write_text(f"\n{line}\n")
    with pytest.raises(ConformError, match=f"line 2 is no fault: .*{why}") as error:
        from_file(schedule)
    assert error.value.exit_code == USAGE
