"""The records of a return are written once (P1, S1): a tour of MCStaticTour, shrunk, on which they were
expected again with the next target."""

from __future__ import annotations

from pathlib import Path

from harness.replay.files import replay_files

TRACE = Path(__file__).parents[1] / "data" / "return-then-join.itf.json"


def test_the_target_of_one_that_returned_is_not_due_again() -> None:
    result = replay_files([TRACE], "python")
    assert result.judged == 4
    assert [one.differences for one in result.failures] == []
