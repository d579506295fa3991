"""The target contract, on each version of Kafka's own coordinator."""

from __future__ import annotations

import pytest
from kafka_driver import TOPICS, WITH_OFFSETS, Driver, answered, client, described, kinds, part

from harness.targets import own_dialect
from harness.targets.base import Json, Refused
from harness.targets.symbolic import SymbolicIds

pytestmark = pytest.mark.maven


def test_it_says_who_it_is_and_what_it_cannot_show(kafka: Driver) -> None:
    known = kafka.target.hello()
    version = kafka.target.name.removeprefix("kafka:")
    assert known.name == f"Apache Kafka {version}"
    assert known.dialect == own_dialect(kafka.target.name) == f"kafka-{version[:3]}"
    assert known.apis["ConsumerGroupHeartbeat"] == [0, 1]
    assert {"load", "fire", "assign", "background"} <= known.controls
    assert not known.controls & {"ids", "commit"}
    assert {"members.acknowledged", "timers.group", "records.groupEpoch"} <= known.unobserved


def test_a_join(kafka: Driver) -> None:
    answer = kafka.join("m1", "foo", serverAssignor="range", rackId="r", instanceId="i")
    epoch = kafka.first_epoch
    assert answered(answer) == {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": "m1",
        "memberEpoch": epoch,
        "heartbeatIntervalMs": 5000,
        "assignment": {"assignedTopicPartitions": [part("foo", 0, 1)]},
    }
    member = {
        "memberId": "m1",
        "instanceId": "i",
        "memberEpoch": epoch,
        "previousMemberEpoch": 0,
        "state": "STABLE",
        "assigned": [part("foo", 0, 1)],
        "pendingRevocation": [],
        "target": [part("foo", 0, 1)],
        "targetError": 0,
        "subscribedTopicNames": ["foo"],
        "subscribedTopicRegex": None,
        "serverAssignor": "range",
        "rebalanceTimeoutMs": 5000,
        "rackId": "r",
        "clientId": "client-m1",
        "clientHost": "/127.0.0.1",
    }
    assert described(answer) == {
        "groupId": "g",
        "state": "Stable",
        "groupEpoch": epoch,
        "assignmentEpoch": epoch,
        "metadata": [{"topicId": TOPICS["foo"], "topicName": "foo", "numPartitions": 2}],
        "members": [member],
        "timers": [{"timer": "session", "group": "g", "member": "m1", "deadlineMs": 45_000}],
    }
    assert kafka.target.describe("nobody")["state"] == "Dead"


def test_records_are_in_the_normal_form(kafka: Driver) -> None:
    answer = kafka.join("m1", "foo")
    metadata, *topics, group, target, epoch, current = answer.records
    assert [record["offset"] for record in answer.records] == list(range(5 + len(topics)))
    assert [record["value"] for record in topics] == (
        [{"topics": [{"topicId": TOPICS["foo"], "topicName": "foo", "numPartitions": 2}]}]
        if kafka.target.name < "kafka:4.1"
        else []
    )
    assert metadata["key"] == {"type": "ConsumerGroupMemberMetadata", "groupId": "g", "memberId": "m1"}
    assert metadata["value"] == {
        "instanceId": None,
        "rackId": None,
        "clientId": "client-m1",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": ["foo"],
        "subscribedTopicRegex": None,
        "rebalanceTimeoutMs": 5000,
        "serverAssignor": None,
    }
    assert group["key"] == {"type": "ConsumerGroupMetadata", "groupId": "g"}
    assert group["value"] == {"epoch": kafka.first_epoch}
    assert target["value"] == {"topicPartitions": [part("foo", 0, 1)]}
    assert epoch["value"] == {"assignmentEpoch": kafka.first_epoch}
    assert current["value"] == {
        "memberEpoch": kafka.first_epoch,
        "previousMemberEpoch": 0,
        "assignedPartitions": [part("foo", 0, 1)],
        "partitionsPendingRevocation": [],
    }
    assert kafka.target.records(epoch["offset"]) == [epoch, current]


