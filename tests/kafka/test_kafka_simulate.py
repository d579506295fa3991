"""The same random schedules on this repository's coordinator and on Kafka's own, version by version."""

from __future__ import annotations

from contextlib import closing

import pytest
from kafka_driver import VERSIONS, skip_without_jars

from coordinator import DIALECTS
from harness.replay import wire
from harness.simulate.pair import Pair
from harness.simulate.run import simulate
from harness.targets import open_target

pytestmark = pytest.mark.maven
STEPS = 3000


@pytest.mark.parametrize("version", VERSIONS)
def test_kafkas_coordinator_does_what_its_dialect_says(version: str) -> None:
    """Response, group, timers and records of every step; the schedules are always the same."""
    skip_without_jars(version)
    dialect = f"kafka-{version.rpartition('.')[0]}"
    with (
        closing(open_target("python", dialect)) as ours,
        closing(open_target(f"kafka:{version}", dialect)) as kafkas,
    ):
        pair = Pair(ours, kafkas)
        result = simulate(pair, 848, STEPS, 200)
    assert [entry.signature for entry in result.divergences] == []
    assert (result.steps, result.unscripted) == (STEPS, 0)
    stale = "STALE_MEMBER_EPOCH"
    offsets = {"OffsetCommit/NONE", f"OffsetCommit/{stale}", "OffsetFetch/NONE", f"OffsetFetch/{stale}"}
    assert offsets & result.ways.keys() == (offsets if wire.COMMIT in pair.can else set())
    assert (wire.COMMIT in pair.can) is (dialect != "kafka-4.0")  # it has no topic ids in them
    assert set(pair.hidden) == {
        *("members.acknowledged", "records.ConsumerGroupPartitionMetadata", "records.assignors"),
        *("delayRemainingMs", "members.clientAssignors", "records.currentStateTimestamp"),
        *("records.error", "records.groupEpoch", "records.metadataBytes", "records.metadataVersion"),
        *("timers.group", *DIALECTS[dialect].unobserved),
    }


def test_a_returning_members_copies_are_shown_once_and_in_order() -> None:
    """P1, S1: Kafka writes copies of a leaving static member's records, and then the changes."""
    skip_without_jars("4.2.1")
    with closing(open_target("kafka:4.2.1", "kafka-4.2")) as kafka:
        client = {"id": "c", "host": "/127.0.0.1"}

        def send(member: str, epoch: int, *names: str) -> list[str]:
            joins = {"rebalanceTimeoutMs": 5000, "topicPartitions": [], "subscribedTopicNames": list(names)}
            body = {"groupId": "g", "memberId": member, "memberEpoch": epoch, "instanceId": "i"}
            answer = kafka.request(
                "ConsumerGroupHeartbeat", 0, client, body | (joins if epoch == 0 else {}), "g"
            )
            return [f"{one['key']['type']} {one['value'] is not None}" for one in answer.records]

        send("m1", 0, "foo")
        send("m1", -2)
        assert send("m2", 0, "bar") == [
            "ConsumerGroupCurrentMemberAssignment False",
            "ConsumerGroupTargetAssignmentMember False",
            "ConsumerGroupMemberMetadata False",
            "ConsumerGroupMemberMetadata True",
            "ConsumerGroupMetadata True",
            "ConsumerGroupTargetAssignmentMember True",
            "ConsumerGroupTargetAssignmentMetadata True",
            "ConsumerGroupCurrentMemberAssignment True",
        ]
