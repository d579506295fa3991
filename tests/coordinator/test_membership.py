"""Members come, change and go: H1, H2, H3, H4, H5, E1."""

from __future__ import annotations

from typing import Any

import pytest
from group_driver import IDS, GroupDriver, error, given

from coordinator import BadInput, ErrorCode


def test_first_join_makes_the_group_and_gives_everything_in_the_same_response() -> None:
    g = GroupDriver()
    assert g.group()["state"] == "Dead"
    response = g.join("m1")
    assert (response["memberId"], response["memberEpoch"], response["heartbeatIntervalMs"]) == ("m1", 1, 5000)
    assert given(response) == ["foo-0", "foo-1"]
    assert g.epochs() == (1, 1)


def test_join_without_member_id_gets_one_that_no_member_has() -> None:
    g = GroupDriver(ids=["a", "a", "b"])
    assert g.join("")["memberId"] == "a"
    assert g.join("")["memberId"] == "b"
    assert list(g.members()) == ["a", "b"]


def test_given_ids_come_before_the_source() -> None:
    g = GroupDriver(ids=["own"])
    g.coordinator.use_ids(["x"])
    assert [g.join("")["memberId"], g.join("")["memberId"]] == ["x", "own"]


def test_refused_join_draws_no_id() -> None:
    g = GroupDriver(ids=["a"])
    assert error(g.join("", rebalanceTimeoutMs=0)) == ErrorCode.INVALID_REQUEST
    assert g.join("")["memberId"] == "a"


def test_owned_partitions_of_a_join_mean_nothing() -> None:
    g = GroupDriver()
    response = g.join("m1", topicPartitions=[{"topicId": IDS["foo"], "partitions": [0, 1]}])
    assert given(response) == ["foo-0", "foo-1"]
    assert g.member("m1")["acknowledged"] is False


def test_rejoin_replaces_the_incarnation_and_bumps_once() -> None:
    g = GroupDriver()
    g.two_stable_members()
    response = g.join("m1")
    assert g.epochs() == (3, 3)
    assert response["memberEpoch"] == 3
    member = g.member("m1")
    assert (member["previousMemberEpoch"], member["acknowledged"]) == (0, False)


def test_rejoin_frees_what_the_former_incarnation_held() -> None:
    g = GroupDriver()
    g.m1_revoking()
    g.script(m1=[], m2=["foo-0", "foo-1"])
    g.join("m1")
    assert ("rebalance", "m1") not in g.timers()
    assert given(g.heartbeat("m2")) == ["foo-0", "foo-1"]


def test_leave_removes_whatever_the_epoch_and_answers_minus_one() -> None:
    g = GroupDriver()
    g.two_stable_members()
    response = g.leave("m1")
    assert (error(response), response["memberEpoch"], response["memberId"]) == (0, -1, None)
    assert response["assignment"] is None
    assert list(g.members()) == ["m2"]
    assert g.epochs() == (3, 3)


def test_last_leave_empties_the_group_with_nothing_left_to_assign() -> None:
    g = GroupDriver()
    g.join("m1")
    g.leave("m1")
    assert (g.group()["state"], g.epochs()) == ("Empty", (2, 2))
    assert given(g.join("m1")) == ["foo-0", "foo-1"]
    assert g.epochs() == (3, 3)


