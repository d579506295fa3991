"""Expected values of static members (S1, S2), regular expressions (T1), recreated topics (T2) and refused
requests (H3, H4, H5): against answers and records written by hand from KIP-848."""

from __future__ import annotations

from typing import Any

import pytest
from expected_steps import FOO, decoded, kinds, steps, wire_partitions
from spec_model import NOTHING, Model, request

from harness.errors import ConformError
from harness.kinds.consumer import expect
from harness.kinds.consumer.records import written
from harness.replay import wire
from harness.replay.decode import Decoder
from harness.replay.prepared import Step

F01 = frozenset({("foo", 0), ("foo", 1)})


def static(subscription: Any = FOO, **given: Any) -> Model:
    """m1 is i1, with both partitions of foo."""
    model = Model(topics={"foo": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=subscription, instance="i1", **given)
    return model


def away(**given: Any) -> Model:
    model = static(**given)
    model.heartbeat("m1", -2, instance="i1")
    return model


def member(step: Step, name: str) -> Any:
    assert step.expected.group is not None
    return {entry["memberId"]: entry for entry in step.expected.group["members"]}[name]


def test_instance_id_and_regex_are_sent_recorded_and_described() -> None:
    step = steps(static(NOTHING, regex="fo+"))[0]
    value = step.expected.records[0]["value"]
    body = step.call.operation()["body"]
    for place in (value, body, member(step, "m1")):
        assert (place["instanceId"], place["subscribedTopicRegex"]) == ("i1", "fo+")
    assert (value["subscribedTopicNames"], step.script) == ([], {"m1": wire_partitions(0, 1)})


def test_leaving_for_a_while_keeps_the_place_and_writes_the_epoch() -> None:
    left, again = steps(_twice(away()))[1:]
    assert kinds(left) == ["8m1"]
    assert left.expected.records[0]["value"]["memberEpoch"] == -2
    assert left.expected.records[0]["value"]["topicPartitions"] == wire_partitions(0, 1)
    assert left.expected.body is not None and left.expected.group is not None
    assert (left.expected.body["memberId"], left.expected.body["memberEpoch"]) == (None, -2)
    assert (left.expected.body["assignment"], left.expected.body["heartbeatIntervalMs"]) == (None, 0)
    assert (left.expected.group["state"], left.script) == ("Reconciling", None)
    assert kinds(again) == []
    assert again.expected.group is not None
    assert [timer["deadlineMs"] for timer in again.expected.group["timers"]] == [45_003]


def _twice(model: Model) -> Model:
    model.heartbeat("m1", -2, instance="i1")
    return model


def test_its_pending_revocation_ends_and_the_timer_is_disarmed() -> None:
    model = static()
    model.heartbeat("m1", 1, owned=F01, subscription=NOTHING)
    model.heartbeat("m1", -2, instance="i1")
    revoking, left = steps(model)[1:]
    assert member(revoking, "m1")["pendingRevocation"] == wire_partitions(0, 1)
    assert kinds(left) == ["8m1"]
    assert left.expected.records[0]["value"]["topicPartitions"] == []
    assert left.expected.group is not None
    assert [timer["timer"] for timer in left.expected.group["timers"]] == ["session"]


def test_a_return_takes_the_place_under_its_own_id_without_a_new_epoch() -> None:
    model = away()
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO, instance="i1")
    step = steps(model)[-1]
    assert kinds(step) == ["-8m1", "-7m1", "-5m1", "5m2", "7m2", "8m2"]
    assert (step.action, step.branch, step.script) == ("Return", "return", None)
    assert step.expected.body is not None and step.expected.body["memberEpoch"] == 1
    assert step.expected.body["assignment"]["assignedTopicPartitions"] == wire_partitions(0, 1)
    assert step.expected.records[4]["value"]["topicPartitions"] == wire_partitions(0, 1)
    assert step.expected.group is not None
    assert [timer["member"] for timer in step.expected.group["timers"]] == ["m2"]


def test_a_return_without_a_member_id_is_given_one() -> None:
    model = away()
    model.heartbeat("m2", 0, "", owned=NOTHING, subscription=FOO, instance="i1")
    step = steps(model)[-1]
    assert (step.new_id, step.call.operation()["body"]["memberId"]) == ("m2", "")


def test_a_return_under_the_same_id_writes_only_what_differs() -> None:
    model = away()
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO, instance="i1")
    assert kinds(steps(model)[-1]) == ["8m1"]


def test_a_return_with_another_subscription_bumps() -> None:
    model = away()
    model.heartbeat("m2", 0, owned=NOTHING, subscription=NOTHING, instance="i1")
    assert kinds(steps(model)[-1]) == ["-8m1", "-7m1", "-5m1", "5m2", "4", "3", "7m2", "6", "8m2"]
    model = away()
    model.heartbeat("m1", 0, owned=NOTHING, subscription=NOTHING, instance="i1")
    assert kinds(steps(model)[-1]) == ["5m1", "4", "3", "7m1", "6", "8m1"]


def test_a_member_that_takes_anothers_place_gives_up_its_own() -> None:
    model = away()
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO, instance="i1")
    assert kinds(steps(model)[-1]) == ["-8m1", "-7m1", "-5m1", "5m2", "3", "7m2", "6", "8m2"]


