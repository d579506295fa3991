"""APIs beside those of groups: versions, metadata, the coordinator's place, offsets, records, topics.

Each function takes Kafka's request as JSON in the given version and gives the response as JSON. A response
may have more fields than its version; those are cut (`codec.fitted`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from coordinator.core.fields import Json
from coordinator.serve.cluster import BROKER_ID, CLUSTER_ID, LEADER_EPOCH, Cluster, Topic
from coordinator.serve.frames import Malformed
from coordinator.serve.once import partitions_once

EARLIEST: Final = -2
LATEST: Final = -1
NO_ID: Final = "00000000-0000-0000-0000-000000000000"
UNKNOWN_TOPIC: Final = 3
OFFSET_OUT_OF_RANGE: Final = 1
UNKNOWN_TOPIC_ID: Final = 100
INVALID_PARTITIONS: Final = 37
TOPIC_EXISTS: Final = 36
POLICY_VIOLATION: Final = 44
KAFKA_STORAGE_ERROR: Final = 56
MOST_PARTITIONS: Final = 10_000
"""The most partitions of all topics together: without a limit a client could grow the server."""
MOST_FETCHED: Final = 1 << 18
"""The bytes of records after which an answer to Fetch has no further batch, whatever size a client asks for:
records are made for each answer."""

Handler: TypeAlias = Callable[[Cluster, int, Json, int], Json]
"""(cluster, version, request, the time in ms) -> response."""


def metadata(cluster: Cluster, version: int, body: Json, _: int) -> Json:
    """Metadata; all topics where none is named (version 0: an empty list, later: null)."""
    wanted = body["topics"]
    if wanted is None or (version == 0 and not wanted):
        topics = [_topic(topic) for topic in cluster.topics.values()]
    else:
        named = cluster.lookup()
        topics = [
            _described_topic(named(name, topic_id), name, topic_id)
            for name, topic_id in dict.fromkeys(map(_name_or_id, wanted))
        ]
    return {
        "brokers": [{"nodeId": BROKER_ID, **_address(cluster), "rack": None}],
        "clusterId": CLUSTER_ID,
        "controllerId": BROKER_ID,
        "topics": topics,
    }


def _name_or_id(wanted: Json) -> tuple[str | None, str | None]:
    """The name of a topic in a request, or its id: one of the two is None."""
    topic_id = wanted.get("topicId")
    name = wanted.get("name") or None  # a consumer in Java that asks by id has the empty name
    by_id = topic_id not in (None, NO_ID) and name is None
    return (None, topic_id) if by_id else (name or "", None)


def _described_topic(topic: Topic | None, name: str | None, topic_id: str | None) -> Json:
    if topic is not None:
        return _topic(topic)
    error = UNKNOWN_TOPIC if topic_id is None else UNKNOWN_TOPIC_ID
    named = {} if topic_id is None else {"topicId": topic_id}
    return {
        "errorCode": error,
        "name": name or "",
        **named,
        "isInternal": False,
        "partitions": [],
    }


def _topic(topic: Topic) -> Json:
    return topic_with_partitions(topic, range(topic.partitions))


def topic_with_partitions(topic: Topic, partitions: range) -> Json:
    """A topic with some of its partitions, as Metadata and DescribeTopicPartitions have it."""
    return {
        "errorCode": 0,
        "name": topic.name,
        "topicId": topic.id,
        "isInternal": False,
        "partitions": [
            {
                "errorCode": 0,
                "partitionIndex": index,
                "leaderId": BROKER_ID,
                "leaderEpoch": LEADER_EPOCH,
                "replicaNodes": [BROKER_ID],
                "isrNodes": [BROKER_ID],
                "offlineReplicas": [],
            }
            for index in partitions
        ],
    }


def _address(cluster: Cluster) -> Json:
    return {"host": cluster.host, "port": cluster.port}


def describe_cluster(cluster: Cluster, _: int, __: Json, ___: int) -> Json:
    """DescribeCluster."""
    brokers = [{"brokerId": BROKER_ID, **_address(cluster), "rack": None}]
    return {"errorCode": 0, "clusterId": CLUSTER_ID, "controllerId": BROKER_ID, "brokers": brokers}


def find_coordinator(cluster: Cluster, version: int, body: Json, _: int) -> Json:
    """FindCoordinator: this broker, for each group."""
    here = {"errorCode": 0, "errorMessage": None, "nodeId": cluster.node, **_address(cluster)}
    if version < 4:
        return here
    return {"coordinators": [{"key": key, **here} for key in dict.fromkeys(body["coordinatorKeys"])]}


def list_offsets(cluster: Cluster, _: int, body: Json, now_ms: int) -> Json:
    """ListOffsets. A time of the past gives the first record: records have no times of their own."""

    def offset(topic: Topic | None, partition: Json) -> Json:
        index, at = partition["partitionIndex"], partition["timestamp"]
        if topic is None or not 0 <= index < topic.partitions:
            return {"partitionIndex": index, "errorCode": UNKNOWN_TOPIC}
        position = cluster.end(now_ms) if at == LATEST else 0
        return {
            "partitionIndex": index,
            "errorCode": 0,
            "timestamp": -1,
            "offset": position,
            "leaderEpoch": 0,
        }

    return {
        "topics": [
            {"name": one["name"], "partitions": [offset(topic, partition) for partition in one["partitions"]]}
            for one, topic in _topics(cluster, body["topics"])
        ]
    }


def _topics(cluster: Cluster, wanted: list[Json]) -> Iterator[tuple[Json, Topic | None]]:
    named = cluster.lookup()
    for one in wanted:
        name = one.get("name", one.get("topic"))
        yield one, named(name, one.get("topicId") if name is None else None)


def end_of_epoch(cluster: Cluster, _: int, body: Json, now_ms: int) -> Json:
    """OffsetForLeaderEpoch: there is one leader epoch, and it ends at the high watermark."""

    def end(topic: Topic | None, partition: Json) -> Json:
        index = partition["partition"]
        if topic is None or not 0 <= index < topic.partitions:
            return {"partition": index, "errorCode": UNKNOWN_TOPIC}
        return {"partition": index, "errorCode": 0, "leaderEpoch": 0, "endOffset": cluster.end(now_ms)}

    return {
        "topics": [
            {"topic": one["topic"], "partitions": [end(topic, partition) for partition in one["partitions"]]}
            for one, topic in _topics(cluster, body["topics"])
        ]
    }


def fetched_once(body: Json) -> Json:
    """A request of Fetch, with each partition once."""
    return {**body, "topics": partitions_once(body["topics"], "partition")}


def fetch(cluster: Cluster, version: int, body: Json, now_ms: int) -> Json:
    """Fetch, without a session: a client sends all partitions each time. `body` has each partition once."""
    left = [min(body["maxBytes"], MOST_FETCHED)]

    def read(topic: Topic | None, partition: Json) -> Json:
        index, first, end = partition["partition"], partition["fetchOffset"], cluster.end(now_ms)
        shown: Json = {"partitionIndex": index, "errorCode": 0, "abortedTransactions": None, "records": None}
        if topic is None or not 0 <= index < topic.partitions:
            error = UNKNOWN_TOPIC if version < 13 else UNKNOWN_TOPIC_ID
            return {**shown, "errorCode": error, "highWatermark": -1}
        shown |= {"highWatermark": end, "lastStableOffset": end, "logStartOffset": 0}
        if not 0 <= first <= end:
            return {**shown, "errorCode": OFFSET_OUT_OF_RANGE}
        if first == end or left[0] <= 0:
            return {**shown, "records": b""}
        records = cluster.batch(first, end, now_ms)
        left[0] -= len(records)
        return {**shown, "records": records}

    return {
        "errorCode": 0,
        "sessionId": 0,
        "responses": [
            {
                "topic": one.get("topic"),
                "topicId": one.get("topicId"),
                "partitions": [read(topic, partition) for partition in one["partitions"]],
            }
            for one, topic in _topics(cluster, body["topics"])
        ],
    }


def fetch_ready_ms(cluster: Cluster, body: Json, now_ms: int) -> int:
    """The time at which a Fetch is answered: at once where a partition has records or an error, else when the
    next record exists, or when the client's time-out ends."""
    deadline: int = now_ms + max(0, body["maxWaitMs"])
    end = cluster.end(now_ms)
    for one, topic in _topics(cluster, body["topics"]):
        for partition in one["partitions"]:
            known = topic is not None and 0 <= partition["partition"] < topic.partitions
            if not known or partition["fetchOffset"] != end:
                return now_ms
            next_ms = cluster.ready_ms(end)
            deadline = min(deadline, next_ms) if next_ms > now_ms else deadline
    return deadline


