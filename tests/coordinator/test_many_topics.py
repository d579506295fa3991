"""A change of many topics takes work in proportion to them."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any
from uuid import UUID

import pytest

from coordinator.core.errors import BadInput
from coordinator.core.topics import changed_topics


def topics_of(number: int) -> list[dict[str, Any]]:
    return [{"name": f"t{n}", "id": str(UUID(int=n + 1)), "partitions": 1} for n in range(number)]


def instructions(number: int) -> int:
    """The instructions of Python for a change that creates topics and one that deletes them."""
    count = 0

    def local(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal count
        count += event == "opcode"
        return local

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        frame.f_trace_opcodes = True
        return local

    many = topics_of(number)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        there = changed_topics({}, many, ())
        assert not changed_topics(there, [], [one["name"] for one in many])
    finally:
        sys.settrace(before)
    return count


def test_twice_as_many_topics_take_twice_the_work() -> None:
    """A request of 150 kB may create 10,000 topics: nobody else is answered meanwhile."""
    instructions(800)  # ids that were read once are known
    assert instructions(800) < 2.5 * instructions(400)


def test_an_id_belongs_to_one_topic_also_within_a_change() -> None:
    one, other = topics_of(2)
    with pytest.raises(BadInput, match=r"topic 't1' cannot have the id .* topic 't0' has it"):
        changed_topics({}, [one, {**other, "id": one["id"]}], ())
    there = changed_topics({}, [one], ())
    assert changed_topics(there, [{**one, "id": other["id"]}, {**other, "id": one["id"]}], ()).keys() == {
        "t0",
        "t1",
    }
