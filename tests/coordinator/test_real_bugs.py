"""Bugs that real coordinators shipped, as scenarios; the number is the row of the list of real bugs.

Row 15 (state without a record) and row 31 (replay in any order) are in test_fail_over.py.
"""

from __future__ import annotations

from group_driver import GroupDriver, error, given

from coordinator import ErrorCode


def test_row_1_partition_taken_back_before_its_revocation_ends_stays_its_members() -> None:
    g = GroupDriver()
    g.m1_revoking()
    g.script(m1=["foo-0", "foo-1"])
    g.leave("m2")
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    g.script(m1=["foo-0"], m3=["foo-1"])
    assert given(g.join("m3")) == []
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert given(g.heartbeat("m3")) == []
    g.heartbeat("m1", owned=["foo-0"])
    assert given(g.heartbeat("m3")) == ["foo-1"]


def test_row_3_rebalance_timer_is_not_armed_anew_by_heartbeats_or_new_epochs() -> None:
    g = GroupDriver()
    g.m1_revoking()
    for target in ([], ["foo-0"]):
        g.coordinator.advance(2000)
        g.script(m1=target, m2=["foo-0", "foo-1"])
        g.join("m2")
        g.heartbeat("m1", owned=["foo-0", "foo-1"])
        assert g.timers()[("rebalance", "m1")] == 5000
    fired = g.coordinator.advance(1000)
    assert [(timer["timer"], timer["member"]) for timer in fired] == [("rebalance", "m1")]


def test_row_7_more_to_revoke_does_not_move_the_epoch() -> None:
    g = GroupDriver()
    g.m1_revoking()
    g.heartbeat("m1", subscribedTopicNames=[])
    assert (g.member("m1")["memberEpoch"], g.revoking("m1")) == (1, ["foo-0", "foo-1"])
    assert g.heartbeat("m1", owned=[])["memberEpoch"] == 3


def test_row_9_fenced_member_can_rejoin_with_its_id_in_every_state() -> None:
    for settle in (GroupDriver.two_stable_members, GroupDriver.m1_revoking):
        for name in ("m1", "m2"):
            g = GroupDriver()
            settle(g)
            assert error(g.heartbeat(name, 9)) == ErrorCode.FENCED_MEMBER_EPOCH
            assert error(g.join(name)) == 0
            g = GroupDriver()
            settle(g)
            assert error(g.join(name)) == 0


def test_row_11_group_that_its_last_member_left_behind_has_one_epoch() -> None:
    def expire(g: GroupDriver) -> None:
        g.coordinator.fire("session", "g", "m1")

    def fence(g: GroupDriver) -> None:
        g.heartbeat("m1", 9)

    def leave(g: GroupDriver) -> None:
        g.leave("m1")

    for remove in (expire, fence, leave):
        g = GroupDriver()
        g.join("m1")
        remove(g)
        assert (g.group()["state"], g.epochs()) == ("Empty", (2, 2))


def test_row_115_list_that_lacks_nothing_revoked_is_no_acknowledgement() -> None:
    """A heartbeat sent before the response to revoke arrived still has the partition."""
    g = GroupDriver()
    g.m1_revoking()
    assert g.heartbeat("m1", owned=["foo-1", "foo-0"])["memberEpoch"] == 1
    assert g.revoking("m1") == ["foo-1"]


def test_row_117_epoch_advances_when_the_own_revocations_end_and_names_are_a_set() -> None:
    g = GroupDriver(topics={"foo": 3, "bar": 1})
    g.script(m1=["foo-0", "foo-1", "foo-2"], m2=[])
    g.join("m1", "foo", "bar")
    g.script(m1=["foo-0"], m2=["foo-1"], m3=["foo-2"])
    g.join("m2", "bar", "foo")
    g.heartbeat("m2", subscribedTopicNames=["foo", "bar", "foo"])
    assert (g.epochs(), g.member("m2")["memberEpoch"]) == ((2, 2), 2)


def test_row_119_partitions_that_can_stay_do_not_move() -> None:
    g = GroupDriver(topics={"foo": 4})
    g.join("m1")
    g.join("m2")
    g.heartbeat("m1", owned=g.assigned("m1"))
    kept = g.assigned("m1")
    g.join("m3")
    assert set(g.target("m1")) <= set(kept)
    g.leave("m3")
    assert set(kept) == set(g.target("m1"))


def test_row_131_member_without_a_subscription_gets_nothing() -> None:
    for assignor in ("uniform", "range"):
        g = GroupDriver()
        g.join("m1", serverAssignor=assignor)
        response = g.join("m2", subscribedTopicNames=[], serverAssignor=assignor)
        assert (given(response), g.target("m1")) == ([], ["foo-0", "foo-1"])
