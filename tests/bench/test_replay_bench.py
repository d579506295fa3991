"""The benchmark of replays at a tiny size: the command runs, and the figures are of the same steps."""

from __future__ import annotations

import pytest

from benchmarks.replay import _speed, replays
from harness.errors import ConformError


def ignore(line: str) -> None:
    """Take a line of progress, and drop it."""


def test_the_command_is_measured_with_one_process_and_with_two() -> None:
    generate = ("generate", "MCSmall", "--simulate", "3", "--depth", "8", "--seed", "1")
    table = replays(ignore, generate, rounds=1)
    assert [row[0] for row in table.rows] == ["python, --jobs 1", "python, --jobs 2"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    one, two = table.data
    assert one["steps"] == two["steps"] > one["target_steps"] == two["target_steps"] > 0
    for data in table.data:
        assert min(data["start_cpu_s"], data["cpu_s"], data["clock_s"]) > 0


def test_a_run_that_is_too_short_has_no_speed() -> None:
    assert (_speed(12, 2.0), _speed(12, 0.0), _speed(12, -0.01)) == (6.0, None, None)


def test_a_command_that_fails_is_shown() -> None:
    with pytest.raises(ConformError, match=r"`conform generate MCNone --out .*` failed"):
        replays(ignore, ("generate", "MCNone"), rounds=1)
