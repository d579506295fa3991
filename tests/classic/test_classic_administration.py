"""D1: classic groups are listed with their state, and deleted only without members."""

from __future__ import annotations

import sys
from pathlib import Path

from classic_driver import FOO, ClassicDriver

from coordinator.admin.metrics import exposition

sys.path.append(str(Path(__file__).parents[1] / "coordinator"))
from admin_driver import ask, delete, listed


def commit(driver: ClassicDriver, member: str, generation: int) -> None:
    topics = [{"topicId": FOO, "partitions": [{"partitionIndex": 0, "committedOffset": 7}]}]
    body = {"memberId": member, "generationIdOrMemberEpoch": generation, "topics": topics}
    answer = driver.send("OffsetCommit", "c1", body)
    assert answer is not None and answer["topics"][0]["partitions"][0]["errorCode"] == 0


def test_a_classic_group_is_listed_and_counted() -> None:
    driver = ClassicDriver()
    driver.stable("c1")
    assert listed(driver.coordinator) == ["g classic Stable"]
    assert ask(driver.coordinator, "ListGroups")["groups"][0]["protocolType"] == "consumer"
    assert 'group_count{protocol="classic"} 1.0' in exposition(driver.coordinator.metrics())


def test_a_classic_group_goes_only_without_members_and_takes_its_offsets_along() -> None:
    driver = ClassicDriver()
    driver.coordinator.upsert_topic("foo", FOO, 1)
    (member,) = driver.stable("c1").values()
    commit(driver, member, 1)
    before = driver.coordinator.records(0)
    assert delete(driver.coordinator, "g") == {"g": "NON_EMPTY_GROUP"}
    assert driver.coordinator.records(0) == before
    assert driver.leave(member) == 0
    assert listed(driver.coordinator) == ["g classic Empty"]
    assert delete(driver.coordinator, "g", "g2") == {"g": "NONE", "g2": "GROUP_ID_NOT_FOUND"}
    assert listed(driver.coordinator) == []
    tombstones = [one["key"]["type"] for one in driver.coordinator.records(0) if one["value"] is None]
    assert tombstones == ["OffsetCommit", "GroupMetadata"]
    driver.coordinator.restart()
    assert listed(driver.coordinator) == []
