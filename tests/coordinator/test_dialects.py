"""Departures from KIP-848's text: each constant changes what it says, and nothing else is needed for that."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest
from group_driver import GroupDriver, error, given, pending, topic_partitions
from offset_driver import Committer

from coordinator import DIALECTS, BadInput, Config, Dialect, ErrorCode

SPECIFICATION = Path(__file__).parents[2] / "spec" / "Dialects.tla"


def drivers(**departure: Any) -> tuple[GroupDriver, GroupDriver]:
    """A group of the text and one of a dialect with this one departure."""
    return GroupDriver(), GroupDriver(dataclasses.replace(Dialect(), **departure))


def test_constants_are_those_of_the_specification_with_the_same_defaults() -> None:
    text = SPECIFICATION.read_text(encoding="utf-8")
    body = text[text.index("KIP848 ==") : text.index("KIP848Literal ==")]
    specified = dict(re.findall(r"^  (\w+) \|-> ([^,\n]+?),?$", body, re.MULTILINE))
    values = {"TRUE": True, "FALSE": False}
    expected = {
        name: values.get(
            value, value.strip('"') if value.startswith('"') else int(value) if value.isdigit() else value
        )
        for name, value in specified.items()
    }
    ours = {field.name: field.default for field in dataclasses.fields(Dialect) if field.name != "name"}
    assert ours == expected


def test_every_named_dialect_is_found_and_others_are_not() -> None:
    for name in ("kip-848", "kafka-4.0", "kafka-4.1", "kafka-4.2", "kafka-4.3", "kafka-4.4"):
        assert Dialect.named(name).name == name
    departures = {repr(dataclasses.replace(dialect, name="")) for dialect in DIALECTS.values()}
    assert len(departures) == len(DIALECTS) - 1, "Kafka 4.1 departs from the text where 4.0 does"
    with pytest.raises(BadInput, match=r"no dialect 'kafka'; there are kip-848, kafka-4\.0"):
        Dialect.named("kafka")


def test_departures_follow_the_name_of_a_dialect() -> None:
    mixed = Dialect.named("kafka-4.2, PartitionEpochs=yes,MetadataChange=at-once")
    kafka = DIALECTS["kafka-4.2"]
    assert mixed == dataclasses.replace(
        kafka, name=mixed.name, MetadataChange="at-once", PartitionEpochs=True
    )
    assert mixed.name == "kafka-4.2,MetadataChange=at-once,PartitionEpochs=yes", "in the constants' order"
    assert mixed.base == "kafka-4.2" and not mixed.has_client_assignors and mixed.refuses_sync_behind
    assert Dialect.named("kafka-4.2,MetadataChange=next-heartbeat") == kafka, "what the base has is not named"
    assert Dialect.named("kip-848,AwaySession=runs on,FirstGroupEpoch=2").AwaySession == "runs on"
    assert Dialect.named(mixed.name) == mixed


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("kafka-4,AwayCommits=no", "there is no dialect 'kafka-4'; there are kip-848, kafka-4.0"),
        (
            "kafka-4.2,MetadatChange=at-once",
            "no departure 'MetadatChange'; the most similar one is MetadataChange",
        ),
        ("kafka-4.2,x=1", "no departure 'x'; there are FirstGroupEpoch, FencedMemberIsRemoved"),
        (
            "kafka-4.2,MetadataChange=atonce",
            "cannot be 'atonce'; give MetadataChange=at-once or next-heartbeat; the most similar one is",
        ),
        ("kafka-4.2,AwayCommits", "AwayCommits has no value; give AwayCommits=yes or no"),
        ("kafka-4.2,FirstGroupEpoch=7", "FirstGroupEpoch cannot be '7'; give FirstGroupEpoch=1 or 2"),
        ("kafka-4.2,AwayCommits=no,AwayCommits=yes", "names a departure twice"),
    ],
)
def test_departure_that_there_is_not_is_refused_with_those_that_there_are(name: str, said: str) -> None:
    with pytest.raises(BadInput, match=re.escape(said)):
        Dialect.named(name)


def test_constant_has_only_its_values() -> None:
    with pytest.raises(BadInput, match="RevocationRestart cannot be 'later'"):
        drivers(RevocationRestart="later")
    with pytest.raises(BadInput, match="PendingInResponse cannot be 'no'"):
        drivers(PendingInResponse="no")


def test_first_group_epoch() -> None:
    text, kafka = drivers(FirstGroupEpoch=2)
    assert (text.join("m1")["memberEpoch"], kafka.join("m1")["memberEpoch"]) == (1, 2)
    kafka.join("m2")
    assert kafka.epochs() == (3, 3)


def test_first_group_epoch_when_the_first_join_subscribes_to_nothing() -> None:
    """A group that starts at 1 stays there, where such a join bumps nothing."""
    _, kafka = drivers(FirstGroupEpoch=2, JoinWithEmptySubscriptionBumps=False)
    assert kafka.join("m1", subscribedTopicNames=[])["memberEpoch"] == 1
    assert kafka.epochs() == (1, 1)


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


def test_previous_epoch_reset_by_revoking() -> None:
    text, kafka = drivers(PreviousEpochReset="reconciliation")
    for g in (text, kafka):
        g.two_stable_members()
        g.script(m1=[], m2=["foo-0", "foo-1"])
        g.join("m3")
        g.heartbeat("m1")
    assert text.member("m1")["previousMemberEpoch"] == 1
    assert kafka.member("m1")["previousMemberEpoch"] == 2


def test_previous_epoch_reset_by_waiting_for_partitions() -> None:
    """m2 waits for foo-1: a heartbeat that changes nothing forgets the epoch before."""
    text, kafka = drivers(PreviousEpochReset="reconciliation")
    for g in (text, kafka):
        g.two_stable_members()
        g.script(m1=[], m2=["foo-0", "foo-1"])
        g.join("m3")
        g.heartbeat("m2")
        assert g.member("m2")["previousMemberEpoch"] == 2
        g.heartbeat("m2")
    epochs = [(g.member("m2")["memberEpoch"], g.member("m2")["previousMemberEpoch"]) for g in (text, kafka)]
    assert epochs == [(3, 2), (3, 3)]
    kafka.heartbeat("m1")
    kafka.heartbeat("m1", owned=[])
    kafka.heartbeat("m2")
    kafka.new_records()
    kafka.heartbeat("m2")
    assert kafka.new_records() == []


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


def test_join_with_empty_subscription_bumps() -> None:
    text, kafka = drivers(JoinWithEmptySubscriptionBumps=False)
    for g in (text, kafka):
        g.join("m1", subscribedTopicNames=[])
        assert g.join("m2", subscribedTopicNames=[])["memberEpoch"] == g.epochs()[0]
    assert (text.epochs(), kafka.epochs()) == ((2, 2), (1, 1))
    assert kafka.join("m3")["memberEpoch"] == 2


def test_assignor_change_bumps() -> None:
    text, kafka = drivers(AssignorChangeBumps="never")
    for g in (text, kafka):
        g.join("m1")
        g.heartbeat("m1", serverAssignor="range")
        assert g.member("m1")["serverAssignor"] == "range"
    assert (text.epochs(), kafka.epochs()) == ((2, 2), (1, 1))


def test_assignor_change_bumps_if_the_group_prefers_another() -> None:
    _, kafka = drivers(AssignorChangeBumps="if-preferred", JoinWithEmptySubscriptionBumps=False)
    kafka.join("m1", instanceId="i1")
    kafka.heartbeat("m1", serverAssignor="uniform")
    assert kafka.epochs() == (1, 1), "the first that is configured is what a group without names prefers"
    kafka.heartbeat("m1", serverAssignor="range")
    assert kafka.epochs() == (2, 2)
    kafka.join("m2", subscribedTopicNames=[], serverAssignor="range")
    assert kafka.epochs() == (2, 2)
    kafka.heartbeat("m1", -2, instanceId="i1")
    kafka.join("m3", instanceId="i1", serverAssignor="uniform")
    assert kafka.epochs() == (3, 3), "a tie: the first that is configured"
    kafka.join("m4", subscribedTopicNames=[], serverAssignor="range")
    assert kafka.epochs() == (4, 4)


def test_pending_in_response() -> None:
    for g, expected in zip(drivers(PendingInResponse=False), (["foo-1"], []), strict=True):
        g.m1_revoking()
        assert pending(g.heartbeat("m2")) == expected


def test_assignment_sent_on_change() -> None:
    text, kafka = drivers(AssignmentSent="on-change")
    for g in (text, kafka):
        assert given(g.join("m1")) == ["foo-0", "foo-1"]
    assert given(text.heartbeat("m1")) == ["foo-0", "foo-1"]
    assert given(kafka.heartbeat("m1")) is None
    assert given(kafka.heartbeat("m1", owned=["foo-0", "foo-1"])) is None
    assert given(kafka.heartbeat("m1", owned=[], subscribedTopicNames=["foo"])) == ["foo-0", "foo-1"]
    kafka.topic("foo", 3)
    assert given(kafka.heartbeat("m1")) == ["foo-0", "foo-1", "foo-2"]


def test_revocation_asked_only_of_what_is_owned() -> None:
    text, kafka = drivers(RevocationAsked="if-owned")
    for g in (text, kafka):
        g.two_stable_members()
        g.script(m1=[], m2=["foo-0", "foo-1"])
        g.join("m3")
        g.heartbeat("m1", owned=[])
    assert (text.revoking("m1"), kafka.revoking("m1")) == (["foo-0"], [])
    assert (text.member("m1")["memberEpoch"], kafka.member("m1")["memberEpoch"]) == (2, 3)
    for owned in (None, ["foo-0"]):
        _, asked = drivers(RevocationAsked="if-owned")
        asked.two_stable_members()
        asked.script(m1=[], m2=["foo-0", "foo-1"])
        asked.join("m3")
        asked.heartbeat("m1", owned=owned)
        assert asked.revoking("m1") == ["foo-0"]


def test_revocation_recorded_survives_a_fail_over() -> None:
    """foo-1 is revoked, then m1's target changes: what is to be revoked no longer follows from it."""
    text, kafka = drivers(RevocationRecorded=True)
    for g in (text, kafka):
        g.m1_revoking()
        g.script(m1=["foo-0", "foo-1"], m2=[])
        g.join("m3")
        g.coordinator.restart()
    assert (text.revoking("m1"), kafka.revoking("m1")) == ([], ["foo-1"])
    text, kafka = drivers(RevocationRecorded=True)
    for g in (text, kafka):
        g.two_stable_members()
        g.coordinator.restart()
    assert [g.member("m1")["previousMemberEpoch"] for g in (text, kafka)] == [0, 1]


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


