"""Bad input of OffsetCommit and OffsetFetch, field by field (O1): an error, and nothing changes."""

from __future__ import annotations

import re
from typing import Any

import pytest
from group_driver import CLIENT, IDS
from offset_driver import commit_body, errors, fetch_body, joined, send, state

from coordinator import BadInput, Coordinator, ErrorCode

OTHER_ID = "00000000-0000-4000-8000-0000000000ff"
FOO_ID = IDS["foo"]
UNKNOWN_MEMBER, STALE = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.STALE_MEMBER_EPOCH


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ({"topicId": OTHER_ID}, ErrorCode.UNKNOWN_TOPIC_ID),
        ({"name": "other"}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        ({"name": "x" * 300}, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_unknown_topic_is_an_error_of_its_partitions_alone(topic: dict[str, str], expected: int) -> None:
    g, offsets = joined()
    body = commit_body("m1", 1, {"foo-0": 5})
    partitions = [{"partitionIndex": 0, "committedOffset": 1}]
    body["topics"].insert(0, {**topic, "partitions": partitions})
    first, second = send(g.coordinator, body)["topics"]
    assert (first["partitions"][0]["errorCode"], second["partitions"][0]["errorCode"]) == (expected, 0)
    wanted = fetch_body(["foo-0"])
    wanted["groups"][0]["topics"].insert(0, {**topic, "partitionIndexes": [0]})
    first, second = g.coordinator.request("OffsetFetch", 9, CLIENT, wanted)["groups"][0]["topics"]
    assert (first["partitions"][0]["errorCode"], second["partitions"][0]["committedOffset"]) == (expected, 5)
    assert offsets.fetch() == {"foo-0": 5}


BOTH = {"name": "foo", "topicId": FOO_ID}
ZEROS = {"topicId": "00000000-0000-0000-0000-000000000000"}
ONE = {"partitionIndex": 0, "committedOffset": 1}
INVALID, UNKNOWN_PARTITION = ErrorCode.INVALID_REQUEST, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def committing(*topics: dict[str, Any]) -> dict[str, Any]:
    return {"topics": [{"partitions": [ONE], **topic} for topic in topics]}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"groupId": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"groupId": "g" * 40_000}, INVALID),
        ({"memberId": "m" * 40_000}, UNKNOWN_MEMBER),
        ({"generationIdOrMemberEpoch": 2**31 - 1}, STALE),
        ({"generationIdOrMemberEpoch": -(2**31)}, STALE),
        (committing(BOTH), INVALID),
        (committing({}), INVALID),
        (committing({"name": "", **ZEROS}), INVALID),
        (committing({"name": "foo"}, {"name": "foo"}), INVALID),
        (committing({"name": "foo"}, {"topicId": FOO_ID.upper()}), INVALID),
        (committing({"name": "foo", "partitions": [ONE, ONE]}), INVALID),
        (committing({"topicId": OTHER_ID, "partitions": [ONE, ONE]}), INVALID),
        (committing({"name": "foo", "partitions": [{**ONE, "partitionIndex": 2}]}), UNKNOWN_PARTITION),
        (committing({"name": "foo", "partitions": [{**ONE, "partitionIndex": -1}]}), UNKNOWN_PARTITION),
        (committing({"name": "foo", "partitions": [{**ONE, "committedOffset": -1}]}), INVALID),
        (committing({"name": "foo", "partitions": [{**ONE, "committedLeaderEpoch": -2}]}), INVALID),
        (
            committing({"name": "foo", "partitions": [{**ONE, "committedMetadata": "x" * 4097}]}),
            ErrorCode.OFFSET_METADATA_TOO_LARGE,
        ),
    ],
)
def test_invalid_commit_has_the_error_at_every_partition_and_changes_nothing(
    change: dict[str, Any], expected: int
) -> None:
    """O1; the list of topics is what the client sent."""
    g, offsets = joined()
    offsets.commit("m1", 1, {"foo-0": 5})
    before = state(g.coordinator)
    response = send(g.coordinator, {**commit_body("m1", 1, {"foo-0": 9}), **change})
    codes = [partition["errorCode"] for topic in response["topics"] for partition in topic["partitions"]]
    assert set(codes) == {expected}
    assert state(g.coordinator) == before


