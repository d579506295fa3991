"""A target that cannot be loaded is in the wrong state before the next step, too."""

from __future__ import annotations

from pathlib import Path

from partial_target import target

from harness.replay.files import replay_files

BASIC = Path(__file__).parent.parent.parent / "traces" / "golden" / "basic.itf.json"


def test_a_state_that_stays_wrong_is_one_difference() -> None:
    """The group of this trace reconciles twice: the second time is a difference of its own."""
    result = replay_files([BASIC], target(controls=["topics", "fresh", "describe"], lie="state"))
    steps = [one.index for one in result.failures]
    assert [[one.path for one in failure.differences] for failure in result.failures] == [
        ["group.state"] for _ in steps
    ]
    assert steps == [3, 7]