def test_partitions_to_revoke_still_belong_to_their_member(kafka: Driver) -> None:
    epoch = kafka.two_members()
    member = kafka.member("m1")
    assert (member["state"], member["memberEpoch"]) == ("UNREVOKED_PARTITIONS", epoch - 1)
    assert (member["assigned"], member["pendingRevocation"]) == ([part("foo", 1)], [part("foo", 0)])
    assert kafka.member("m2")["state"] == "UNRELEASED_PARTITIONS"
    current = kafka.target.records(0)[-1]["value"]
    assert (current["assignedPartitions"], current["partitionsPendingRevocation"]) == (
        [part("foo", 1)],
        [part("foo", 0)],
    )
    acknowledged = kafka.heartbeat("m1", epoch - 1, topicPartitions=[part("foo", 1)])
    assert answered(acknowledged)["memberEpoch"] == epoch
    received = kafka.heartbeat("m2", epoch)
    assert answered(received)["assignment"] == {"assignedTopicPartitions": [part("foo", 0)]}
    assert described(received)["state"] == "Stable"


def test_a_script_is_used_once(kafka: Driver) -> None:
    kafka.target.assign("g", {"m1": [part("foo", 1)]})
    answer = kafka.join("m1", "foo")
    assert answer.consumed
    assert kafka.member("m1")["target"] == [part("foo", 1)]
    answer = kafka.join("m2", "foo")
    assert not answer.consumed
    assert kafka.member("m1")["target"] == [part("foo", 1)]
    assert kafka.member("m2")["target"] == [part("foo", 0)]


def test_partitions_are_sorted(kafka: Driver) -> None:
    kafka.topic("foo", 40)
    kafka.target.assign("g", {"m1": [part("foo", 33, 1, 17, 0, 16)]})
    answer = kafka.join("m1", "foo")
    assert answered(answer)["assignment"] == {"assignedTopicPartitions": [part("foo", 0, 1, 16, 17, 33)]}
    assert answer.records[-1]["value"]["assignedPartitions"] == [part("foo", 0, 1, 16, 17, 33)]


def test_a_state_that_means_nothing_any_more_is_not_shown(kafka: Driver) -> None:
    """Kafka keeps the partitions that a member waited for when its target is replaced, and when it goes
    away."""
    epoch = kafka.two_members()
    kafka.join("m3", "foo")
    assert kafka.member("m2")["memberEpoch"] == epoch
    assert kafka.member("m2")["state"] == "STABLE"
    kafka.target.load([], [], {"clockMs": 0})
    kafka.topic("foo", 2)
    epoch = answered(kafka.join("m1", "foo", instanceId="i"))["memberEpoch"]
    kafka.target.assign("g", {"m1": [part("foo", 0)], "m2": [part("foo", 1)]})
    kafka.join("m2", "foo")
    kafka.heartbeat("m1", epoch)
    assert kafka.member("m1")["state"] == "UNREVOKED_PARTITIONS"
    kafka.heartbeat("m1", -2, instanceId="i")
    assert (kafka.member("m1")["memberEpoch"], kafka.member("m1")["state"]) == (-2, "STABLE")


def test_a_script_of_another_group_waits(kafka: Driver) -> None:
    kafka.target.assign("h", {"m1": []})
    assert not kafka.join("m1", "foo").consumed
    assert kafka.member("m1")["target"] == [part("foo", 0, 1)]


def test_an_assignor_that_fails(kafka: Driver) -> None:
    kafka.target.assign("g", None, "no luck")
    answer = kafka.join("m1", "foo")
    assert answer.consumed
    assert answered(answer)["errorCode"] == -1
    assert described(answer)["state"] == "Dead"
    assert not answer.records


def test_an_id_that_it_makes_is_bound(kafka: Driver) -> None:
    target = SymbolicIds(kafka.target)
    kafka.join("m1", "foo")
    target.ids(["m2"])
    target.assign("g", {"m1": [part("foo", 0)], "m2": [part("foo", 1)]})
    body = {"groupId": "g", "memberId": "", "memberEpoch": 0, "rebalanceTimeoutMs": 5000}
    join: Json = {**body, "subscribedTopicNames": ["foo"], "topicPartitions": []}
    answer = target.request("ConsumerGroupHeartbeat", 0, client("m2"), join, "g")
    assert answered(answer)["memberId"] == "m2"
    assert [member["memberId"] for member in described(answer)["members"]] == ["m1", "m2"]
    assert described(answer)["members"][1]["target"] == [part("foo", 1)]
    theirs = kafka.target.describe("g")["members"]
    assert "m2" not in {member["memberId"] for member in theirs}


