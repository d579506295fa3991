"""The body of a ConsumerGroupHeartbeat."""

from __future__ import annotations

from harness.kinds.consumer.state import Request
from harness.kinds.features.computing import offered
from harness.replay.wire import GROUP, REBALANCE_TIMEOUT_MS, topic_partitions
from harness.targets.base import Json


def heartbeat(request: Request) -> Json:
    """The body of a ConsumerGroupHeartbeat (H10); null and -1 mean "unchanged" (H7).

    A request with owned partitions and a subscription has all fields, the rebalance time-out too.
    """
    subscribes = request.subscription is not None or request.regex is not None
    full = request.epoch == 0 or (request.owned is not None and subscribes)
    return {
        "groupId": GROUP,
        "memberId": request.member,
        "memberEpoch": request.epoch,
        "instanceId": request.instance,
        "rebalanceTimeoutMs": REBALANCE_TIMEOUT_MS if full else -1,
        "subscribedTopicNames": None if request.subscription is None else sorted(request.subscription),
        "subscribedTopicRegex": request.regex,
        "serverAssignor": request.assignor,
        "topicPartitions": None if request.owned is None else topic_partitions(request.owned),
        **({} if request.offers is None else {"clientAssignors": [*map(offered, request.offers)]}),
    }
