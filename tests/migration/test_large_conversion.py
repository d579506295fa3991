"""Conversions of groups that are too large for one batch, and crashes between any two batches (P4, M1)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from mixed_driver import MixedDriver, subscribed

from coordinator import Config, Coordinator, SimulatedClock
from coordinator.classic.embedded import Assignment, write_assignment
from coordinator.core.record_size import batch_bytes
from coordinator.record_kinds import from_wire

Json = dict[str, Any]


def topics(count: int, partitions: int) -> list[Json]:
    return [
        {"name": f"orders-{n:03}", "id": f"00000000-0000-4000-8000-{n:012}", "partitions": partitions}
        for n in range(count)
    ]


def classic_group(members: int, names: list[str], partitions: int) -> Json:
    """The record of a Stable classic group: member n of N has the partitions n, n + N… of each topic."""

    def saved(n: int) -> Json:
        held = frozenset((name, index) for name in names for index in range(n, partitions, members))
        assignment = base64.b64encode(write_assignment(Assignment(held))).decode()
        return {
            "memberId": f"consumer-billing-1-00000000-0000-4000-8000-{n:012}",
            "groupInstanceId": None,
            "clientId": "consumer-billing-1",
            "clientHost": "/10.0.0.1",
            "rebalanceTimeout": 300_000,
            "sessionTimeout": 45_000,
            "subscription": subscribed(topics=names),
            "assignment": assignment,
        }

    value = {
        "protocolType": "consumer",
        "generation": 7,
        "protocol": "range",
        "leader": saved(0)["memberId"],
        "currentStateTimestamp": 0,
        "members": [saved(n) for n in range(members)],
    }
    return {"offset": 0, "key": {"type": "GroupMetadata", "group": "g"}, "value": value}


def coordinator_of(members: int, topic_count: int, partitions: int, **config: int) -> Coordinator:
    every = topics(topic_count, partitions)
    made = Coordinator(clock=SimulatedClock(), config=Config(**config))
    made.load([classic_group(members, [one["name"] for one in every], partitions)], every, {})
    return made


def join(coordinator: Coordinator, member: str = "new", epoch: int = 0) -> Json:
    body: Json = {"groupId": "g", "memberId": member, "memberEpoch": epoch}
    if epoch == 0:
        body |= {
            "rebalanceTimeoutMs": 300_000,
            "subscribedTopicNames": ["orders-000"],
            "topicPartitions": [],
        }
    return coordinator.request("ConsumerGroupHeartbeat", 0, {"id": member}, body)


def ends_of(coordinator: Coordinator, begin: int) -> list[int]:
    """The ends of batches after the first `begin` records: a restart that keeps that many records tears
    none."""
    ends = coordinator._log._batch_ends
    return [end for end in ends if end >= begin]


def seen(coordinator: Coordinator) -> Json:
    """The group without its timers, which a new coordinator arms anew."""
    return {name: value for name, value in coordinator.describe("g").items() if name != "timers"}


def prefixes(coordinator: Coordinator, begin: int) -> Iterator[tuple[int, Coordinator]]:
    """For each batch since `begin`: the records that a crash right after it leaves, and their reader."""
    end = coordinator.end
    for keep in ends_of(coordinator, begin):
        other = Coordinator(clock=SimulatedClock(), config=coordinator._env.config)
        other.load([], topics(4, 4), {})
        other._log = coordinator._log.replaced(coordinator._log.records, coordinator._log._batch_ends, [])
        other.restart(keep)
        yield end - keep, other


def test_p4_a_group_of_200_members_and_40_topics_migrates() -> None:
    """P4: as one batch: its JSON is more than 1 MB, its bytes are less."""
    coordinator = coordinator_of(200, 40, 100)
    begin = coordinator.end
    answer = join(coordinator)
    assert answer["errorCode"] == 0, answer["errorMessage"]
    assert coordinator.describe("g")["members"][-1]["memberId"] == "new"
    batch = coordinator.records()[begin:]
    assert len(batch) > 600 and len(json.dumps(batch, separators=(",", ":"))) > 1024 * 1024
    assert ends_of(coordinator, begin + 1) == [coordinator.end]
    assert batch_bytes([from_wire(one) for one in batch]) < 1024 * 1024


def test_p4_each_batch_of_a_conversion_is_below_the_limit_and_the_target_is_in_one() -> None:
    limit = 3_000
    coordinator = coordinator_of(12, 4, 4, max_batch_bytes=limit)
    begin = coordinator.end
    assert join(coordinator)["errorCode"] == 0
    ends = [begin, *ends_of(coordinator, begin + 1)]
    records = coordinator.records()
    batches = [records[start:end] for start, end in pairwise(ends)]
    assert len(batches) > 2
    assert all(batch_bytes([from_wire(one) for one in batch]) <= limit for batch in batches)
    of_target = [n for n, batch in enumerate(batches) if any("Target" in one["key"]["type"] for one in batch)]
    assert of_target == [len(batches) - 1]
    assert records[-1]["key"] == {"type": "GroupMetadata", "group": "g"} and records[-1]["value"] is None


def test_p4_m1_a_crash_between_any_two_batches_leaves_the_old_group_or_the_new_one() -> None:
    coordinator = coordinator_of(12, 4, 4, max_batch_bytes=3_000)
    before, begin = seen(coordinator), coordinator.end
    join(coordinator)
    whole = coordinator.records()
    after = {one["key"]["memberId"] for one in whole if one["key"]["type"] == "ConsumerGroupMemberMetadata"}
    results = []
    for lost, other in prefixes(coordinator, begin):
        if lost:
            assert seen(other) == before
            listed = other.request("ListGroups", 5, {"id": "admin"}, {"statesFilter": [], "typesFilter": []})
            assert [(one["groupId"], one["groupType"]) for one in listed["groups"]] == [("g", "classic")]
        else:
            assert {one["memberId"] for one in seen(other)["members"]} == after
            assert "type" not in seen(other)
        results.append(lost)
    assert len(results) > 3 and results[-1] == 0


def test_p4_m1_what_a_torn_conversion_has_left_is_removed_before_the_next_one() -> None:
    """A member that has left since is not in the group that is converted anew, nor after a restart."""
    coordinator = coordinator_of(12, 4, 4, max_batch_bytes=3_000)
    begin = coordinator.end
    join(coordinator)
    for lost, other in prefixes(coordinator, begin):
        if not lost:
            continue
        gone = seen(other)["members"][3]["memberId"]
        leaves = {"groupId": "g", "members": [{"memberId": gone, "groupInstanceId": None}]}
        assert other.request("LeaveGroup", 5, {"id": "admin"}, leaves)["errorCode"] == 0
        assert join(other, "later")["errorCode"] == 0
        members = [one["memberId"] for one in seen(other)["members"]]
        assert len(members) == 12 and "new" not in members and gone not in members
        other.restart()
        assert [one["memberId"] for one in seen(other)["members"]] == members


def test_p4_m1_a_crash_on_the_way_back_leaves_the_whole_group_or_the_classic_one() -> None:
    coordinator = coordinator_of(12, 4, 4, max_batch_bytes=3_000)
    join(coordinator)
    begin = coordinator.end
    names = [one["memberId"] for one in seen(coordinator)["members"]]
    assert join(coordinator, "new", -1)["errorCode"] == 0
    results = []
    for _, other in prefixes(coordinator, begin):
        now = seen(other)
        members = [one["memberId"] for one in now["members"]]
        assert members == (names if other.end == begin else [name for name in names if name != "new"])
        assert ("protocolType" in now) == (other.end != begin)
        results.append(other.end)
        assert join(other, "again")["errorCode"] == 0
        other.restart()
        again = {one["memberId"] for one in seen(other)["members"]}
        assert again == {*members, "again"}
    assert len(results) > 2


@pytest.mark.parametrize("way", ["up", "back"])
def test_p4_a_conversion_that_the_log_refuses_changes_nothing(way: str) -> None:
    coordinator = coordinator_of(12, 4, 4, max_batch_bytes=3_000)
    if way == "back":
        join(coordinator)
    before = seen(coordinator), coordinator.end
    coordinator.fail_appends(True)
    answer = join(coordinator, "new", 0 if way == "up" else -1)
    assert answer["errorCode"] != 0
    assert (seen(coordinator), coordinator.end) == before


def test_p4_a_small_conversion_is_one_batch() -> None:
    driver = MixedDriver()
    driver.stable({"b": [0, 1], "c": [2, 3]})
    begin = driver.coordinator.end
    driver.upgraded("a")
    assert ends_of(driver.coordinator, begin + 1) == [driver.coordinator.end]
