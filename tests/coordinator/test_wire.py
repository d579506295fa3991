"""Partitions on the wire: their normal form, and how long it is kept."""

from __future__ import annotations

import gc
import weakref

from coordinator.core.wire import SMALL, to_wire

TOPIC = "00000000-0000-0000-0000-000000000001"


def test_equal_sets_have_one_normal_form() -> None:
    assert to_wire(frozenset({(TOPIC, 1), (TOPIC, 0)})) == [{"topicId": TOPIC, "partitions": [0, 1]}]


def test_large_sets_that_are_gone_take_no_memory() -> None:
    """A group of ten thousand partitions has another set after each rebalance: no former set is kept."""
    large = frozenset((TOPIC, index) for index in range(SMALL + 1))
    assert to_wire(large)[0]["partitions"] == list(range(SMALL + 1))
    there = weakref.ref(large)
    del large
    gc.collect()
    assert there() is None
