"""The broker without sockets: its answers, its errors, and that malformed frames change nothing."""

from __future__ import annotations

import random
import re
import struct
from typing import Any
from uuid import UUID

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map
from kio.serial import entity_reader
from served import ROOT, ask, broker, frame, response

from coordinator.core.clock import SimulatedClock
from coordinator.serve.broker import KEPT, SHORT, VERSIONS, _read, _read_once
from coordinator.serve.codec import _members, to_json
from coordinator.serve.frames import Malformed
from coordinator.serve.reading import MOST_TEXT, Bytes, read_client, read_request

HEARTBEAT = {
    **{"groupId": "g", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 60000},
    **{"subscribedTopicNames": ["foo"], "subscribedTopicRegex": None, "topicPartitions": []},
}


def test_each_version_that_is_advertised_can_be_read_and_written() -> None:
    versions = {
        (key, version) for key, (first, last) in VERSIONS.items() for version in range(first, last + 1)
    }
    assert len(versions) > 100
    for key, version in versions:
        for load in (load_request_schema, load_response_schema):
            assert _members(load(key, version)) is not None


def test_the_document_has_the_versions() -> None:
    page = (ROOT / "docs/serve.md").read_text()
    rows = dict(re.findall(r"(\w+) \| (\d+ to \d+|\d+)(?= \|)", page))
    names = {key: "".join(part.capitalize() for part in api_key_map[key].split("_")) for key in VERSIONS}
    shown = {
        key: str(first) if first == last else f"{first} to {last}" for key, (first, last) in VERSIONS.items()
    }
    assert rows == {names[key]: shown[key] for key in VERSIONS}


def filled(schema: Any, chance: random.Random) -> dict[str, Any]:
    """A message with something in every field, so that both readers, or writers, must agree on it."""
    body = {}
    for member in _members(schema):
        if member.inner is not None:
            one = filled(member.inner, chance)
            try:
                member.from_json([one, one])
                body[member.json_name] = [one, one]
            except ValueError:
                body[member.json_name] = one
            continue
        for value in (
            chance.randrange(100),
            "text",
            True,
            str(UUID(int=chance.getrandbits(128))),
            [3, 4],
            ["a"],
        ):
            try:
                member.from_json(value)
            except (ValueError, TypeError, AttributeError):
                continue
            body[member.json_name] = value
            break
    return body


def test_requests_are_read_as_kio_reads_them() -> None:
    chance = random.Random(1)
    for key, (first, last) in VERSIONS.items():
        for version in range(first, last + 1):
            schema: Any = load_request_schema(key, version)
            for body in (filled(schema, chance), filled(schema, chance)):
                body = {name: value for name, value in body.items() if name != "replicaState"}
                data = frame(key, version, body, client="a client")
                header, start = entity_reader(schema.__header_schema__)(data, 0)
                message, _ = entity_reader(schema)(data, start)
                taken = Bytes(data)
                taken.take(8)
                assert read_client(schema, taken) == header.client_id
                ours, theirs = read_request(schema, taken), to_json(message)
                assert {**theirs, **ours} == ours, (key, version)


def test_a_heartbeat_that_comes_again_is_read_once_and_answered_as_before() -> None:
    """The bytes are the same but for the number of the request; the request that was read is not changed."""
    made, twin = broker({"foo": 2}), broker({"foo": 2})
    joined, _ = (ask(one, 68, 1, HEARTBEAT) for one in (made, twin))
    later = {**HEARTBEAT, "memberEpoch": 1, "topicPartitions": joined["assignment"]["topicPartitions"]}
    bodies = [HEARTBEAT, later, {**later, "memberEpoch": 7}, {**HEARTBEAT, "groupId": ""}, HEARTBEAT, later]
    for body in bodies:
        _read_once.cache_clear()
        expected = ask(twin, 68, 1, body)
        for _ in range(2):
            frames = [frame(68, 1, body, correlation=number) for number in (1, 2)]
            assert [made.read(one, "h").correlation_id for one in frames] == [1, 2]
            assert [made.read(frames[0], host).client["host"] for host in "ab"] == ["/a", "/b"]
            assert made.read(frames[0], "h").body == _read(68, 1, frames[0][8:])[1]
        assert ask(made, 68, 1, body) == expected
        assert _read_once.cache_info().misses == 1
        assert made.read(frames[0], "h").body == _read(68, 1, frames[0][8:])[1]