def test_a_member_that_is_not_back_in_time_is_removed() -> None:
    model = away()
    model.expire("SessionTimeout", "m1")
    assert kinds(steps(model)[-1]) == ["-8m1", "-7m1", "-5m1", "4", "3", "6"]


@pytest.mark.parametrize("epoch", [0, 1, -1, -2])
def test_an_instance_id_in_use_is_refused_and_nothing_changes(epoch: int) -> None:
    model = static()
    model.heartbeat("m2", epoch, "" if epoch == 0 else None, subscription=FOO, instance="i1")
    step = steps(model)[-1]
    assert (step.error, kinds(step), step.new_id, step.script) == ("UNRELEASED_INSTANCE_ID", [], "", None)
    assert step.expected.body is not None and step.expected.body["errorCode"] == 111


@pytest.mark.parametrize(
    ("branch", "error", "code", "given"),
    [
        ("invalid", "INVALID_REQUEST", 42, request("", -1)),
        ("invalid", "INVALID_REQUEST", 42, request("m1", -3, instance="i1")),
        ("invalid", "INVALID_REQUEST", 42, request("m1", 1, regex="(")),
        ("unsupported", "UNSUPPORTED_ASSIGNOR", 112, request("m1", 1, assignor="none")),
    ],
)
def test_requests_that_are_refused_before_the_group_is_looked_at(
    branch: str, error: str, code: int, given: Any
) -> None:
    model = static()
    action = {-1: "Leave"}.get(given["epoch"], "Heartbeat")
    model.refuse(action, branch, given["member"], given, error)
    step = steps(model)[-1]
    assert (kinds(step), step.branch) == ([], branch)
    assert step.expected.body is not None and step.expected.body["errorCode"] == code
    sent = step.call.operation()["body"]
    assert (sent["memberId"], sent["memberEpoch"]) == (given["member"], given["epoch"])


def test_the_largest_group_is_configured_where_a_group_is_as_large() -> None:
    model = Model(topics={"foo": 2}, max_size=1)
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    assert decoded(model).configuration == {wire.MAX_SIZE: 1}
    model.heartbeat("m2", 0, owned=NOTHING, subscription=FOO)
    full = steps(model)[-1]
    assert (full.error, full.branch) == ("GROUP_MAX_SIZE_REACHED", "full")
    model.max_size = 2
    assert decoded(model).configuration == wire.DEFAULTS
    trace = model.trace()
    trace.meta["constants"]["MaxGroupSize"] = "many"
    with pytest.raises(ConformError, match="MaxGroupSize in #meta must be a number from 1, not 'many'"):
        Decoder().decode(trace, "a trace")


def test_a_recreated_topic_has_its_name_and_another_id() -> None:
    model = Model(topics={"bar": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=NOTHING, regex=".*")
    model.change_topic("DeleteTopic", "bar", -1)
    model.change_topic("CreateTopic", "bar#2", 1)
    deleted, created = steps(model)[1:]
    assert deleted.call.operation() == {"op": "topics", "upsert": [], "delete": ["bar"]}
    topic = {"name": "bar", "id": wire.topic_id("bar#2"), "partitions": 1}
    assert created.call.operation() == {"op": "topics", "upsert": [topic], "delete": []}
    assert wire.topic_id("bar#2") != wire.topic_id("bar")
    metadata = {"topicId": topic["id"], "topicName": "bar", "numPartitions": 1}
    assert created.expected.group is not None and created.expected.group["metadata"] == [metadata]
    assert created.load.topics == [topic]
    target = [{"topicId": topic["id"], "partitions": [0]}]
    assert created.script == {"m1": target}


def test_two_topics_of_one_name_are_a_contradiction() -> None:
    model = Model(topics={"bar": 2})
    model.change_topic("CreateTopic", "bar#2", 1)
    with pytest.raises(ConformError, match="state 1: topic 'bar#2' is created, but 'bar' has its name"):
        steps(model)


def test_an_instance_id_that_a_heartbeat_takes_is_recorded_without_a_new_epoch() -> None:
    model = static()
    model.heartbeat("m1", 1, owned=F01, instance="i2")
    assert kinds(steps(model)[-1]) == ["5m1"]


def test_a_return_of_an_unknown_member_is_a_contradiction() -> None:
    model = static()
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO, instance="i1")
    step = model.states[-1]["step"]
    model.states[-1] = model.states[-1].set("step", step.set("action", "Return"))
    with pytest.raises(ConformError, match="m1 returns, but no member with its instance id is away"):
        steps(model)


def test_a_loaded_member_that_is_away_holds_what_it_held() -> None:
    step = steps(away())[-1]
    assert step.load.volatile["groups"]["g"]["members"]["m1"]["pendingRevocation"] == []
    current = [record for record in step.load.records if "CurrentMember" in record["key"]["type"]]
    assert [record["value"]["memberEpoch"] for record in current] == [-2]
    assert expect.description(step.load.state.group)["state"] == "Reconciling"
    assert written(step.load.state, step.load.state, 0) == []
