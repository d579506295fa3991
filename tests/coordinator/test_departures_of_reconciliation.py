"""Departures from KIP-848's text in revocation, acknowledgement and assignment, one constant in each test."""

from __future__ import annotations

import dataclasses

from dialect_drivers import drivers
from group_driver import GroupDriver, given, pending

from coordinator import Dialect


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


def test_only_owned_partitions_are_revoked() -> None:
    text, kafka = drivers(RevocationAsked="if-owned")
    for g in (text, kafka):
        g.two_stable_members()
        g.script(m1=[], m2=["foo-0", "foo-1"])
        g.join("m3")
        g.heartbeat("m1", owned=[])
    assert (text.revoking("m1"), kafka.revoking("m1")) == (["foo-0"], [])
    assert (text.member("m1")["memberEpoch"], kafka.member("m1")["memberEpoch"]) == (2, 3)
    for owned in (None, ["foo-0"]):
        _, request = drivers(RevocationAsked="if-owned")
        request.two_stable_members()
        request.script(m1=[], m2=["foo-0", "foo-1"])
        request.join("m3")
        request.heartbeat("m1", owned=owned)
        assert request.revoking("m1") == ["foo-0"]


def test_revocation_recorded_survives_a_fail_over() -> None:
    """foo-1 is revoked, then m1's target changes: the partitions to revoke no longer follow from it."""
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


def revoking_twice(dialect: Dialect) -> GroupDriver:
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
    g = revoking_twice(Dialect.named("kafka-4.0"))
    g.heartbeat("m1", 1, owned=[])
    assert (g.revoking("m1"), g.member("m1")["memberEpoch"]) == ([], 3)


def test_acknowledged_epoch_is_the_one_before_while_it_revokes() -> None:
    """PreviousEpochReset "reconciliation": a heartbeat without news changes nothing, and is not written."""
    g = revoking_twice(
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
    """The literal reading gives back partitions that the member was told to give up, which breaks R5."""
    _, literal = drivers(RevocationRestart="restore")
    literal.m1_revoking()
    literal.script(m1=["foo-0", "foo-1"])
    literal.leave("m2")
    assert given(literal.heartbeat("m1")) == ["foo-0", "foo-1"]
    assert (literal.revoking("m1"), literal.member("m1")["memberEpoch"]) == ([], 1)
