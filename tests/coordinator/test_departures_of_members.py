"""Departures from KIP-848's text in joins, leaves, fencing and static members, one constant in each test."""

from __future__ import annotations

import dataclasses

import pytest
from dialect_drivers import drivers
from group_driver import GroupDriver, error, given, topic_partitions
from offset_driver import Committer

from coordinator import Config, Dialect, ErrorCode


def test_fenced_member_is_removed() -> None:
    text, kafka = drivers(FencedMemberIsRemoved=False)
    for g in (text, kafka):
        g.two_stable_members()
        assert error(g.heartbeat("m1", 9)) == ErrorCode.FENCED_MEMBER_EPOCH
    assert (list(text.members()), list(kafka.members())) == (["m2"], ["m1", "m2"])
    assert kafka.new_records() == []
    assert error(kafka.heartbeat("m1", 2)) == 0


@pytest.mark.parametrize(
    ("owned", "accepted"), [(None, False), ([], True), (["foo-0"], True), (["foo-1"], False)]
)
def test_retry_subset_of_assigned(owned: list[str] | None, accepted: bool) -> None:
    """foo-1 is m1's target and not assigned to it yet."""
    text, kafka = drivers(RetrySubsetOf="assigned")
    for g in (text, kafka):
        g.two_stable_members()
        g.script(m1=["foo-0", "foo-1"], m2=[])
        g.join("m3")
        g.heartbeat("m1", owned=["foo-0"])
    assert error(text.heartbeat("m1", 2, owned)) == 0
    assert (error(kafka.heartbeat("m1", 2, owned)) == 0) is accepted


def test_join_owns_must_be_empty() -> None:
    text, kafka = drivers(JoinOwns="empty")
    for owned in (None, topic_partitions(["foo-0"])):
        assert error(text.join("m1", topicPartitions=owned)) == 0
        assert error(kafka.join("m1", topicPartitions=owned)) == ErrorCode.INVALID_REQUEST
    assert error(kafka.join("m1", topicPartitions=[])) == 0


def test_empty_assignor_name() -> None:
    text, kafka = drivers(EmptyAssignorName="unsupported")
    assert error(text.join("m1", serverAssignor="")) == ErrorCode.INVALID_REQUEST
    assert error(kafka.join("m1", serverAssignor="")) == ErrorCode.UNSUPPORTED_ASSIGNOR


def test_rejoin_of_live_member_keeps() -> None:
    text, kafka = drivers(RejoinOfLiveMember="keeps")
    for g in (text, kafka):
        g.m1_revoking()
    assert kafka.join("m1")["memberEpoch"] == 2
    assert (kafka.epochs(), kafka.assigned("m1"), kafka.revoking("m1")) == ((2, 2), ["foo-0"], [])
    assert [kind for kind, _, _ in kafka.new_records()] == ["CurrentMemberAssignment"]
    assert text.join("m1")["memberEpoch"] == 3
    assert given(kafka.join("m1")) == ["foo-0"]
    kafka.join("m1", "foo", "bar")
    assert kafka.epochs() == (3, 3)


def test_rejoin_of_live_member_fenced() -> None:
    _, kafka = drivers(RejoinOfLiveMember="fenced")
    kafka.two_stable_members()
    assert error(kafka.join("m1")) == ErrorCode.FENCED_MEMBER_EPOCH
    assert (list(kafka.members()), kafka.new_records()) == (["m1", "m2"], [])
    kafka.join("m3")
    assert (error(kafka.join("m3")), kafka.member("m3")["memberEpoch"]) == (0, 3)


def test_instance_checked_as_fenced() -> None:
    text, kafka = drivers(InstanceChecked="fenced")
    for g in (text, kafka):
        g.join("m1", instanceId="i1")
        g.join("m2")
    fenced, unknown, unreleased = (
        ErrorCode.FENCED_INSTANCE_ID,
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.UNRELEASED_INSTANCE_ID,
    )
    assert error(text.heartbeat("m2", instanceId="i1")) == unreleased
    assert error(kafka.heartbeat("m2", instanceId="i1")) == fenced
    assert error(kafka.heartbeat("m2", -1, instanceId="i1")) == fenced
    assert error(kafka.heartbeat("m2", instanceId="i2")) == unknown
    assert error(text.heartbeat("m2", instanceId="i2")) == 0
    assert error(kafka.join("m3", instanceId="i1")) == unreleased
    assert error(kafka.join("m1", instanceId="i1")) == unreleased
    assert error(text.join("m1", instanceId="i1")) == 0
    assert error(kafka.heartbeat("m1", instanceId="i1")) == 0


