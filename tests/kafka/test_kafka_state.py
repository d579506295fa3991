"""Loading, restarting and refusing, on each version of Kafka's own coordinator."""

from __future__ import annotations

import json
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from kafka_driver import HEARTBEAT, TOPICS, Driver, answered, client, described, part

from harness.itf import read_trace
from harness.kinds.consumer.decode import ConsumerLoad
from harness.replay import wire
from harness.replay.compare import differences
from harness.replay.decode import Decoder
from harness.replay.prepared import Loadable
from harness.replay.view import View
from harness.targets.base import Answer, Json, Refused

pytestmark = pytest.mark.maven

TRACES = Path(__file__).parents[2] / "traces"


def states() -> list[tuple[str, Loadable, Json]]:
    """Every state of the golden and generated traces of consumer groups, with its description; configurations
    of groups Kafka keeps elsewhere, and the target does not have."""
    decoder = Decoder()
    results: list[tuple[str, Loadable, Json]] = []
    for path in sorted([*(TRACES / "golden").rglob("*.itf.json"), *(TRACES / "corpus").rglob("*.itf.json")]):
        trace = decoder.decode(read_trace(path), path.stem)
        if (
            not isinstance(trace.start, ConsumerLoad) or path.parent.name == "client"
        ):  # Kafka has nothing of that
            continue
        results.append((f"{path.stem} 0", trace.start, trace.initial))
        for step in trace.steps:
            assert step.expected.group is not None
            results.append((f"{path.stem} {step.index}", step.load, step.expected.group))
    return [(name, load, group) for name, load, group in results if "configs" not in group]


def test_a_loaded_state_is_described_alike(kafka: Driver) -> None:
    """Offsets of a missing group are the exception: Kafka makes a group, of its classic type, to hold
    them."""
    view, kafkas = View(kafka.target.hello()), 0
    loaded = states()
    assert len(loaded) > 500
    for name, load, group in loaded:
        kafka.target.load(load.records, load.topics, load.volatile)
        expected, got = view.of(Answer(group=group)), view.of(Answer(group=kafka.target.describe("g")))
        if load.state.offsets and not load.state.group.exists:
            expected, kafkas = expected._replace(group={**described(expected), "state": "Empty"}), kafkas + 1
        assert differences(expected, got) == [], name
    assert kafkas == 8


def test_a_loaded_group_goes_on_where_it_was(kafka: Driver) -> None:
    """With the recorded metadata no epoch is bumped, with other topics the next heartbeat bumps it."""
    load = next(
        load for _, load, group in states() if group["state"] == "Stable" and len(group["members"]) == 2
    )
    epoch, topics = load.state.group.epoch, load.topics
    name, member = next(iter(load.state.group.members.items()))
    kafka.target.load(load.records, topics, load.volatile)
    assert described(kafka.heartbeat(name, member.epoch))["groupEpoch"] == epoch
    grown = [{**topic, "partitions": topic["partitions"] + 1} for topic in topics]
    kafka.target.load(load.records, grown, load.volatile)
    assert kafka.target.describe("g")["groupEpoch"] == epoch
    assert described(kafka.heartbeat(name, member.epoch))["groupEpoch"] == epoch + 1


def test_a_group_keeps_the_topics_that_it_has_seen(kafka: Driver) -> None:
    """Two topics grow by a partition each: they never look as they did before."""
    for bar, foo in product((1, 2, 3), repeat=2):
        kafka.target.load([], [wire.topic("bar", bar), wire.topic("foo", foo)], {"clockMs": 0})
        kafka.join("m1", "bar", "foo")
        seen = kafka.target.describe("g")["metadata"]
        assert [one["numPartitions"] for one in seen] == [bar, foo]
        kafka.target.topics([wire.topic("bar", bar + 1)], [])
        kafka.target.topics([wire.topic("foo", foo + 1)], [])
        assert kafka.target.describe("g")["metadata"] == seen


def test_kafkas_own_records_are_loaded_as_they_are(kafka: Driver) -> None:
    kafka.two_members()
    group = kafka.target.describe("g")
    raw = kafka.target._ask({"op": "records", "since": 0, "raw": True})["records"]
    metadata = "topics" if kafka.target.name < "kafka:4.1" else "metadataHash"
    assert {metadata, "previousMemberEpoch"} <= {
        field for record in raw if record["value"] for field in record["value"]
    }
    topics = [{"name": "foo", "id": TOPICS["foo"], "partitions": 2}]
    kafka.target._ask({"op": "load", "records": raw, "topics": topics, "raw": True})
    assert kafka.target.describe("g") == group


def test_deadlines_are_loaded(kafka: Driver) -> None:
    epoch = kafka.two_members()
    records = kafka.target.records(0)
    members = {
        "m1": {"sessionDeadlineMs": 2_000, "rebalanceDeadlineMs": 1_500},
        "m2": {"sessionDeadlineMs": 5_000},
    }
    topics = [{"name": "foo", "id": TOPICS["foo"], "partitions": 2}]
    kafka.target.load(records, topics, {"clockMs": 1_000, "groups": {"g": {"members": members}}})
    group = kafka.target.describe("g")
    assert [(timer["timer"], timer["deadlineMs"]) for timer in group["timers"]] == [
        ("session", 2_000),
        ("rebalance", 1_500),
        ("session", 5_000),
    ]
    assert not kafka.target.advance(499).fired
    assert [timer["timer"] for timer in kafka.target.advance(1).fired] == ["rebalance"]
    assert kafka.target.describe("g")["groupEpoch"] == epoch + 1


