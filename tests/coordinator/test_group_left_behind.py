"""A group whose batch is too large keeps no other group from noticing topics (E1, P2, P4)."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from fake_disk import FakeDisk

from coordinator import Config, Coordinator
from coordinator.stdio import LineProtocol

Json = dict[str, Any]
LIMIT = 2000
IDS = {name: f"00000000-0000-4000-8000-0000000000{byte}" for name, byte in (("big", "b0"), ("foo", "f0"))}


def topic(name: str, partitions: int) -> Json:
    return {"name": name, "id": IDS[name], "partitions": partitions}


class Kit:
    """A coordinator behind lines, with the group "big" of the topic big, and "g" of the topic foo."""

    def __init__(self, disk: FakeDisk | None = None) -> None:
        self.protocol = LineProtocol(Coordinator(config=Config(max_batch_bytes=LIMIT), storage=disk))

    def ok(self, operation: str, **fields: Any) -> Json:
        answer: Json = json.loads(self.protocol.handle(json.dumps({"op": operation, **fields})))
        assert answer.pop("ok") is True, answer
        return answer

    def topics(self, **partitions: int) -> None:
        self.ok("topics", upsert=[topic(name, count) for name, count in partitions.items()])

    def heartbeat(self, group: str, epoch: int, **fields: Any) -> Json:
        body = {"groupId": group, "memberId": f"of {group}", "memberEpoch": epoch} | fields
        answer: Json = self.ok("request", api="ConsumerGroupHeartbeat", version=0, body=body)["body"]
        return answer

    def join(self, group: str, name: str, **fields: Any) -> Json:
        body = {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": [name], "topicPartitions": [], **fields}
        return self.heartbeat(group, 0, **body)

    def joined(self) -> None:
        self.topics(big=100, foo=2)
        assert self.join("big", "big")["memberEpoch"] == self.join("g", "foo")["memberEpoch"] == 1

    def group(self, name: str) -> Json:
        group: Json = self.ok("describe", group=name)["group"]
        return group

    def seen(self, name: str) -> tuple[int, int, int]:
        """A group's epochs, and the numbers of partitions in its members' targets."""
        group = self.group(name)
        target = sum(len(one["partitions"]) for member in group["members"] for one in member["target"])
        return group["groupEpoch"], group["assignmentEpoch"], target

    def records(self) -> list[Json]:
        records: list[Json] = self.ok("records")["records"]
        return records


def test_e1_others_notice_what_a_new_coordinator_finds(caplog: pytest.LogCaptureFixture) -> None:
    """P2: after the load g is at its topic's 3 partitions; big stays as the log has it, and the reason is
    logged."""
    kit = Kit()
    kit.joined()
    kit.ok("coordinator", state="loading")
    kit.topics(big=600, foo=3)
    before = kit.group("big"), len(kit.records())
    with caplog.at_level(logging.WARNING):
        kit.ok("coordinator", state="active")
    assert kit.seen("g") == (2, 2, 3)
    assert kit.group("big") == before[0]
    assert {one["key"]["groupId"] for one in kit.records()[before[1] :]} == {"g"}
    (answer,) = caplog.messages
    assert answer.startswith("Group 'big' stays as it is") and "message.max.bytes" in answer
    kit.ok("restart")
    assert (kit.seen("g"), kit.seen("big")) == ((2, 2, 3), (1, 1, 100))


def test_e1_others_notice_a_change_and_later_ones() -> None:
    """The change is made although one group cannot follow; so are those that come after."""
    kit = Kit()
    kit.joined()
    kit.topics(big=600, foo=3)
    assert (kit.seen("g"), kit.seen("big")) == ((2, 2, 3), (1, 1, 100))
    kit.topics(foo=4)
    assert (kit.seen("g"), kit.seen("big")) == ((3, 3, 4), (1, 1, 100))


def test_p4_the_group_tries_again() -> None:
    """The members go on with their partitions. A request that changes the group is refused while the batch is
    too large, and is done once it is not."""
    kit = Kit()
    kit.joined()
    kit.topics(big=600)
    end = len(kit.records())
    going_on = kit.heartbeat("big", 1)
    assert (going_on["errorCode"], going_on["memberEpoch"]) == (0, 1)
    refused = kit.join("big", "big", memberId="another")
    assert refused["errorCode"] == -1 and "message.max.bytes" in refused["errorMessage"]
    assert kit.seen("big") == (1, 1, 100)
    assert len(kit.records()) == end, "nothing of it is written"
    assert kit.heartbeat("big", 1, subscribedTopicNames=["foo"])["errorCode"] == 0
    assert kit.seen("big") == (2, 2, 2)
    kit.topics(foo=3)
    assert (kit.seen("big"), kit.seen("g")) == ((3, 3, 3), (2, 2, 3))


def test_t2_a_topic_goes_although_its_group_cannot_follow() -> None:
    """Offsets of a deleted topic are deleted: they are batches of their own beside one that is too large."""
    kit = Kit()
    kit.joined()
    named = [{"name": "foo", "partitions": [{"partitionIndex": n, "committedOffset": 7} for n in range(2)]}]
    body = {"groupId": "big", "memberId": "of big", "generationIdOrMemberEpoch": 1, "topics": named}
    kit.ok("request", api="OffsetCommit", version=9, body=body)
    assert kit.records()[-1]["key"] | {"partition": 0} == {
        "type": "OffsetCommit",
        "groupId": "big",
        "topic": "foo",
        "partition": 0,
    }
    end = len(kit.records())
    kit.ok("topics", upsert=[topic("big", 600)], delete=["foo"])
    written = [
        (one["key"]["groupId"], one["key"]["type"], one["value"] is None) for one in kit.records()[end:]
    ]
    assert written[:2] == [("big", "OffsetCommit", True)] * 2
    assert {one[0] for one in written[2:]} == {"g"}
    assert kit.seen("big") == (1, 1, 100)


def test_p4_a_larger_limit_lets_the_group_follow() -> None:
    """A coordinator that is started with a larger limit notices the change that the one before could not
    (P2)."""
    disk = FakeDisk()
    kit = Kit(disk)
    kit.joined()
    kit.topics(big=600, foo=3)
    assert kit.seen("big") == (1, 1, 100)
    again = Coordinator(storage=FakeDisk(disk.read()))
    described = again.describe("big")
    assert (described["groupEpoch"], described["assignmentEpoch"]) == (2, 2)


def test_p3_a_log_that_refuses_still_refuses_all() -> None:
    """P3: no group's batch is too large then: nothing is noticed, and the topics stay."""
    kit = Kit()
    kit.joined()
    kit.ok("commit", mode="fail")
    answer = json.loads(kit.protocol.handle(json.dumps({"op": "topics", "upsert": [topic("foo", 3)]})))
    assert not answer["ok"] and answer["error"].endswith("the topics are as they were")
    assert kit.seen("g") == (1, 1, 2)