def test_no_topics_and_no_partitions_are_an_answer_without_any() -> None:
    g, _ = joined()
    before = state(g.coordinator)
    for topics in ([], [{"name": "foo", "partitions": []}]):
        body = {**commit_body("m1", 1, {}), "topics": topics}
        assert errors(send(g.coordinator, body)) == {}
    assert state(g.coordinator) == before
    empty = g.coordinator.request("OffsetFetch", 9, CLIENT, {"groups": []})
    assert empty == {"throttleTimeMs": 0, "groups": []}


def group(group_id: str, *topics: dict[str, Any]) -> dict[str, Any]:
    return {"groupId": group_id, "topics": [{"partitionIndexes": [0], **topic} for topic in topics]}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"groups": [group("")]}, [ErrorCode.INVALID_GROUP_ID]),
        ({"groups": [group("g" * 40_000)]}, [INVALID]),
        ({"groups": [group("g", BOTH)]}, [INVALID]),
        ({"groups": [group("g", {})]}, [INVALID]),
        ({"groups": [group("g", ZEROS)]}, [INVALID]),
        ({"groups": [group("g", {"name": "foo", "partitionIndexes": [0, 0]})]}, [INVALID]),
        ({"groups": [group("g", {"name": "foo"}, {"topicId": FOO_ID})]}, [INVALID]),
        ({"groups": [group("g"), group("g")]}, [INVALID, INVALID]),
        (
            {"memberId": "m1", "generationIdOrMemberEpoch": 1, "groups": [group("g"), group("h")]},
            [INVALID, INVALID],
        ),
        ({"groups": [group("h", {"name": "foo"}), group("g", BOTH)]}, [INVALID, INVALID]),
        ({"memberId": "m" * 40_000, "groups": [group("g")]}, [UNKNOWN_MEMBER]),
        ({"groups": [group("g", {"name": "foo"}), group("h")]}, [0, 0]),
        ({"groups": [group("g", {"name": "foo"}), group("")]}, [0, ErrorCode.INVALID_GROUP_ID]),
    ],
)
def test_invalid_fetch_has_the_error_at_every_group_and_changes_nothing(
    body: dict[str, Any], expected: list[int]
) -> None:
    """O1; of several groups at once no member can be checked."""
    g, offsets = joined()
    offsets.commit("m1", 1, {"foo-0": 5})
    before = state(g.coordinator)
    answers = g.coordinator.request("OffsetFetch", 9, CLIENT, body)["groups"]
    assert [answer["errorCode"] for answer in answers] == expected
    assert all(answer["topics"] == [] for answer in answers if answer["errorCode"])
    assert state(g.coordinator) == before


@pytest.mark.parametrize("index", [2, -1])
def test_fetch_of_a_partition_that_a_topic_does_not_have(index: int) -> None:
    g, _ = joined()
    body = {"groups": [group("g", {"topicId": FOO_ID, "partitionIndexes": [index]})]}
    (answer,) = g.coordinator.request("OffsetFetch", 9, CLIENT, body)["groups"]
    (partition,) = answer["topics"][0]["partitions"]
    assert (partition["errorCode"], partition["committedOffset"]) == (UNKNOWN_PARTITION, -1)


COMMIT = commit_body("m1", 1, {"foo-0": 9})
FETCH = fetch_body(["foo-0"])