@pytest.mark.parametrize("text", [False, True])
def test_without_volatile_state_it_is_recorded_or_derived(kafka: Driver, text: bool) -> None:
    """Kafka records the partitions that a member revokes. In the records of KIP-848's text they are derived
    as after a fail-over: the partitions held beyond the target; and there is no previous epoch."""
    kafka.two_members()
    group, records = kafka.state()
    loads = [in_text(record) for record in records] if text else records
    kafka.target.load(loads, [{"name": "foo", "id": TOPICS["foo"], "partitions": 2}], {})
    loaded = kafka.target.describe("g")
    assert [timer["timer"] for timer in loaded["timers"]] == ["session", "rebalance", "session"]
    derived = ("memberId", "state", "assigned", "pendingRevocation", "target")
    for before, after in zip(group["members"], loaded["members"], strict=True):
        assert {name: before[name] for name in derived} == {name: after[name] for name in derived}
        assert after["previousMemberEpoch"] == (0 if text else before["previousMemberEpoch"])


def in_text(record: Json) -> Json:
    """The record as KIP-848's text has it."""
    value = record["value"] or {}
    if "assignedPartitions" not in value:
        return record
    held = sorted(
        index
        for one in (*value["assignedPartitions"], *value["partitionsPendingRevocation"])
        for index in one["partitions"]
    )
    text = {"memberEpoch": value["memberEpoch"], "topicPartitions": [part("foo", *held)] if held else []}
    return {**record, "value": text}


@pytest.mark.parametrize("topics", [1, 2])
def test_a_regular_expression_is_loaded_as_resolved(kafka: Driver, topics: int) -> None:
    """An expression is loaded with the recorded topics; a further match is noticed at the next heartbeat."""
    kafka.heartbeat("m1", 0, rebalanceTimeoutMs=5000, subscribedTopicRegex="fo+|bar", topicPartitions=[])
    kafka.target.background()
    group, records = kafka.state()
    metadata = {"type": "ConsumerGroupPartitionMetadata", "groupId": "g"}
    value = {"epoch": group["groupEpoch"], "topics": group["metadata"]}
    both = [{"name": name, "id": TOPICS[name], "partitions": 2} for name in ("foo", "bar")]
    kafka.target.load([*records, {"key": metadata, "value": value}], both[:topics], {"clockMs": 1})
    assert kafka.target.describe("g")["metadata"] == group["metadata"]
    epoch = answered(kafka.heartbeat("m1", kafka.member("m1")["memberEpoch"]))["memberEpoch"]
    assert kafka.member("m1")["assigned"] == [part("foo", 0, 1)]
    kafka.target.background()
    assert kafka.target.describe("g")["groupEpoch"] == epoch + topics - 1


def test_a_restart_changes_nothing(kafka: Driver) -> None:
    kafka.two_members()
    group, records = kafka.state()
    kafka.target.restart()
    assert kafka.state() == (group, records)


def test_a_restart_keeps_whole_batches(kafka: Driver) -> None:
    kafka.join("m1", "foo")
    group, records = kafka.state()
    kafka.join("m2", "foo")
    kafka.target.restart(len(records) + 1)
    assert kafka.state() == (group, records)
    kafka.target.restart(len(records) - 1)
    assert kafka.target.describe("g")["state"] == "Dead"


def test_a_load_forgets_everything(kafka: Driver) -> None:
    kafka.two_members()
    kafka.target.assign("g", {"m1": []})
    records = kafka.target.records(0)
    for _ in range(2):
        kafka.target.load([], [], {"clockMs": 0})
        assert kafka.target.describe("g")["state"] == "Dead"
        assert kafka.target.records(0) == []
        kafka.topic("foo", 2)
        assert not kafka.join("m1", "foo").consumed
        assert len(kafka.target.records(0)) < len(records)