def create_topics(cluster: Cluster, _: int, body: Json, __: int) -> Json:
    """CreateTopics; the caller gives the coordinator the new topics."""
    there = cluster.partitions

    def create(one: Json) -> Json:
        nonlocal there
        name, partitions = one["name"], one["numPartitions"]
        if partitions == -1:
            partitions = len(one.get("assignments") or ()) or 1
        error = TOPIC_EXISTS if name in cluster.topics else _refused(name, partitions, there)
        if not error and not body.get("validateOnly"):
            cluster.add(name, partitions)
            there += partitions
        topic = cluster.topics.get(name)
        shown = {"topicId": topic.id} if topic is not None and not error else {}
        counts: Json = {"numPartitions": partitions, "replicationFactor": 1, "configs": []}
        return {"name": name, "errorCode": error, **_message(error), **shown, **counts}

    return {"topics": [create(one) for one in body["topics"]]}


def _refused(name: str, partitions: int, others: int) -> int:
    """The error of a topic with so many partitions beside so many of others, 0 for none."""
    if not name or len(name) > 249 or not all(c.isascii() and (c.isalnum() or c in "._-") for c in name):
        return 17  # INVALID_TOPIC_EXCEPTION
    if partitions < 1:
        return INVALID_PARTITIONS
    return POLICY_VIOLATION if others + partitions > MOST_PARTITIONS else 0


