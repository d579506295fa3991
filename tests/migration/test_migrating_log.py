"""The log of a group that is converted up and down, compacted (P2, P3, M1; real bugs 33 and 35).

Cleaning keeps of a range of the log the last record of each key. It drops a tombstone once nothing of its key
is left before it: a classic group's, too, beside the offsets that were committed before the conversion.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from mixed_driver import FOO, MixedDriver

Json = dict[str, Any]
TOPICS = [{"name": "foo", "id": FOO, "partitions": 4}]


def key_of(record: Json) -> str:
    return repr(sorted(record["key"].items()))


def compacted(log: Sequence[Json], first: int, last: int, drop_tombstones: bool) -> list[Json]:
    """The log after the records first..last were cleaned."""
    kept = {key_of(log[n]): n for n in range(first, last + 1)}
    before = {key_of(record) for record in log[:first]}

    def stays(n: int, record: Json) -> bool:
        if not first <= n <= last:
            return True
        gone = drop_tombstones and record["value"] is None and key_of(record) not in before
        return kept[key_of(record)] == n and not gone

    return [record for n, record in enumerate(log) if stays(n, record)]


def loaded(log: Sequence[Json]) -> Json:
    """The group and its committed offsets, in a new coordinator."""
    driver = MixedDriver()
    driver.coordinator.load(log, TOPICS, {})
    fetched = driver.coordinator.request(
        "OffsetFetch",
        9,
        {"id": "reader"},
        {"groups": [{"groupId": "g", "topics": None}]},
    )
    return {"group": driver.group, "offsets": fetched}


def up(driver: MixedDriver) -> int:
    """b and c are moved to the partitions that a, which converts the group, leaves them: the group epoch."""
    driver.target(a=[0], b=[1], c=[2, 3])
    epoch = driver.upgraded("a")["memberEpoch"]
    for name, owned in (("b", []), ("c", [2, 3])):
        driver.synced(name, driver.joined(name, owned, driver.epoch(name)))
    return int(epoch)


def committed_before_and_never_again(driver: MixedDriver) -> None:
    """Real bug 33: only old commits show that there was a classic group."""
    generation = driver.stable({"b": [0, 1], "c": [2, 3]})
    assert driver.commit("b", generation) == 0
    up(driver)


def down_as_the_last_leaves(driver: MixedDriver) -> None:
    """Real bug 35: the tombstones of the consumer group come after the classic group's first record."""
    driver.stable({"b": [0, 1], "c": [2, 3]})
    epoch = up(driver)
    driver.heartbeat("a", -1)
    assert driver.join("b", [1], epoch) is None
    assert driver.join("c", [2, 3], epoch) is not None
    driver.sync("b", epoch + 1, {"b": [0, 1], "c": [2, 3]})
    driver.sync("c", epoch + 1)
    assert driver.commit("c", epoch + 1) == 0


def down_as_the_last_is_replaced(driver: MixedDriver) -> None:
    """Real bug 35, S1: a classic member takes the static member's place."""
    generation = driver.stable({"B": [0, 1], "C": [2, 3]}, static=["B"])
    driver.upgraded("a", instanceId="b")
    driver.coordinator.use_ids(["e"])
    driver.join("", client="e", instance="b")
    driver.join("C", [], generation)
    generation = driver.late["JoinGroup e"]["generationId"]
    driver.sync("e", generation, {"e": [0, 1], "C": [2, 3]})
    driver.sync("C", generation)
    assert driver.commit("C", generation) == 0


def up_down_and_up(driver: MixedDriver) -> None:
    down_as_the_last_leaves(driver)
    driver.target(d=[0], b=[1], c=[2, 3])
    driver.upgraded("d")


def emptied_between(driver: MixedDriver) -> None:
    """A classic group that all members left becomes a consumer group, and the other way round."""
    generation = driver.stable({"b": [0, 1]})
    driver.commit("b", generation)
    driver.leave("b")
    driver.upgraded("a")
    driver.heartbeat("a", -1)
    driver.stable({"c": [0]})


HISTORIES: list[Callable[[MixedDriver], None]] = [
    committed_before_and_never_again,
    down_as_the_last_leaves,
    down_as_the_last_is_replaced,
    up_down_and_up,
    emptied_between,
]


@pytest.fixture(params=HISTORIES, ids=lambda history: str(history.__name__))
def log(request: pytest.FixtureRequest) -> list[Json]:
    driver = MixedDriver()
    request.param(driver)
    return list(driver.coordinator.records())