def spoilt(body: dict[str, Any], path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """A copy with another value, or without the field where the value is `...`."""
    name, *rest = path
    if isinstance(body, list):
        assert isinstance(name, int)
        return [*body[:name], spoilt(body[name], tuple(rest), value), *body[name + 1 :]]  # type: ignore[return-value]
    if rest:
        return {**body, name: spoilt(body[name], tuple(rest), value)}  # type: ignore[dict-item, index]
    if value is ...:
        return {key: kept for key, kept in body.items() if key != name}
    return {**body, name: value}  # type: ignore[dict-item]


TOPIC = ("topics", 0)
PARTITION = (*TOPIC, "partitions", 0)
GROUP = ("groups", 0)


@pytest.mark.parametrize(
    ("api", "path", "values"),
    [
        ("OffsetCommit", ("groupId",), [..., None, 1]),
        ("OffsetCommit", ("memberId",), [1, [], "\ud800"]),
        ("OffsetCommit", ("generationIdOrMemberEpoch",), [None, "1", 1.0, True, 2**31]),
        ("OffsetCommit", ("groupInstanceId",), [1]),
        ("OffsetCommit", ("retentionTimeMs",), [1]),
        ("OffsetCommit", ("topics",), [..., None, {}, [1], "foo"]),
        ("OffsetCommit", (*TOPIC, "name"), [1]),
        ("OffsetCommit", (*TOPIC, "topicId"), [1, "foo", ""]),
        ("OffsetCommit", (*TOPIC, "partitions"), [..., None, {}, [None]]),
        ("OffsetCommit", (*TOPIC, "nmae"), ["foo"]),
        ("OffsetCommit", (*PARTITION, "partitionIndex"), [..., None, "0", 2**31, -(2**31) - 1]),
        ("OffsetCommit", (*PARTITION, "committedOffset"), [..., None, "0", 0.5, 2**63, -(2**63) - 1]),
        ("OffsetCommit", (*PARTITION, "committedLeaderEpoch"), [None, "0", 2**31]),
        ("OffsetCommit", (*PARTITION, "committedMetadata"), [1, "\udfff"]),
        ("OffsetCommit", (*PARTITION, "commitTimestamp"), [1]),
        ("OffsetFetch", ("groups",), [..., None, {}, [1]]),
        ("OffsetFetch", ("memberId",), [1]),
        ("OffsetFetch", ("generationIdOrMemberEpoch",), [None, "1", 2**31]),
        ("OffsetFetch", ("requireStable",), [None, 1, "true"]),
        ("OffsetFetch", ("groupId",), ["g"]),
        ("OffsetFetch", (*GROUP, "groupId"), [..., None, 1]),
        ("OffsetFetch", (*GROUP, "topics"), [..., {}, [1]]),
        ("OffsetFetch", (*GROUP, "topcis"), [[]]),
        ("OffsetFetch", (*GROUP, *TOPIC, "name"), [1]),
        ("OffsetFetch", (*GROUP, *TOPIC, "topicId"), [1, "foo"]),
        ("OffsetFetch", (*GROUP, *TOPIC, "partitionIndexes"), [..., None, 0, ["0"], [None], [2**31]]),
        ("OffsetFetch", (*GROUP, *TOPIC, "partitions"), [[0]]),
    ],
)
def test_fields_outside_the_schema_are_bad_input(api: str, path: tuple[str | int, ...], values: Any) -> None:
    g, offsets = joined()
    offsets.commit("m1", 1, {"foo-0": 5})
    before = state(g.coordinator)
    for value in values:
        body = spoilt(COMMIT if api == "OffsetCommit" else FETCH, path, value)
        with pytest.raises(BadInput) as raised:
            g.coordinator.request(api, 9, CLIENT, body)
        assert len(str(raised.value)) < 300 and re.search(rf"\b{api}\b", str(raised.value))
    assert state(g.coordinator) == before


def test_fields_that_are_left_out_have_the_defaults_of_the_schema() -> None:
    """O1, O4: a commit without a member is one of a manually assigned consumer."""
    g, _ = joined()
    leave = {"groupId": "g", "memberId": "m1", "memberEpoch": -1}
    g.coordinator.request("ConsumerGroupHeartbeat", 0, CLIENT, leave)
    partitions = [{"partitionIndex": 0, "committedOffset": 5}]
    body = {"groupId": "g", "topics": [{"name": "foo", "partitions": partitions}]}
    assert errors(send(g.coordinator, body)) == {"foo-0": 0}
    wanted = {"groups": [{"groupId": "g", "topics": None}]}
    [group] = g.coordinator.request("OffsetFetch", 9, CLIENT, wanted)["groups"]
    [known] = group["topics"][0]["partitions"]
    assert (known["committedOffset"], known["committedLeaderEpoch"], known["metadata"]) == (5, -1, "")


@pytest.mark.parametrize("api", ["OffsetCommit", "OffsetFetch"])
@pytest.mark.parametrize("version", [8, 10, "9"])
def test_other_versions_are_refused(api: str, version: Any) -> None:
    with pytest.raises(BadInput, match=f"{api} has the versions 9 to 9, not"):
        Coordinator().request(api, version, CLIENT, COMMIT if api == "OffsetCommit" else FETCH)
