"""Changes of topics by clients: all of a request is made or nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from served import Recorded, ask, broker

STORAGE, EXISTS = 56, 36


def create(made: Recorded, *names: str, partitions: int = 1, **more: Any) -> list[Any]:
    topics = [{"name": name, "numPartitions": partitions, "replicationFactor": 1} for name in names]
    return list(ask(made, 19, 7, {"topics": topics, "timeoutMs": 1, **more})["topics"])


def delete(made: Recorded, *names: str) -> list[Any]:
    topics = [{"name": name, "topicId": None} for name in names]
    return list(ask(made, 20, 6, {"topics": topics, "timeoutMs": 1})["responses"])


def grow(made: Recorded, name: str, count: int, validate: bool = False) -> list[Any]:
    topics = [{"name": name, "count": count, "assignments": None}]
    return list(ask(made, 37, 3, {"topics": topics, "timeoutMs": 1, "validateOnly": validate})["results"])


def known(made: Recorded) -> dict[str, tuple[str, int]]:
    """The topics that both the broker and the coordinator have."""
    here = {one.name: (one.id, one.partitions) for one in made._cluster.topics.values()}
    assert here == {name: (one.id, one.partitions) for name, one in made._coordinator.topics.items()}
    return here


CHANGES: dict[str, Callable[[Recorded], list[Any]]] = {
    "create": lambda made: create(made, "new", "foo"),
    "delete": lambda made: delete(made, "foo"),
    "grow": lambda made: grow(made, "foo", 5),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_the_log_refuses_is_answered_and_not_made(change: str) -> None:
    """P3: broker and coordinator have the same topics after it, and the next change is made."""
    made = broker({"foo": 2, "bar": 1})
    before, foo_id = known(made), made._cluster.topics["foo"].id
    made._coordinator.fail_appends(True)
    first, *others = CHANGES[change](made)
    assert (first["errorCode"], [one["errorCode"] for one in others]) == (STORAGE, [EXISTS] * len(others))
    assert "the topics are as they were" in first["errorMessage"]
    assert first.get("topicId") in ((foo_id,) if change == "delete" else (None,))
    assert first.get("numPartitions") in ((-1,) if change == "create" else (None,))
    assert known(made) == before
    made._coordinator.fail_appends(False)
    assert CHANGES[change](made)[0]["errorCode"] == 0
    assert known(made) != before


def test_a_topic_whose_deletion_was_refused_is_in_metadata() -> None:
    """Members are assigned the topics that Metadata shows."""
    made = broker({"foo": 2})
    made._coordinator.fail_appends(True)
    delete(made, "foo")
    made._coordinator.fail_appends(False)
    create(made, "baz")
    body = {"groupId": "g", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 60000}
    names = {"subscribedTopicNames": ["foo"], "topicPartitions": []}
    [given] = ask(made, 68, 0, body | names)["assignment"]["topicPartitions"]
    shown = ask(made, 3, 12, {"topics": None, "allowAutoTopicCreation": False})["topics"]
    assert given["topicId"] in {one["topicId"] for one in shown}


def test_a_change_that_ends_in_a_fault_is_not_made() -> None:
    """The coordinator takes no topic without an id: of the two topics none is created."""
    made = broker({"foo": 2})
    before = known(made)
    made._cluster.new_id = lambda: "no id"
    with pytest.raises(ValueError, match="no id"):
        create(made, "new", "newer")
    assert known(made) == before


def test_a_topic_whose_partitions_are_placed_one_by_one_has_them_all() -> None:
    made = broker({})
    places = [{"partitionIndex": index, "brokerIds": [0]} for index in range(3)]
    topic = {"name": "placed", "numPartitions": -1, "replicationFactor": -1, "assignments": places}
    [answer] = ask(made, 19, 7, {"topics": [topic], "timeoutMs": 1})["topics"]
    assert (answer["errorCode"], answer["numPartitions"]) == (0, 3)
    assert known(made)["placed"][1] == 3
