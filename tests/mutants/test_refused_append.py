"""P3: the state after a request whose records the log refused."""

from __future__ import annotations

from coordinator import Coordinator, ErrorCode


def test_refused_join_leaves_no_group_not_even_one_without_records() -> None:
    """Real bug 15: a group in memory that the log knows nothing of."""
    coordinator = Coordinator()
    coordinator.fail_appends(True)
    body = {
        "groupId": "g",
        "memberId": "m1",
        "memberEpoch": 0,
        "rebalanceTimeoutMs": 5000,
        "subscribedTopicNames": ["foo"],
        "topicPartitions": [],
    }
    response = coordinator.request("ConsumerGroupHeartbeat", 0, {}, body)
    assert response["errorCode"] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert coordinator.volatile() == Coordinator().volatile()