REQUEST: Json = {
    "op": "request",
    "api": HEARTBEAT,
    "version": 0,
    "body": {"groupId": "g", "memberId": "m1", "memberEpoch": 1},
}
RECORD: Json = {"key": {"type": "ConsumerGroupMetadata", "groupId": "h"}, "value": {"epoch": 1}}
BAD: list[tuple[Any, str]] = [
    ([], "an operation must be an object"),
    ({"op": "dance"}, "there is no operation 'dance'; there are hello, request"),
    ({"op": "advance", "ms": -1}, "'ms' of advance must be at least 0, not -1"),
    ({"op": "advance", "ms": "1"}, "must be a whole number"),
    ({"op": "advance", "seconds": 1}, "has no field 'seconds'"),
    ({**REQUEST, "api": "Fetch"}, "there is no API 'Fetch'"),
    ({**REQUEST, "version": 5}, "there is no version 5"),
    ({**REQUEST, "client": {"host": "example.org"}}, "a client's host must be /ADDRESS"),
    ({**REQUEST, "body": {"groupId": 1}}, "Kafka's schema of ConsumerGroupHeartbeat"),
    ({**REQUEST, "body": {**REQUEST["body"], "memberEpoch": 2**31}}, "Kafka's schema"),
    ({**REQUEST, "body": {**REQUEST["body"], "colour": "red"}}, "has no field 'colour'"),
    ({**REQUEST, "body": {**REQUEST["body"], "topicPartitions": [{"topicId": "x"}]}}, "is no topic id"),
    ({"op": "topics", "delete": ["bar"]}, "there is no topic 'bar' to delete"),
    ({"op": "topics", "delete": ["foo", "foo"]}, "deleted twice"),
    ({"op": "topics", "upsert": [{"name": "foo", "id": TOPICS["foo"], "partitions": 1}]}, "cannot shrink"),
    ({"op": "topics", "upsert": [{"name": "x", "id": TOPICS["foo"], "partitions": 1}]}, "is that of topic"),
    ({"op": "topics", "upsert": [{"name": "x", "id": TOPICS["bar"], "partitions": 0}]}, "at least 1"),
    ({"op": "fire", "timer": "session", "group": "g", "member": "m9"}, "is armed"),
    ({"op": "fire", "timer": "session", "group": "h", "member": "m1"}, "is armed"),
    ({"op": "assign", "group": "g", "target": {"m1": [{"topicId": "x", "partitions": []}]}}, "no topic id"),
    ({"op": "assign", "group": "g", "target": {"m1": [part("foo", 0, 0)]}}, "names partition 0 twice"),
    ({"op": "configure", "group.consumer.max.size": 2}, "before the first request"),
    ({"op": "restart", "keep": -1}, "'keep' of restart must be at least 0"),
    ({"op": "restart", "keep": 1000}, "records, not 1000"),
    ({"op": "records", "since": -1}, "'since' of records must be at least 0"),
    ({"op": "load", "records": [1]}, "a record must be an object"),
    (
        {"op": "load", "records": [{"key": {"type": "Nothing", "groupId": "g"}, "value": {}}]},
        "no such Nothing",
    ),
    ({"op": "load", "records": [{**RECORD, "value": {}}]}, "no such ConsumerGroupMetadata record"),
    ({"op": "load", "records": [{"key": RECORD["key"]}]}, "null for a tombstone"),
    ({"op": "load", "records": [RECORD], "volatile": {"groups": {"x": {}}}}, "the group 'x'"),
    (
        {"op": "load", "records": [RECORD], "volatile": {"groups": {"h": {"members": {"x": {}}}}}},
        "the member 'x'",
    ),
]


@pytest.mark.parametrize(("operation", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_input_is_refused_and_changes_nothing(kafka: Driver, operation: Any, words: str) -> None:
    kafka.two_members()
    before = kafka.state()
    answer = json.loads(kafka.say(json.dumps(operation)))
    assert answer["ok"] is False
    assert words in answer["error"]
    assert kafka.state() == before


def test_a_line_that_is_no_json_is_refused(kafka: Driver) -> None:
    assert b"the line is not JSON" in kafka.say("{")


def test_records_that_kafka_cannot_load_are_refused(kafka: Driver) -> None:
    """A partition cannot have two owners."""
    epoch = kafka.two_members()
    before = kafka.state()
    key = {"type": "ConsumerGroupCurrentMemberAssignment", "groupId": "g", "memberId": "m2"}
    record = {"key": key, "value": {"memberEpoch": epoch - 1, "topicPartitions": [part("foo", 0)]}}
    with pytest.raises(Refused, match="Kafka does not load these records: "):
        kafka.target.load([*before[1], record], [], {})
    assert kafka.state() == before


def test_the_same_operations_give_the_same_bytes(kafka: Driver) -> None:
    assert run(kafka, 7) == run(kafka, 7)
    assert run(kafka, 7) != run(kafka, 8)


def run(kafka: Driver, seed: int) -> list[bytes]:
    """The answers to a random schedule of members that join, leave, and get ids from Kafka."""
    choose, answers = random.Random(seed), []
    kafka.target.load([], [], {"clockMs": 0})
    kafka.topic("foo", 4)
    members: dict[str, int] = {}
    for _ in range(40):
        member = choose.choice(["", *members])
        body: Json = {"groupId": "g", "memberId": member, "memberEpoch": members.get(member, 0)}
        if not member:
            body |= {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []}
        elif choose.random() < 0.2:
            body["memberEpoch"] = -1
        operation = {**REQUEST, "client": client("c"), "body": body, "observe": "g"}
        answers.append(kafka.say(json.dumps(operation)))
        response = json.loads(answers[-1])["body"]
        if response["errorCode"] == 0:
            members[response["memberId"]] = response["memberEpoch"]
        if response["memberEpoch"] <= 0:
            members.pop(member, None)
        answered(Answer(response))
    return answers