def test_what_a_returning_member_leaves_out_is_kept() -> None:
    text, kafka = drivers(ReturnLeftOut="kept")
    for g in (text, kafka):
        g.join("m1", instanceId="i1", rackId="r1", serverAssignor="range")
        g.heartbeat("m1", -2, instanceId="i1")
        g.join("m2", instanceId="i1")
    said = [(g.member("m2")["rackId"], g.member("m2")["serverAssignor"]) for g in (text, kafka)]
    assert said == [(None, None), ("r1", "range")]
    assert (text.epochs(), kafka.epochs()) == ((2, 2), (1, 1))


def test_revocation_restart_waits_but_for_what_the_member_unsubscribed() -> None:
    text, kafka = drivers(RevocationRestart="unsubscribed")
    for g in (text, kafka):
        g.m1_revoking()
        g.script(m1=[], m2=["foo-0", "foo-1"])
        g.join("m2")
        g.heartbeat("m1")
    assert (text.revoking("m1"), kafka.revoking("m1")) == (["foo-0", "foo-1"], ["foo-1"])
    kafka.heartbeat("m1", owned=["foo-0"])
    assert kafka.revoking("m1") == ["foo-0"]
    _, kafka = drivers(RevocationRestart="unsubscribed")
    kafka.m1_revoking()
    kafka.coordinator.advance(1000)
    kafka.heartbeat("m1", subscribedTopicNames=[])
    assert kafka.revoking("m1") == ["foo-0", "foo-1"]
    rebalance = [timer["deadlineMs"] for timer in kafka.group()["timers"] if timer["timer"] == "rebalance"]
    assert rebalance == [kafka.coordinator.clock.now_ms() + kafka.member("m1")["rebalanceTimeoutMs"]]