def test_long_heartbeats_and_other_requests_are_not_kept() -> None:
    made = broker({"foo": 2})
    _read_once.cache_clear()
    for number in range(KEPT + 10):
        ask(made, 68, 1, {**HEARTBEAT, "memberId": f"m{number}", "memberEpoch": 5})
    ask(made, 68, 1, {**HEARTBEAT, "memberId": SHORT * "m"})
    ask(made, 3, 12, {"topics": None, "allowAutoTopicCreation": False})
    kept = _read_once.cache_info()
    assert (kept.misses, kept.currsize) == (KEPT + 10, KEPT)


def test_versions_of_a_client_that_is_newer_are_answered_in_version_0() -> None:
    """Kafka's rule for ApiVersions alone: error 35, and the versions that the broker has."""
    made = broker({"foo": 2})
    newer = struct.pack(">hhih", 18, 99, 7, -1) + b"\x00"
    answer = response(18, 0, made.handle(newer, "127.0.0.1"))
    assert answer["errorCode"] == 35
    assert {(one["apiKey"], one["minVersion"], one["maxVersion"]) for one in answer["apiKeys"]} >= {
        (68, 0, 1)
    }


def test_a_heartbeat_and_its_assignment_in_kafkas_form() -> None:
    made = broker({"foo": 2})
    answer = ask(made, 68, 1, HEARTBEAT)
    [topic] = answer["assignment"]["topicPartitions"]
    assert (answer["errorCode"], answer["memberEpoch"], topic["partitions"]) == (0, 1, [0, 1])
    described = ask(made, 69, 0, {"groupIds": ["g"]})["groups"][0]
    assert (described["groupState"], described["groupEpoch"]) == ("Stable", 1)
    assert ask(made, 16, 5, {})["groups"][0]["groupId"] == "g"


@pytest.mark.parametrize("version", range(1, 10))
def test_commits_and_fetches_of_all_versions(version: int) -> None:
    made = broker({"foo": 2})
    partition = {"partitionIndex": 1, "committedOffset": 5, "committedMetadata": ""}
    topics = [{"name": "foo", "partitions": [partition]}]
    commit = max(version, 2)
    assert (
        ask(made, 8, commit, {"groupId": "g", "topics": topics})["topics"][0]["partitions"][0]["errorCode"]
        == 0
    )
    wanted = {"groupId": "g", "topics": [{"name": "foo", "partitionIndexes": [0, 1]}]}
    answer = ask(made, 9, version, wanted if version < 8 else {"groups": [wanted]})
    group = answer if version < 8 else answer["groups"][0]
    assert [one["committedOffset"] for one in group["topics"][0]["partitions"]] == [-1, 5]


@pytest.mark.parametrize("version", range(1, 8))
def test_the_error_of_a_fetched_group_reaches_the_client_in_every_version(version: int) -> None:
    """Version 1 has no error of the group: as from Kafka, each partition of the request has the error."""
    topics = [{"name": "foo", "partitionIndexes": [1, 0]}, {"name": "none", "partitionIndexes": [7]}]
    answer = ask(broker({"foo": 2}), 9, version, {"groupId": "", "topics": topics})
    if version > 1:
        assert (answer["errorCode"], answer["topics"]) == (24, [])
        return
    errors = {
        (topic["name"], one["partitionIndex"]): (one["errorCode"], one["committedOffset"], one["metadata"])
        for topic in answer["topics"]
        for one in topic["partitions"]
    }
    assert errors == dict.fromkeys([("foo", 1), ("foo", 0), ("none", 7)], (24, -1, ""))