def _message(error: int) -> Json:
    words = {
        POLICY_VIOLATION: f"This broker has at most {MOST_PARTITIONS} partitions.",
        INVALID_PARTITIONS: "A topic has one partition or more, and never fewer than before.",
        TOPIC_EXISTS: "There is a topic of this name.",
    }
    return {"errorMessage": words.get(error)}


def delete_topics(cluster: Cluster, version: int, body: Json, _: int) -> Json:
    """DeleteTopics, by name, or by id from version 6 on."""
    named = cluster.lookup()

    def delete(wanted: Json) -> Json:
        topic_id = wanted.get("topicId")
        by_id = wanted.get("name") is None
        topic = named(wanted.get("name"), topic_id if by_id else None)
        if topic is None:
            error = UNKNOWN_TOPIC_ID if by_id else UNKNOWN_TOPIC
            return {"name": wanted.get("name") or "", "topicId": topic_id, "errorCode": error}
        del cluster.topics[topic.name]
        return {"name": topic.name, "topicId": topic.id, "errorCode": 0}

    wanted = body["topics"] if version >= 6 else [{"name": name} for name in body["topicNames"]]
    return {"responses": [delete(one) for one in wanted]}


def create_partitions(cluster: Cluster, _: int, body: Json, __: int) -> Json:
    """CreatePartitions."""
    there = cluster.partitions

    def grow(one: Json) -> Json:
        nonlocal there
        topic, count = cluster.topics.get(one["name"]), one["count"]
        if topic is None or count <= topic.partitions:
            error = UNKNOWN_TOPIC if topic is None else INVALID_PARTITIONS
        else:
            error = _refused(one["name"], count, there - topic.partitions)
        if topic is not None and not error and not body["validateOnly"]:
            cluster.add(one["name"], count)
            there += count - topic.partitions
        return {"name": one["name"], "errorCode": error, **_message(error)}

    return {"results": [grow(one) for one in body["topics"]]}


def unwritten(answer: Json, sentence: str) -> Json:
    """The answer to a change of topics that the log refused: each topic that would have changed has this
    error, and the others have their own."""
    refused = {"errorCode": KAFKA_STORAGE_ERROR, "errorMessage": sentence}
    none = {"topicId": None, "numPartitions": -1, "replicationFactor": -1}

    def without_change(one: Json) -> Json:
        if one["errorCode"]:
            return one
        return {**one, **(none if "numPartitions" in one else {}), **refused}  # else it is there, with its id

    return {items: [without_change(one) for one in results] for items, results in answer.items()}


def produce(_: Cluster, version: int, body: Json, __: int) -> Json:
    """Produce is refused: the records of this broker are numbers that grow by the clock. A client that takes
    no answer learns it from the end of its connection, as in Kafka."""
    if not body["acks"]:
        raise Malformed("a Produce without acknowledgement, and this broker stores no records")
    refused = {
        "errorCode": POLICY_VIOLATION,
        "baseOffset": -1,
        "errorMessage": "This broker stores no records: each partition has the numbers from 0 on.",
    }
    return {
        "responses": [
            {
                **{key: one[key] for key in ("name", "topicId") if key in one},
                "partitionResponses": [{"index": part["index"], **refused} for part in one["partitionData"]],
            }
            for one in body["topicData"]
        ]
    }


def api_versions(offered: dict[int, tuple[int, int]], error: int = 0) -> Json:
    """ApiVersions: each API with its first and last version."""
    keys = [
        {"apiKey": key, "minVersion": first, "maxVersion": last}
        for key, (first, last) in sorted(offered.items())
    ]
    return {"errorCode": error, "apiKeys": keys}


HANDLERS: Final[dict[int, tuple[int, int, Handler]]] = {
    0: (3, 11, produce),
    1: (4, 16, fetch),
    2: (1, 8, list_offsets),
    3: (0, 12, metadata),
    10: (0, 5, find_coordinator),
    19: (2, 7, create_topics),
    20: (1, 6, delete_topics),
    23: (2, 4, end_of_epoch),
    37: (0, 3, create_partitions),
    60: (0, 1, describe_cluster),
}
"""Kafka's number of the API -> first and last version, and the function that answers."""
CHANGES_TOPICS: Final = frozenset({19, 20, 37})
API_VERSIONS: Final = 18
FETCH: Final = 1
