"""Departures from KIP-848's text in group epochs and target assignments, one constant in each test."""

from __future__ import annotations

import dataclasses

from dialect_drivers import drivers
from group_driver import GroupDriver, given

from coordinator import Config, Dialect


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