def test_revocation_restart_waits_for_all() -> None:
    """Partitions that the member gives up itself follow when the revocation under way is acknowledged."""
    _, kafka = drivers(RevocationRestart="waits")
    kafka.m1_revoking()
    kafka.heartbeat("m1", subscribedTopicNames=[])
    assert (kafka.assigned("m1"), kafka.revoking("m1")) == (["foo-0"], ["foo-1"])
    kafka.heartbeat("m1", owned=["foo-0"])
    assert (kafka.assigned("m1"), kafka.revoking("m1")) == ([], ["foo-0"])


def test_acknowledged_epoch() -> None:
    """A second revocation right behind the first: the member is on its way to the target's epoch, or not."""
    text, kafka = drivers(AcknowledgedEpoch="next")
    for g, epoch in ((text, 1), (kafka, 2)):
        g.m1_revoking()
        assert g.member("m1")["memberEpoch"] == 1
        g.script(m1=[], m2=["foo-0", "foo-1"])
        g.topic("bar", 1)
        g.heartbeat("m1", subscribedTopicNames=["foo", "bar"], owned=["foo-0"])
        assert (g.revoking("m1"), g.member("m1")["memberEpoch"]) == (["foo-0"], epoch)


def asked_twice(dialect: Dialect) -> GroupDriver:
    """m1 has acknowledged one revocation, which moves it on to epoch 2, and must give up foo-0 as well."""
    g = GroupDriver(dataclasses.replace(dialect, AcknowledgedEpoch="next"))
    g.m1_revoking()
    g.script(m1=[], m2=["foo-0", "foo-1"])
    g.topic("bar", 1)
    g.heartbeat("m1", subscribedTopicNames=["foo", "bar"], owned=["foo-0"])
    assert (g.revoking("m1"), g.member("m1")["memberEpoch"]) == (["foo-0"], 2)
    return g


