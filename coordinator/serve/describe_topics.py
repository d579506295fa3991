"""Topics as administrators see them: their partitions in pages (DescribeTopicPartitions), their settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator.core.fields import Json
from coordinator.serve.cluster import Cluster
from coordinator.serve.cluster_apis import UNKNOWN_TOPIC, topic_with_partitions

DESCRIBE_TOPIC_PARTITIONS: Final = 75
MOST_ANSWERED: Final = 2_000
"""The most partitions in one response (Kafka's max.request.partition.size.limit)."""
INVALID_REQUEST: Final = 42
TOPIC: Final = 2
"""Kafka's number of the resource type TOPIC."""


def describe_topic_partitions(cluster: Cluster, body: Json) -> Json:
    """DescribeTopicPartitions: the requested topics, or all where none is named, sorted by name.

    A response has at most `responsePartitionLimit` partitions, and at least one; `nextCursor` has the place
    of the next one. A cursor before partition 0 is INVALID_REQUEST.
    """
    cursor = body["cursor"] or {"topicName": "", "partitionIndex": 0}
    wanted = sorted({one["name"] for one in body["topics"]} or cluster.topics)
    if cursor["partitionIndex"] < 0:
        return {"topics": [_error(name, INVALID_REQUEST) for name in wanted], "nextCursor": None}
    left = max(1, min(body["responsePartitionLimit"], MOST_ANSWERED))
    topics: list[Json] = []
    for name in (one for one in wanted if one >= cursor["topicName"]):
        first = cursor["partitionIndex"] if name == cursor["topicName"] else 0
        if left <= 0:
            return {"topics": topics, "nextCursor": {"topicName": name, "partitionIndex": first}}
        topic = cluster.topics.get(name)
        if topic is None:
            topics.append(_error(name, UNKNOWN_TOPIC))
            continue
        shown = topic_with_partitions(topic, range(first, min(topic.partitions, first + left)))
        for one in shown["partitions"]:
            one |= {"eligibleLeaderReplicas": [], "lastKnownElr": []}  # null would end kafka-topics
        topics.append(shown)
        left -= len(shown["partitions"])
        if first + len(shown["partitions"]) < topic.partitions:
            rest = first + len(shown["partitions"])
            return {"topics": topics, "nextCursor": {"topicName": name, "partitionIndex": rest}}
    return {"topics": topics, "nextCursor": None}


def _error(name: str, error: int) -> Json:
    return {"errorCode": error, "name": name, "isInternal": False, "partitions": []}


def topic_configs(cluster: Cluster, resources: Iterable[Json]) -> list[Json]:
    """The results of DescribeConfigs for the topics among resources, each once; a topic has no settings
    here."""
    names = dict.fromkeys(one["resourceName"] for one in resources if one["resourceType"] == TOPIC)
    return [
        {
            "errorCode": 0 if name in cluster.topics else UNKNOWN_TOPIC,
            "errorMessage": None,
            "resourceType": TOPIC,
            "resourceName": name,
            "configs": [],
        }
        for name in names
    ]