def working() -> Kit:
    """A Connect group beside the others, whose records name every topic: each is a connector (W1)."""
    kit = Kit()
    kit.joined()
    offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0, "metadata": ""}
    body = {"groupId": "w", "memberId": "w1", "memberEpoch": 0, "rebalanceTimeoutMs": 60_000}
    body |= {"connectorsAndTasks": [], "clientAssignors": [offer]}
    kit.ok("request", api="ConnectGroupHeartbeat", version=0, body=body)
    return kit


def many_topics() -> list[Json]:
    return [{"name": f"topic-{n}", "id": f"{n:032x}", "partitions": 1} for n in range(1, 200)]


def test_w1_a_connect_group_stays_behind_alone() -> None:
    kit = working()
    before = kit.group("w")
    kit.ok("topics", upsert=[*many_topics(), topic("foo", 3)])
    assert kit.group("w") == before
    assert kit.seen("g") == (2, 2, 3)
    kit.ok("topics", delete=[one["name"] for one in many_topics()])
    assert kit.group("w")["groupEpoch"] == before["groupEpoch"] + 1, "foo has grown"


def test_w1_timers_run_in_a_connect_group_that_stays_behind() -> None:
    """P2, H8: the session of a worker begins anew with the new coordinator, and ends."""
    kit = working()
    kit.ok("topics", upsert=many_topics())
    kit.ok("restart")
    assert {"timer": "session", "group": "w", "member": "w1"} in kit.ok("advance", ms=45_000)["fired"]
    assert kit.group("w")["members"] == []