def test_one_session_that_runs_out_leaves_the_others(kafka: Driver) -> None:
    kafka.join("m1", "foo")
    epoch = answered(kafka.join("m2", "foo"))["memberEpoch"]
    answer = kafka.target.fire("session", "g", "m1", "g")
    assert list(answer.fired) == [{"timer": "session", "group": "g", "member": "m1"}]
    assert [member["memberId"] for member in described(answer)["members"]] == ["m2"]
    assert described(answer)["timers"] == [
        {"timer": "session", "group": "g", "member": "m2", "deadlineMs": 45_000}
    ]
    assert kinds(answer) == [
        "-ConsumerGroupCurrentMemberAssignment",
        "-ConsumerGroupTargetAssignmentMember",
        "-ConsumerGroupMemberMetadata",
        "ConsumerGroupMetadata",
    ]
    assert described(answer)["groupEpoch"] == epoch + 1
    assert not kafka.target.advance(44_999).fired
    assert [timer["member"] for timer in kafka.target.advance(1).fired] == ["m2"]


def test_a_rebalance_that_runs_out(kafka: Driver) -> None:
    kafka.two_members()
    timers = kafka.target.describe("g")["timers"]
    assert {"timer": "rebalance", "group": "g", "member": "m1", "deadlineMs": 5000} in timers
    answer = kafka.target.fire("rebalance", "g", "m1", "g")
    assert [member["memberId"] for member in described(answer)["members"]] == ["m2"]
    with pytest.raises(Refused, match="no timer 'rebalance' of member 'm2'"):
        kafka.target.fire("rebalance", "g", "m2")


def test_timers_run_out_as_the_clock_moves(kafka: Driver) -> None:
    kafka.two_members()
    kafka.target.advance(4_999)
    answer = kafka.target.advance(1, "g")
    assert list(answer.fired) == [{"timer": "rebalance", "group": "g", "member": "m1"}]
    assert [member["memberId"] for member in described(answer)["members"]] == ["m2"]


@pytest.mark.parametrize("started", WITH_OFFSETS, indirect=True)
def test_an_empty_group_is_deleted_with_its_offsets(kafka: Driver) -> None:
    epoch = answered(kafka.join("m1", "foo"))["memberEpoch"]
    commit(kafka, "m1", epoch, 7)
    with pytest.raises(Refused, match="no timer 'group'"):
        kafka.target.fire("group", "g", "")
    kafka.heartbeat("m1", -1)
    answer = kafka.target.fire("group", "g", "", "g")
    assert described(answer)["state"] == "Dead"
    assert kinds(answer)[0] == "-OffsetCommit"
    assert kinds(answer)[-1] == "-ConsumerGroupMetadata"


def test_an_empty_group_stays_for_its_retention_time(kafka: Driver) -> None:
    kafka.target.configure({"group.empty.retention.ms": 86_400_000})
    kafka.join("m1", "foo")
    kafka.heartbeat("m1", -1)
    answer = kafka.target.advance(86_399_000, "g")
    assert (described(answer)["state"], list(answer.fired)) == ("Empty", [])
    answer = kafka.target.advance(2_000, "g")
    assert described(answer)["state"] == "Dead"
    assert list(answer.fired) == [{"timer": "group", "group": "g", "member": ""}]


def commit(kafka: Driver, member: str, epoch: int, offset: int, instance: str | None = None) -> Json:
    partition = {"partitionIndex": 0, "committedOffset": offset}
    topic: Json = {"name": None, "topicId": TOPICS["foo"], "partitions": [partition]}
    unknown: Json = {"name": None, "topicId": TOPICS["bar"], "partitions": [partition]}
    body = {
        "groupId": "g",
        "memberId": member,
        "groupInstanceId": instance,
        "generationIdOrMemberEpoch": epoch,
        "topics": [topic, unknown],
    }
    return answered(kafka.target.request("OffsetCommit", 9, client(member), body))