@pytest.mark.parametrize("version", [0, 3, 4, 9])
def test_a_join_waits_and_old_versions_need_no_member_id_first(version: int) -> None:
    clock = SimulatedClock()
    made = broker({"foo": 2}, clock=clock)
    times = {"sessionTimeoutMs": 10000} | ({"rebalanceTimeoutMs": 20000} if version else {})
    named = {"protocolType": "consumer", "protocols": [{"name": "range", "metadata": "AAA="}]}
    body = {"groupId": "g", "memberId": "", **times, **named}
    if version >= 4:
        answer = ask(made, 11, version, body)
        assert answer["errorCode"] == 79
        body["memberId"] = answer["memberId"]
    ticket = made.handle(frame(11, version, body), "127.0.0.1")
    assert isinstance(ticket, int) and made.ready() == []
    assert ask(made, 3, 9, {"topics": None, "allowAutoTopicCreation": False})["topics"], "others are served"
    clock.set(clock.later(3000))
    [(late, data)] = made.ready()
    answer = response(11, version, data)
    assert (late, answer["errorCode"], answer["generationId"]) == (ticket, 0, 1)


def test_a_fetch_waits_for_the_next_record() -> None:
    clock = SimulatedClock()
    made = broker({"foo": 1}, clock=clock, rate=10)
    clock.set(clock.later(1000))
    wanted = {"partition": 0, "fetchOffset": 10, "partitionMaxBytes": 1000}
    body = {
        "maxWaitMs": 500,
        "minBytes": 1,
        "maxBytes": 1000,
        "topics": [{"topic": "foo", "partitions": [wanted]}],
    }
    ticket = made.handle(frame(1, 12, {"replicaId": -1, **body}), "127.0.0.1")
    assert isinstance(ticket, int) and made.ready() == [] and made.waiting == 1
    clock.set(clock.later(100))
    [(late, data)] = made.ready()
    [partition] = response(1, 12, data)["responses"][0]["partitions"]
    assert (late, partition["highWatermark"], made.waiting) == (ticket, 11, 0)
    assert b"10" in partition["records"]


@pytest.mark.parametrize("name", [None, ""])
def test_metadata_by_the_id_of_a_topic(name: str | None) -> None:
    """librdkafka sends null for the name, Kafka's consumer in Java the empty text."""
    made = broker({"foo": 2, "bar": 1})
    request = {"topicId": made._cluster.topics["bar"].id, "name": name}
    [topic] = ask(made, 3, 12, {"topics": [request], "allowAutoTopicCreation": False})["topics"]
    assert (topic["errorCode"], topic["name"], len(topic["partitions"])) == (0, "bar", 1)
    gone = {**request, "topicId": str(UUID(int=99))}
    [topic] = ask(made, 3, 12, {"topics": [gone], "allowAutoTopicCreation": False})["topics"]
    assert (topic["errorCode"], topic["topicId"]) == (100, str(UUID(int=99)))


def test_topics_come_grow_and_go_and_a_topic_made_again_has_another_id() -> None:
    made = broker({"foo": 1})

    def topic() -> tuple[str, int]:
        [result] = ask(made, 3, 10, {"topics": [{"name": "bar"}]})["topics"]
        return result.get("topicId"), len(result["partitions"])

    create = {"topics": [{"name": "bar", "numPartitions": 2, "replicationFactor": 1}], "timeoutMs": 1}
    assert ask(made, 19, 7, create)["topics"][0]["errorCode"] == 0
    assert ask(made, 19, 7, create)["topics"][0]["errorCode"] == 36
    grow = {
        "topics": [{"name": "bar", "count": 3, "assignments": None}],
        "timeoutMs": 1,
        "validateOnly": False,
    }
    assert ask(made, 37, 3, grow)["results"][0]["errorCode"] == 0
    first, partitions = topic()
    assert partitions == 3
    delete = {"topics": [{"name": "bar", "topicId": None}], "timeoutMs": 1}
    assert ask(made, 20, 6, delete)["responses"][0]["errorCode"] == 0
    assert topic()[1] == 0
    assert ask(made, 19, 7, create)["topics"][0]["errorCode"] == 0
    assert topic()[0] != first
    many = {"topics": [{"name": "all", "numPartitions": 2**30, "replicationFactor": 1}], "timeoutMs": 1}
    assert ask(made, 19, 7, many)["topics"][0]["errorCode"] == 44, "no client grows the server"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "a frame of 0 bytes"),
        (struct.pack(">hhi", 999, 0, 1), "no API 999"),
        (struct.pack(">hhi", 68, 9, 1), "versions 0 to 1, not 9"),
        (struct.pack(">hhi", 68, 0, 1) + b"\xff" * 20, "cannot be read"),
        (
            frame(10, 4, {"keyType": 0, "coordinatorKeys": ["g"]}).replace(b"\x02g", b"\x00"),
            "a field is null that may not be",
        ),
    ],
)
def test_a_malformed_frame_says_why(data: bytes, why: str) -> None:
    with pytest.raises(Malformed, match=why):
        broker({"foo": 2}).handle(data, "127.0.0.1")