def test_away_session_runs_on() -> None:
    for g, deadline_ms in zip(drivers(AwaySession="runs on"), (46_000, 45_000), strict=True):
        g.join("m1", instanceId="i1")
        g.coordinator.advance(1000)
        g.heartbeat("m1", -2, instanceId="i1")
        timers = [(timer["timer"], timer["deadlineMs"]) for timer in g.group()["timers"]]
        assert timers == [("session", deadline_ms)]


def test_full_group_refuses_strangers() -> None:
    for departure, expected in (
        ("joins", ErrorCode.UNKNOWN_MEMBER_ID),
        ("strangers", ErrorCode.GROUP_MAX_SIZE_REACHED),
        ("newcomers", ErrorCode.GROUP_MAX_SIZE_REACHED),
    ):
        dialect = dataclasses.replace(Dialect(), FullGroupRefuses=departure)
        g = GroupDriver(dialect, config=Config(group_max_size=1))
        g.join("m1")
        assert error(g.heartbeat("m2", 1)) == expected
        assert error(g.join("m2")) == ErrorCode.GROUP_MAX_SIZE_REACHED
        assert error(g.heartbeat("m1")) == 0
        assert error(g.heartbeat("m2", -1)) == ErrorCode.UNKNOWN_MEMBER_ID


def test_full_group_refuses_strangers_or_newcomers_whose_instance_id_it_has() -> None:
    for departure, expected in (("strangers", ErrorCode.GROUP_MAX_SIZE_REACHED), ("newcomers", 0)):
        dialect = dataclasses.replace(Dialect(), FullGroupRefuses=departure)
        g = GroupDriver(dialect, config=Config(group_max_size=1))
        g.join("m1", instanceId="i1")
        g.heartbeat("m1", -2, instanceId="i1")
        assert error(g.join("m2", instanceId="i1")) == expected
        assert error(g.join("m3", instanceId="i3")) == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_fields_that_a_returning_member_leaves_out_are_kept() -> None:
    text, kafka = drivers(ReturnLeftOut="kept")
    for g in (text, kafka):
        g.join("m1", instanceId="i1", rackId="r1", serverAssignor="range")
        g.heartbeat("m1", -2, instanceId="i1")
        g.join("m2", instanceId="i1")
    body = [(g.member("m2")["rackId"], g.member("m2")["serverAssignor"]) for g in (text, kafka)]
    assert body == [(None, None), ("r1", "range")]
    assert (text.epochs(), kafka.epochs()) == ((2, 2), (1, 1))


def test_away_commits() -> None:
    text, kafka = drivers(AwayCommits=True)
    stale = int(ErrorCode.STALE_MEMBER_EPOCH)
    for g, away in ((text, stale), (kafka, 0)):
        g.join("m1", instanceId="i1")
        g.request(memberId="m1", memberEpoch=-2, instanceId="i1")
        offsets = Committer(g)
        assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": stale}
        assert offsets.commit("m1", -2, {"foo-0": 5}) == {"foo-0": away}
        assert offsets.fetch("foo-0", member="m1", epoch=-2) == (stale if away else {"foo-0": 5})


def test_member_id_answered() -> None:
    """H9: the member id is in the answer to a join, also to one without a member id; in Kafka in each answer
    without an error."""
    text, kafka = drivers(MemberIdAnswered="always")
    for g, answer in ((text, None), (kafka, "m1")):
        assert g.join("")["memberId"] == "00000000-0000-4000-8000-000000000001"
        assert [g.join("m1", instanceId="i1")["memberId"] for _ in range(2)] == ["m1", "m1"]
        assert g.heartbeat("m1")["memberId"] == answer
        assert g.request(memberId="m1", memberEpoch=-2, instanceId="i1")["memberId"] == answer
        assert g.join("m1", instanceId="i1")["memberId"] == "m1"
        assert g.request(memberId="m1", memberEpoch=99)["memberId"] is None
        g.join("m1")
        assert g.leave("m1")["memberId"] == answer


def test_unknown_group_error() -> None:
    _, kafka = drivers(UnknownGroupError="GROUP_ID_NOT_FOUND")
    for epoch in (1, -1):
        assert error(kafka.heartbeat("m1", epoch)) == ErrorCode.GROUP_ID_NOT_FOUND
    kafka.join("m1")
    assert error(kafka.heartbeat("m2", 1)) == ErrorCode.UNKNOWN_MEMBER_ID