def test_offsets_are_declared_where_they_have_topic_ids(kafka: Driver) -> None:
    apis = kafka.target.hello().apis
    with_offsets = kafka.target.name.removeprefix("kafka:") in WITH_OFFSETS
    assert {"OffsetCommit" in apis, "OffsetFetch" in apis} == {with_offsets}


@pytest.mark.parametrize("started", WITH_OFFSETS, indirect=True)
def test_offsets_go_by_topic_id(kafka: Driver) -> None:
    epoch = answered(kafka.join("m1", "foo"))["memberEpoch"]
    assert commit(kafka, "m1", epoch, 7)["topics"] == [
        {"topicId": TOPICS["foo"], "partitions": [{"partitionIndex": 0, "errorCode": 0}]},
        {"topicId": TOPICS["bar"], "partitions": [{"partitionIndex": 0, "errorCode": 100}]},
    ]
    record = kafka.target.records(0)[-1]
    assert record["key"] == {"type": "OffsetCommit", "groupId": "g", "topic": "foo", "partition": 0}
    committed = {"offset": 7, "leaderEpoch": -1, "metadata": "", "commitTimestamp": 0}
    assert record["value"] == {**committed, "topicId": TOPICS["foo"]}
    fetched = fetch(kafka, "m1", epoch)
    assert fetched["topics"][0]["topicId"] == TOPICS["foo"]
    assert fetched["topics"][0]["partitions"][0]["committedOffset"] == 7


@pytest.mark.parametrize("classic", [False, True])
@pytest.mark.parametrize("started", WITH_OFFSETS, indirect=True)
def test_a_group_without_members_takes_what_anybody_commits_below_epoch_0(
    kafka: Driver, classic: bool
) -> None:
    """EmptyGroupCommits (O2): with any member id and instance id, in a group of any kind."""

    def error(member: str, epoch: int, instance: str | None = None) -> int:
        return int(commit(kafka, member, epoch, 7, instance)["topics"][0]["partitions"][0]["errorCode"])

    if classic:
        assert error("", -1) == 0  # which makes a classic group
    else:
        kafka.join("m1", "foo")
        assert error("nobody", -1) == 25
        kafka.heartbeat("m1", -1)
    assert described(kafka.target.advance(0, "g"))["state"] == "Empty"
    assert error("nobody", -1) == error("nobody", -2) == error("nobody", -1, "i") == error("", -1, "i") == 0
    assert error("nobody", 0) == 25


def fetch(kafka: Driver, member: str, epoch: int) -> Json:
    wanted = {"name": None, "topicId": TOPICS["foo"], "partitionIndexes": [0]}
    groups = [{"groupId": "g", "topics": [wanted]}]
    body = {"memberId": member, "generationIdOrMemberEpoch": epoch, "groups": groups, "requireStable": False}
    group: Json = answered(kafka.target.request("OffsetFetch", 9, client(member), body))["groups"][0]
    return group


@pytest.mark.parametrize("started", WITH_OFFSETS, indirect=True)
def test_a_fetch_of_another_epoch_is_fenced(kafka: Driver) -> None:
    epoch = answered(kafka.join("m1", "foo"))["memberEpoch"]
    assert fetch(kafka, "m1", epoch)["errorCode"] == 0
    assert fetch(kafka, "m1", epoch + 1) == {"groupId": "g", "topics": [], "errorCode": 113}
    assert commit(kafka, "m1", epoch + 1, 7)["topics"][0]["partitions"][0]["errorCode"] == 113


