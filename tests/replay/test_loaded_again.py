"""States that the target python reads once and loads many times, as for all steps from one state."""

from __future__ import annotations

from typing import Any

from coordinator.core.errors import ErrorCode
from harness.replay.wire import topic_id
from harness.targets.python import PythonTarget

TOPICS = [{"name": "foo", "id": topic_id("foo"), "partitions": 2}]
VOLATILE: dict[str, Any] = {}
Seen = tuple[Any, list[Any]]


def joined(*members: str) -> PythonTarget:
    """A target with a group of these members."""
    target = PythonTarget("kip-848")
    target.topics(TOPICS, [])
    for member in members:
        join(target, member)
    return target


def join(target: PythonTarget, member: str, error: int = 0) -> None:
    """A member joins, which changes nearly all that a group has; or is refused with the error."""
    body = {"groupId": "g", "memberId": member, "memberEpoch": 0, "rebalanceTimeoutMs": 5000}
    body |= {"subscribedTopicNames": ["foo"], "topicPartitions": []}
    answer = target.request("ConsumerGroupHeartbeat", 0, {"id": member}, body).body
    assert answer is not None and answer["errorCode"] == error


def seen(target: PythonTarget) -> Seen:
    """All that a comparison looks at, of a target."""
    return target.describe("g"), target.records(0)


def freshly(records: list[Any]) -> Seen:
    """The state of a target that has loaded nothing else, from the records as JSON."""
    target = PythonTarget("kip-848")
    target.load(records, TOPICS, {})
    return seen(target)


def test_a_load_replaces_the_state_of_the_load_before() -> None:
    records = joined("m1", "m2").records(0)
    target, given = PythonTarget("kip-848"), tuple(records)
    for member in ("m3", "m1", "m2", "m4"):
        target.load(given, TOPICS, VOLATILE)
        assert seen(target) == freshly(records)
        join(target, member)
        target.topics([{**TOPICS[0], "partitions": 3}], [])


def test_each_tuple_is_loaded_for_itself_and_a_list_is_read_anew() -> None:
    of_one, of_two = joined("m1").records(0), joined("m1", "m2").records(0)
    target = PythonTarget("kip-848")
    for records in (of_one, of_two, of_one, of_one):
        target.load(tuple(records), TOPICS, VOLATILE)
        assert seen(target) == freshly(records)
    changed = list(of_one)
    target.load(changed, TOPICS, VOLATILE)
    changed[:] = of_two
    target.load(changed, TOPICS, VOLATILE)
    assert seen(target) == freshly(of_two)


def test_other_topics_and_another_volatile_state_make_another_state() -> None:
    target, given = joined("m1"), tuple(joined("m1").records(0))
    target.load(given, TOPICS, VOLATILE)
    target.load(given, [{**TOPICS[0], "partitions": 3}], VOLATILE)
    join(target, "m2")
    assert [topic["numPartitions"] for topic in target.describe("g")["metadata"]] == [3]
    target.load(given, TOPICS, {"clockMs": 700})
    assert [timer["deadlineMs"] for timer in target.describe("g")["timers"]] == [45_700]


def test_a_configuration_between_two_loads_of_one_state_counts() -> None:
    target, given = joined("m1"), tuple(joined("m1").records(0))
    target.load(given, TOPICS, VOLATILE)
    target.configure({"group.consumer.max.size": 1})
    target.load(given, TOPICS, VOLATILE)
    join(target, "m2", error=ErrorCode.GROUP_MAX_SIZE_REACHED)
