"""Partitions in the bytes of classic members, which no check of a request has seen (T2, M1, M2)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mixed_driver import FOO, MixedDriver

from coordinator import Coordinator
from coordinator.record_kinds import from_wire, to_wire

PARTITIONS = 4
INDEXES = st.frozensets(st.sampled_from([-(2**31), -1_000_000, -2, -1, *range(PARTITIONS + 1), 2**31 - 1]))


def check_log(driver: MixedDriver) -> None:
    """P2: each record reads back as it was written, and a coordinator that loads them has the same group."""
    source = driver.coordinator
    written = source.records()
    assert [to_wire(from_wire(one), one["offset"]) for one in written] == written
    loads = Coordinator()
    loads.load(written, [{"name": "foo", "id": FOO, "partitions": PARTITIONS}], source.volatile())
    assert loads.describe("g") == driver.group


@pytest.mark.parametrize("assignor", ["range", "uniform"])
@given(given_to_b=INDEXES, claimed=INDEXES, reported=INDEXES)
@example(frozenset({0, -1}), frozenset(), frozenset())
@example(frozenset({0}), frozenset({-1_000_000}), frozenset({-1}))
def test_partitions_that_no_topic_has_reach_no_record(
    assignor: str, given_to_b: frozenset[int], claimed: frozenset[int], reported: frozenset[int]
) -> None:
    """The leader assigns b some partitions; c claims some at the conversion and reports some after it."""
    driver, exist = MixedDriver(PARTITIONS), frozenset(range(PARTITIONS))
    generation = driver.stable({"b": given_to_b, "c": []})
    assert driver.join("c", claimed, generation - 1) is None
    driver.upgraded("a", serverAssignor=assignor)
    assert driver.held("b") == given_to_b & exist
    assert driver.held("c") == (claimed - given_to_b) & exist
    check_log(driver)
    driver.joined("c", reported, driver.epoch("c"))
    check_log(driver)