def test_acknowledged_epoch_of_a_member_that_did_not_hear_of_it() -> None:
    """The member acknowledges with the epoch before."""
    g = asked_twice(Dialect.named("kafka-4.0"))
    g.heartbeat("m1", 1, owned=[])
    assert (g.revoking("m1"), g.member("m1")["memberEpoch"]) == ([], 3)


def test_acknowledged_epoch_is_the_one_before_while_it_revokes() -> None:
    """PreviousEpochReset "reconciliation": a heartbeat that says nothing changes nothing, nor is written."""
    g = asked_twice(
        dataclasses.replace(Dialect.named("kafka-4.0"), RevocationRestart="unsubscribed"),
    )
    g.new_records()
    assert g.member("m1")["previousMemberEpoch"] == 1
    g.heartbeat("m1")
    assert (g.member("m1")["previousMemberEpoch"], g.new_records()) == (1, [])


def test_a_rejoin_that_keeps_acknowledges_whatever_it_owns() -> None:
    """R1, RejoinOfLiveMember: as it starts anew it owns nothing."""
    for epoch in ("kept", "next"):
        _, kafka = drivers(RejoinOfLiveMember="keeps", AcknowledgedEpoch=epoch)
        kafka.m1_revoking()
        kafka.join("m1", topicPartitions=None)
        assert kafka.revoking("m1") == []


