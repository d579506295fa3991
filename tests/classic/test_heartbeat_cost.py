"""The work of a heartbeat to a classic group, counted in instructions of Python (C1, H8)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from classic_driver import ClassicDriver

sys.path.append(str(Path(__file__).parents[1] / "coordinator"))
from work_counter import instructions


@pytest.mark.parametrize("state", ["Stable", "PreparingRebalance"])
def test_a_heartbeat_costs_the_same_in_a_group_of_any_size(state: str) -> None:
    counts = []
    for size in (2, 200):
        driver = ClassicDriver()
        members = driver.stable(*(f"c{number:03}" for number in range(size)))
        if state == "PreparingRebalance":
            driver.join("c000", members["c000"])
        assert driver.group["state"] == state
        driver.advance(1)
        generation = driver.group["generation"]
        sent = ("c001", members["c001"], generation)
        driver.heartbeat(*sent)
        counts.append(instructions(partial(driver.heartbeat, *sent)))
    assert counts[0] > 100
    assert counts[0] == counts[1]


class NeverListed(dict[str, Any]):
    """Groups that may be looked up by their ids, and not gone through."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("a request goes through all groups")


def test_no_request_goes_through_all_consumer_groups() -> None:
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    driver.coordinator._groups = NeverListed()
    assert driver.heartbeat("c1", members["c1"], driver.group["generation"]) == 0
    assert driver.join("c3") is not None
    assert driver.leave(members["c2"]) == 0
    with pytest.raises(AssertionError, match="all groups"):
        list(driver.coordinator._groups)


def test_a_heartbeat_starts_its_own_session_anew_and_no_other() -> None:
    driver = ClassicDriver()
    members = driver.stable("c1", "c2")
    before = {one["member"]: one["deadlineMs"] for one in driver.group["timers"]}
    driver.advance(1_000)
    assert driver.heartbeat("c2", members["c2"], driver.group["generation"]) == 0
    after = {one["member"]: one["deadlineMs"] for one in driver.group["timers"]}
    assert after == {members["c1"]: before[members["c1"]], members["c2"]: before[members["c2"]] + 1_000}