def test_regular_expressions_wait_for_the_background(kafka: Driver) -> None:
    joined = kafka.heartbeat("m1", 0, rebalanceTimeoutMs=5000, subscribedTopicRegex="fo+", topicPartitions=[])
    assert described(joined)["metadata"] == []
    epoch = answered(joined)["memberEpoch"]
    kafka.target.background()
    group = kafka.target.describe("g")
    assert (group["groupEpoch"], group["state"]) == (epoch + 1, "Assigning")
    assert [topic["topicName"] for topic in group["metadata"]] == ["foo"]
    assert answered(kafka.heartbeat("m1", epoch))["assignment"] == {
        "assignedTopicPartitions": [part("foo", 0, 1)]
    }
    assert "ConsumerGroupRegularExpression" not in {
        record["key"]["type"] for record in kafka.target.records(0)
    }


def test_metadata_is_given_with_its_hash(kafka: Driver) -> None:
    kafka.topic("bar", 1)
    epoch = answered(kafka.join("m1", "foo", "bar"))["memberEpoch"]
    both = [("bar", 1), ("foo", 2)]
    assert metadata(kafka) == both
    kafka.topic("foo", 3)
    assert metadata(kafka) == both
    kafka.heartbeat("m1", epoch)
    assert metadata(kafka) == [("bar", 1), ("foo", 3)]
    kafka.topic("foo", 1, TOPICS["new foo"])
    kafka.heartbeat("m1", epoch + 1)
    assert metadata(kafka) == [("bar", 1), ("foo", 1)]


def test_metadata_is_given_for_some_of_the_topics(kafka: Driver) -> None:
    """The metadata are given although no request had read the group before the topics changed."""
    kafka.target.topics([{"name": "bar", "id": TOPICS["bar"], "partitions": 1}], [])
    joins = {"rebalanceTimeoutMs": 5000, "topicPartitions": [], "subscribedTopicNames": ["bar"]}
    body = {"groupId": "g", "memberId": "m1", "memberEpoch": 0, **joins}
    kafka.target.request("ConsumerGroupHeartbeat", 0, client("m1"), body)
    kafka.target.topics([{"name": "bar", "id": TOPICS["bar"], "partitions": 3}], [])
    assert metadata(kafka) == [("bar", 1)]


def metadata(kafka: Driver) -> list[tuple[str, int]]:
    return [(topic["topicName"], topic["numPartitions"]) for topic in kafka.target.describe("g")["metadata"]]


def test_a_classic_member_waits_for_its_answer(kafka: Driver) -> None:
    protocols = [{"name": "range", "metadata": "AAE="}]
    times = {"sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 10_000}
    body = {"groupId": "c", "memberId": "", "protocolType": "consumer", "protocols": protocols, **times}
    made = answered(kafka.target.request("JoinGroup", 9, client("c"), body))
    assert made["errorCode"] == 79
    waits = kafka.target.request("JoinGroup", 9, client("c"), {**body, "memberId": made["memberId"]})
    assert waits.body is None
    (late,) = kafka.target.advance(3_000).completed
    assert (late["id"], late["body"]["generationId"]) == ("JoinGroup client-c", 1)


def test_configuration_is_kafkas_own(kafka: Driver) -> None:
    kafka.target.configure({"group.consumer.session.timeout.ms": 10_000, "group.consumer.max.size": 1})
    answer = kafka.join("m1", "foo")
    assert described(answer)["timers"][0]["deadlineMs"] == 10_000
    assert answered(kafka.join("m2", "foo"))["errorCode"] == 81
    with pytest.raises(Refused, match="before the first request"):
        kafka.target.configure({"group.consumer.max.size": 2})


NAME = "group.consumer.assignment.interval.ms"


def test_targets_are_computed_at_once_by_default(kafka: Driver) -> None:
    interval = {NAME: 1000}
    if kafka.first_epoch == 1:
        with pytest.raises(Refused, match=r"no configuration 'group.consumer.assignment.interval.ms'"):
            kafka.target.configure(interval)
        return
    for configured, state in [
        ({}, "Reconciling"),
        (interval, "Assigning"),
        ({**interval, NAME: 0}, "Reconciling"),
    ]:
        kafka.target.load([], [], {"clockMs": 1})  # Kafka reads a target computed at 0 as one of unknown age
        kafka.target.configure(configured)
        kafka.topic("foo", 2)
        kafka.join("m1", "foo")
        assert described(kafka.join("m2", "foo"))["state"] == state