def test_a_group_is_loaded_as_it_was_whatever_range_was_compacted(log: list[Json]) -> None:
    expected = loaded(log)
    ranges = [(first, last) for first in range(len(log)) for last in range(first, len(log))]
    every = [compacted(log, *one, drop_tombstones) for one in ranges for drop_tombstones in (False, True)]
    different = {tuple(record["offset"] for record in shorter): shorter for shorter in every}
    assert len(different) > len(log)
    for shorter in different.values():
        assert loaded(shorter) == expected, [key_of(record) for record in shorter]


def test_a_group_is_loaded_as_it_was_after_several_compactions(log: list[Json]) -> None:
    expected = loaded(log)
    draw = random.Random(len(log))
    for _ in range(60):
        shorter = log
        for _ in range(3):
            first, last = sorted(draw.choices(range(len(shorter)), k=2))
            shorter = compacted(shorter, first, last, draw.random() < 0.5) or shorter
        assert loaded(shorter) == expected, [key_of(record) for record in shorter]


def test_deadlines_of_classic_members_count_from_0_without_a_given_time() -> None:
    """P2, M2: b has joined and must sync, c must join; each within the session that it asked for."""
    driver = MixedDriver()
    driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.target(a=[0], b=[1], c=[2, 3])
    driver.upgraded("a")
    driver.joined("b", [1], driver.epoch("b"))
    volatile = driver.coordinator.volatile()
    volatile.pop("clockMs")
    other = MixedDriver()
    other.coordinator.advance(1000)
    other.coordinator.load(driver.coordinator.records(), TOPICS, volatile)
    loaded_at = other.coordinator.volatile()["groups"]["g"]["members"]
    for name, armed in (("a", []), ("b", ["sync"]), ("c", ["join"])):
        before = volatile["groups"]["g"]["members"][name]
        for timer in ("session", "join", "sync"):
            deadline_ms = before.get(f"{timer}DeadlineMs")
            assert (deadline_ms is not None) == (timer in (*armed, "session")), (name, timer)
            moved = None if deadline_ms is None else deadline_ms + 1000
            assert loaded_at[name].get(f"{timer}DeadlineMs") == moved, (name, timer)


UNREADABLE = ["x!", "é", "AAA=", ""]
"""Text that is not base64, and bytes that are no subscription of version 3."""


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (field, text)
        for field in ("subscription", "assignment")
        for text in UNREADABLE
        if (field, text) != ("assignment", "")
    ],
)
def test_a_classic_group_with_bytes_that_nobody_can_read_is_not_converted(field: str, text: str) -> None:
    """M1, P2: the log has them, and the coordinator goes on. No bytes at all are an empty assignment."""
    driver = MixedDriver()
    generation = driver.stable({"B": [0, 1], "C": [2, 3]})
    log = driver.coordinator.records()
    for member in log[-1]["value"]["members"]:
        member[field] = text
    driver.coordinator.load(log, TOPICS, {})
    before = driver.group
    answer = driver.heartbeat("a", 0, [], rebalanceTimeoutMs=1_000, subscribedTopicNames=["foo"])
    assert answer["errorCode"] == 42 and "cannot be converted" in answer["errorMessage"]
    assert driver.group == before
    assert field == "assignment" or driver.synced("B", generation) == {0, 1}


@pytest.mark.parametrize("text", UNREADABLE)
def test_a_classic_member_with_bytes_that_nobody_can_read_goes_on(text: str) -> None:
    """M2, P2: it gets its assignment, and is in the classic group that its group becomes again."""
    driver = MixedDriver()
    generation = driver.stable({"B": [0, 1], "C": [2, 3]})
    driver.target(a=[0], B=[1], C=[2, 3])
    driver.upgraded("a")
    log = driver.coordinator.records()
    given = [
        protocol
        for record in log
        if record["key"]["type"] == "ConsumerGroupMemberMetadata" and record["value"]
        for protocol in record["value"].get("classicMemberMetadata", {}).get("supportedProtocols", [])
    ]
    assert len(given) == 2
    for protocol in given:
        protocol["metadata"] = text
    driver.coordinator.load(log, TOPICS, {})
    assert driver.synced("C", generation) == {2, 3}
    assert driver.heartbeat("a", -1)["errorCode"] == 0
    assert {member["memberId"] for member in driver.group["members"]} == {"B", "C"}
    assert driver.group["protocolType"] == "consumer"