def test_bytes_behind_a_request_mean_nothing() -> None:
    """As for Kafka: librdkafka asks for the Metadata of all topics with three bytes too many."""
    request = frame(3, 12, {"topics": None, "allowAutoTopicCreation": False}) + b"\x01\x00\x00"
    answer = response(3, 12, broker({"foo": 2}).handle(request, "127.0.0.1"))
    assert [topic["name"] for topic in answer["topics"]] == ["foo"]


def test_a_classic_group_is_described() -> None:
    """C1: the description has the members with their metadata and assignments, once the group is stable."""
    clock = SimulatedClock()
    made = broker({"foo": 2}, clock=clock)

    def described(version: int = 5) -> Any:
        [group] = ask(made, 15, version, {"groups": ["c"]})["groups"]
        return group

    assert described()["groupState"] == "Dead" and described()["errorCode"] == 0
    assert described(6)["errorCode"] == 69
    protocols = [{"name": "range", "metadata": "AAA="}, {"name": "sticky", "metadata": "AAE="}]
    join = {
        "groupId": "c",
        "sessionTimeoutMs": 10000,
        "rebalanceTimeoutMs": 20000,
        "protocolType": "consumer",
    }
    join |= {"memberId": "", "protocols": protocols}
    member = ask(made, 11, 5, join)["memberId"]
    made.handle(frame(11, 5, {**join, "memberId": member}), "127.0.0.1")
    assert described()["groupState"] == "PreparingRebalance"
    assert [one["memberMetadata"] for one in described()["members"]] == [""], "not before it is stable"
    clock.set(clock.later(3000))
    made.ready()
    given = [{"memberId": member, "assignment": "AAI="}]
    ask(made, 14, 3, {"groupId": "c", "generationId": 1, "memberId": member, "assignments": given})
    group = described()
    assert (group["groupState"], group["protocolType"], group["protocolData"]) == (
        "Stable",
        "consumer",
        "range",
    )
    [one] = group["members"]
    assert (one["memberId"], one["clientId"], one["clientHost"]) == (member, "c", "/127.0.0.1")
    assert (one["memberMetadata"], one["memberAssignment"]) == ("AAA=", "AAI=")
    ask(made, 68, 1, HEARTBEAT)
    assert ask(made, 15, 5, {"groups": ["g"]})["groups"][0]["groupState"] == "Dead", "of another kind"


def test_an_id_of_zeros_is_refused_by_the_group_and_not_by_the_connection() -> None:
    """H3: the answer is INVALID_REQUEST, as for the same request in the line protocol."""
    made = broker({"foo": 2})
    owned = [{"topicId": None, "partitions": [0]}]  # kio writes zeros for null
    answer = ask(made, 68, 1, {**HEARTBEAT, "topicPartitions": owned})
    assert (answer["errorCode"], answer["memberEpoch"]) == (42, 0)
    assert "topic id of zeros" in answer["errorMessage"]
    assert ask(made, 68, 1, HEARTBEAT)["errorCode"] == 0