@pytest.mark.parametrize("epoch", [-1, 1, 7])
def test_unknown_member_and_unknown_group(epoch: int) -> None:
    g = GroupDriver()
    assert error(g.heartbeat("m1", epoch)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert g.group()["state"] == "Dead"
    g.join("m1")
    before = g.group()
    assert error(g.heartbeat("m2", epoch)) == ErrorCode.UNKNOWN_MEMBER_ID
    assert g.group() == before


@pytest.mark.parametrize("epoch", [1, 3])
def test_wrong_epoch_fences_and_removes_the_member(epoch: int) -> None:
    g = GroupDriver()
    g.two_stable_members()
    g.heartbeat("m1", owned=["foo-0"])
    assert error(g.heartbeat("m1", epoch, owned=["foo-0", "foo-1"])) == ErrorCode.FENCED_MEMBER_EPOCH
    assert list(g.members()) == ["m2"]
    assert g.epochs() == (3, 3)
    assert g.target("m2") == ["foo-0", "foo-1"]


@pytest.mark.parametrize(
    ("change", "bumps"),
    [
        ({"subscribedTopicNames": ["foo", "bar"]}, True),
        ({"subscribedTopicNames": []}, True),
        ({"serverAssignor": "range"}, True),
        ({"serverAssignor": "range", "subscribedTopicNames": ["bar"]}, True),
        ({"subscribedTopicNames": ["foo"]}, False),
        ({"rebalanceTimeoutMs": 9000}, False),
        ({"rackId": "r"}, False),
        ({}, False),
    ],
)
def test_group_epoch_is_bumped_once_and_exactly_by_e1(change: dict[str, Any], bumps: bool) -> None:
    g = GroupDriver(topics={"foo": 2, "bar": 1})
    g.two_stable_members()
    g.heartbeat("m1", **change)
    assert g.epochs() == ((3, 3) if bumps else (2, 2))


def test_absent_fields_keep_their_earlier_values() -> None:
    """H7: null and -1 mean the same as leaving a field out."""
    g = GroupDriver()
    g.join("m1", serverAssignor="range", rackId="r", instanceId="i", subscribedTopicRegex="b.*")
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    before = g.member("m1"), g.epochs(), g.coordinator.end
    assert before[0]["acknowledged"] is True
    absent = {name: None for name in ("instanceId", "rackId", "subscribedTopicNames", "subscribedTopicRegex")}
    absent |= {"serverAssignor": None, "clientAssignors": None, "topicPartitions": None}
    for fields in ({}, {**absent, "rebalanceTimeoutMs": -1}):
        assert error(g.heartbeat("m1", **fields)) == 0
        assert (g.member("m1"), g.epochs(), g.coordinator.end) == before


@pytest.mark.parametrize(
    ("field", "value", "bumps"),
    [
        ("instanceId", "j", False),
        ("rackId", "s", False),
        ("rebalanceTimeoutMs", 6000, False),
        ("subscribedTopicNames", ["bar"], True),
        ("subscribedTopicRegex", "f.*", True),
        ("serverAssignor", "uniform", True),
    ],
)
def test_given_field_changes_itself_alone(field: str, value: Any, bumps: bool) -> None:
    """H7, E1."""
    g = GroupDriver(topics={"foo": 1, "bar": 1})
    g.join("m1", serverAssignor="range", rackId="r", instanceId="i", subscribedTopicRegex="b.*")
    body = ("instanceId", "rackId", "rebalanceTimeoutMs", "serverAssignor")
    body += ("subscribedTopicNames", "subscribedTopicRegex")
    before = {name: g.member("m1")[name] for name in body}
    assert before[field] != value
    g.heartbeat("m1", **{field: value})
    assert {name: g.member("m1")[name] for name in body} == {**before, field: value}
    assert g.epochs() == ((2, 2) if bumps else (1, 1))


def test_first_heartbeat_needs_its_fields_but_later_ones_do_not() -> None:
    g = GroupDriver()
    assert error(g.request(memberId="m1", memberEpoch=0, rebalanceTimeoutMs=1)) == ErrorCode.INVALID_REQUEST
    assert error(g.join("m1", "foo", subscribedTopicNames=[])) == 0
    assert error(g.request(memberId="m1", memberEpoch=1)) == 0


@pytest.mark.parametrize(
    ("api", "version", "sentence"),
    [
        ("InitProducerId", 0, "has no API 'InitProducerId'"),
        ("ConsumerGroupHeartbeat", 1, "versions 0 to 0, not 1"),
    ],
)
def test_unknown_api_or_version_is_bad_input(api: str, version: int, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        GroupDriver().coordinator.request(api, version, {}, {})


def test_equal_topic_ids_in_another_spelling_are_equal() -> None:
    g = GroupDriver()
    g.join("m1")
    owned = [{"topicId": IDS["foo"].upper().replace("-", ""), "partitions": [1, 0]}]
    g.request(memberId="m1", memberEpoch=1, topicPartitions=owned)
    assert g.member("m1")["acknowledged"] is True


def test_h9_the_answer_to_a_join_alone_has_the_member_id() -> None:
    g = GroupDriver()
    assert g.join("m1")["memberId"] == "m1"
    assert g.heartbeat("m1")["memberId"] is None
    assert g.heartbeat("m1", 7)["memberId"] is None