def test_revocation_restart_restores() -> None:
    """The literal reading gives back what the member was told to give up, which breaks R5."""
    _, literal = drivers(RevocationRestart="restore")
    literal.m1_revoking()
    literal.script(m1=["foo-0", "foo-1"])
    literal.leave("m2")
    assert given(literal.heartbeat("m1")) == ["foo-0", "foo-1"]
    assert (literal.revoking("m1"), literal.member("m1")["memberEpoch"]) == ([], 1)


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
    """H9: in the answer to a join, also to one without a member id; in Kafka in each without an error."""
    text, kafka = drivers(MemberIdAnswered="always")
    for g, told in ((text, None), (kafka, "m1")):
        assert g.join("")["memberId"] == "00000000-0000-4000-8000-000000000001"
        assert [g.join("m1", instanceId="i1")["memberId"] for _ in range(2)] == ["m1", "m1"]
        assert g.heartbeat("m1")["memberId"] == told
        assert g.request(memberId="m1", memberEpoch=-2, instanceId="i1")["memberId"] == told
        assert g.join("m1", instanceId="i1")["memberId"] == "m1"
        assert g.request(memberId="m1", memberEpoch=99)["memberId"] is None
        g.join("m1")
        assert g.leave("m1")["memberId"] == told


def test_target_on_removal_at_the_next_heartbeat() -> None:
    text, kafka = drivers(TargetOnRemoval="next-heartbeat")
    for g in (text, kafka):
        g.two_stable_members()
        g.leave("m1")
    assert (text.group()["state"], kafka.group()["state"]) == ("Reconciling", "Assigning")
    assert (text.epochs(), kafka.epochs()) == ((3, 3), (3, 2))
    for g in (text, kafka):
        assert given(g.heartbeat("m2")) == ["foo-0", "foo-1"]


def test_target_may_lag_for_the_interval() -> None:
    _, kafka = drivers(TargetMayLag=True)
    kafka.join("m1")
    kafka.coordinator.advance(999)
    assert kafka.join("m2")["memberEpoch"] == 1
    assert (kafka.epochs(), kafka.group()["state"]) == ((2, 1), "Assigning")
    kafka.coordinator.advance(1)
    kafka.heartbeat("m1")
    assert kafka.epochs() == (2, 2)
    at_once = GroupDriver(kafka.coordinator.dialect, config=Config(assignment_interval_ms=0))
    at_once.join("m1")
    at_once.join("m2")
    assert at_once.epochs() == (2, 2)


def test_metadata_change_at_the_next_heartbeat() -> None:
    _, kafka = drivers(MetadataChange="next-heartbeat")
    kafka.join("m1")
    kafka.topic("foo", 3)
    assert kafka.epochs() == (1, 1)
    assert given(kafka.heartbeat("m1")) == ["foo-0", "foo-1", "foo-2"]
    assert kafka.epochs() == (2, 2)


def test_unknown_group_error() -> None:
    _, kafka = drivers(UnknownGroupError="GROUP_ID_NOT_FOUND")
    for epoch in (1, -1):
        assert error(kafka.heartbeat("m1", epoch)) == ErrorCode.GROUP_ID_NOT_FOUND
    kafka.join("m1")
    assert error(kafka.heartbeat("m2", 1)) == ErrorCode.UNKNOWN_MEMBER_ID


def test_last_leave_advances_assignment_epoch() -> None:
    """Where removals leave the target to the next heartbeat, of which an empty group has none."""
    later = dataclasses.replace(Dialect(), TargetOnRemoval="next-heartbeat")
    epochs = []
    for dialect in (later, dataclasses.replace(later, LastLeaveAdvancesAssignmentEpoch=False)):
        g = GroupDriver(dialect)
        g.join("m1")
        g.leave("m1")
        assert g.group()["state"] == "Empty"
        epochs.append(g.epochs())
        assert given(g.join("m1")) == ["foo-0", "foo-1"]
    assert epochs == [(2, 2), (2, 1)]


@pytest.mark.parametrize("name", DIALECTS)
def test_two_members_converge_in_every_dialect(name: str) -> None:
    """R8, in one schedule."""
    g = GroupDriver(name, topics={"foo": 4})
    for member in ("m1", "m2", "m1", "m2", "m1", "m2", "m1", "m2"):
        g.coordinator.advance(1000)
        if member in g.members():
            g.heartbeat(member, owned=g.assigned(member))
        else:
            g.join(member)
    assert g.group()["state"] == "Stable"
    assert (len(g.assigned("m1")), len(g.assigned("m2"))) == (2, 2)
