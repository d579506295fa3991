"""Traces of classic groups over the wire: requests that wait, the initial delay, a bug that is seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from served import serving

from coordinator.core.errors import ErrorCode
from harness.replay.files import replay_files, trace_files
from harness.replay.run import Replayed
from harness.targets.broker import admin
from harness.targets.broker.connection import Connection
from harness.targets.waiting import NO_ID, NO_TIMER, PROLONGED, TOO_SLOW

TRACES = Path(__file__).parents[2] / "traces"
ASKED = trace_files(
    [
        TRACES / f"classic/MCClassic{name}.itf.json"
        for name in (
            "-goal-0002-no-protocol-in-common",
            "Offsets-goal-0003-commit-of-another-generation",
            "Static-goal-0001-a-static-member-is-replaced-while-it-waits",
            "Static-goal-0003-a-static-member-leaves-by-its-instance-id",
            "Tour-goal-0004-a-second-join-of-one-member",
            "Tour-goal-0006-heartbeat-during-a-rebalance",
        )
    ]
)
DELAYED = trace_files(
    [
        TRACES / "classic/MCClassic-goal-0008-both-are-assigned.itf.json",
        TRACES / "classic/MCClassicTour-goal-0014-the-barrier-opens-because-the-last-one-that-is-waited-for-"
        "leaves.itf.json",
        TRACES / "classic/MCClassicTour-goal-0010-the-leader-does-not-sync-in-time.itf.json",
        TRACES
        / "classic/MCClassicStaticClosed-goal-0002-a-static-leader-restarts-and-has-its-assignment-back"
        ".itf.json",
    ]
)
GOLDEN = TRACES / "golden/classic/leader-fails.itf.json"
DELAY_MS = 1500


def replayed(files: list[Path], dialect: str, wait_s: float = 0, delay_ms: int = DELAY_MS) -> Replayed:
    settings = {"group.initial.rebalance.delay.ms": delay_ms}
    with serving(topics={}, dialect=dialect, settings=settings) as (_, port):
        result = replay_files(files, f"broker:127.0.0.1:{port}", dialect, wait_s=wait_s)
        looking = Connection("127.0.0.1", port)
        assert not admin.groups(looking), "all groups of the run are deleted"
        looking.close()
    return result


@pytest.mark.parametrize("dialect", ["kip-848", "kafka-4.2"])
def test_requests_that_wait_are_answered_by_others(dialect: str) -> None:
    result = replayed([*ASKED, GOLDEN], dialect)
    assert (result.differences, result.coverage.actions) == (
        0,
        {"JoinGroup": 12, "ClassicHeartbeat": 1, "LeaveGroup": 1},
    )
    assert {(one.reason, one.skipped) for one in result.ended_early} == {(NO_ID, 1), ("load", 5)}
    assert "classic" in result.unobserved


def test_the_initial_delay_is_waited_for_and_impossible_steps_are_listed() -> None:
    result = replayed(DELAYED, "kip-848", wait_s=60)
    assert result.differences == 0
    reasons = {one.reason for one in result.ended_early}
    assert reasons <= {NO_TIMER, PROLONGED, TOO_SLOW}
    if TOO_SLOW not in reasons:
        assert reasons == {NO_TIMER, PROLONGED}
        assert result.waited is not None and result.waited.timers == 4
        assert result.coverage.actions["SyncGroup"] == 2


def test_a_delay_that_is_over_at_once_is_no_difference() -> None:
    result = replayed(ASKED[:1], "kip-848", delay_ms=100)
    assert (result.differences, [one.reason for one in result.ended_early]) == (0, [TOO_SLOW])


def test_a_bug_of_the_classic_coordinator_is_seen_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    """A heartbeat does not tell the member that the group rebalances (C1)."""
    monkeypatch.setattr("coordinator.classic.handlers.heartbeat_response", _never_rebalances)
    [failure] = replayed(ASKED[-1:], "kip-848").failures
    assert [(one.path, one.expected, one.got) for one in failure.differences] == [
        ("response.errorCode", 27, 0)
    ]


def _never_rebalances(error: ErrorCode) -> dict[str, int]:
    seen = ErrorCode.NONE if error is ErrorCode.REBALANCE_IN_PROGRESS else error
    return {"throttleTimeMs": 0, "errorCode": int(seen)}