@pytest.mark.parametrize("version", [10, 13])
def test_requests_about_the_topic_of_zeros(version: int) -> None:
    """Metadata, Fetch and DeleteTopics know no topic of this id."""
    made = broker({"foo": 2})
    if version == 10:
        wanted = [{"topicId": None, "name": "foo"}, {"topicId": None, "name": None}]
        topics = ask(made, 3, 10, {"topics": wanted})["topics"]
        assert [(one["errorCode"], one["name"]) for one in topics] == [(0, "foo"), (3, "")]
        topics = [{"name": "none", "topicId": None}, {"name": None, "topicId": None}]
        deleted = ask(made, 20, 6, {"topics": topics, "timeoutMs": 1})["responses"]
        assert [one["errorCode"] for one in deleted] == [3, 100]
        return
    partition = {"partition": 0, "fetchOffset": 0, "partitionMaxBytes": 10}
    body = {"replicaId": -1, "maxWaitMs": 0, "minBytes": 1, "maxBytes": 10}
    topic = {"topicId": None, "partitions": [partition]}
    [answer] = ask(made, 1, version, body | {"topics": [topic]})["responses"]
    assert answer["partitions"][0]["errorCode"] == 100


def test_a_string_is_not_longer_than_all_versions_can_hold() -> None:
    """Kafka's rule: the leader of a group, in an older version, is given the ids of all its members."""
    made = broker({"foo": 2})
    join = {"groupId": "c", "memberId": "", "protocolType": "consumer", "sessionTimeoutMs": 10_000}
    join |= {"rebalanceTimeoutMs": 20_000, "protocols": [{"name": "range", "metadata": "AAA="}]}
    longest = "i" * MOST_TEXT
    assert isinstance(made.handle(frame(11, 9, join | {"groupInstanceId": longest}), "h"), int)
    with pytest.raises(Malformed, match="a string has 32768 bytes; at most 32767 are read"):
        made.handle(frame(11, 9, join | {"groupInstanceId": longest + "i"}), "h")
    with pytest.raises(Malformed, match="at most 32767"):
        ask(made, 68, 1, {**HEARTBEAT, "subscribedTopicNames": ["foo", "ö" * 16_384]})


@pytest.mark.parametrize("version", range(2, 10))
def test_a_commit_of_a_topic_without_a_name_is_answered(version: int) -> None:
    """O1: with an error for its partition. No name may be null in these versions."""
    partition = {"partitionIndex": 0, "committedOffset": 1, "committedMetadata": None}
    body = {"groupId": "g", "topics": [{"name": "", "partitions": [partition]}]}
    [topic] = ask(broker({"foo": 2}), 8, version, body)["topics"]
    assert (topic["name"], topic["partitions"]) == ("", [{"partitionIndex": 0, "errorCode": 42}])


def test_a_commit_of_a_topic_by_its_id_is_answered_by_that() -> None:
    made = broker({"foo": 2})
    topic_id = made._cluster.topics["foo"].id
    partition = {"partitionIndex": 0, "committedOffset": 1, "committedMetadata": None}
    body = {"groupId": "g", "topics": [{"topicId": topic_id, "partitions": [partition]}]}
    [topic] = ask(made, 8, 10, body)["topics"]
    assert (topic["topicId"], topic["partitions"]) == (topic_id, [{"partitionIndex": 0, "errorCode": 0}])


def test_the_error_of_a_resource_names_types_that_every_client_knows() -> None:
    """KIP-848 and Kafka have other numbers for GROUP."""
    resource = {"resourceType": 8, "resourceName": "x"}
    altered = ask(broker({}), 44, 1, {"resources": [{**resource, "configs": []}], "validateOnly": False})
    described = ask(broker({}), 32, 4, {"resources": [{**resource, "configurationKeys": None}]})
    assert altered["responses"][0]["errorMessage"].endswith("name the resource type GROUP.")
    assert described["results"][0]["errorMessage"].endswith("name the resource type GROUP or BROKER.")
