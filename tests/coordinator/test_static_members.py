"""Static membership: S1, S2, and H2's temporary leave."""

from __future__ import annotations

import pytest
from group_driver import GroupDriver, error, given, pending

from coordinator import ErrorCode

UNRELEASED = ErrorCode.UNRELEASED_INSTANCE_ID
UNKNOWN = ErrorCode.UNKNOWN_MEMBER_ID


def away(g: GroupDriver, member: str = "m1", instance: str = "i") -> None:
    """`member` leaves for a while."""
    response = g.request(memberId=member, memberEpoch=-2, instanceId=instance)
    assert (error(response), response["memberEpoch"], response["memberId"]) == (0, -2, None)


@pytest.fixture
def g() -> GroupDriver:
    """m1 (instance i) has foo-0, m2 (dynamic) has foo-1; both at epoch 2."""
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1", instanceId="i")
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2")
    for member, owned in (("m1", ["foo-0", "foo-1"]), ("m1", ["foo-0"]), ("m2", []), ("m2", ["foo-1"])):
        g.heartbeat(member, owned=owned)
    g.heartbeat("m1", owned=["foo-0"])
    assert g.group()["state"] == "Stable"
    g.new_records()
    return g


def test_temporary_leave_keeps_place_and_partitions_and_writes_one_record(g: GroupDriver) -> None:
    g.coordinator.advance(1000)
    away(g)
    assert (g.epochs(), g.group()["state"]) == ((2, 2), "Reconciling")
    member = g.member("m1")
    assert (member["memberEpoch"], member["previousMemberEpoch"], member["acknowledged"]) == (-2, 0, False)
    assert (g.assigned("m1"), g.target("m1"), member["state"]) == (["foo-0"], ["foo-0"], "STABLE")
    assert g.timers()[("session", "m1")] == 46_000
    ((kind, name, value),) = g.new_records()
    assert (kind, name) == ("CurrentMemberAssignment", "m1")
    assert value is not None and value["memberEpoch"] == -2


def test_second_temporary_leave_only_starts_the_session_anew(g: GroupDriver) -> None:
    away(g)
    g.new_records()
    before = g.member("m1")
    g.coordinator.advance(1000)
    away(g)
    assert (g.member("m1"), g.new_records()) == (before, [])
    assert g.timers()[("session", "m1")] == 46_000


def test_revoked_partitions_of_a_member_are_free_while_it_is_away() -> None:
    """real-bugs row 21: nothing is left to be acknowledged."""
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1", instanceId="i")
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2")
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert g.revoking("m1") == ["foo-1"]
    away(g)
    assert (g.assigned("m1"), g.revoking("m1"), g.member("m1")["state"]) == (["foo-0"], [], "STABLE")
    assert ("rebalance", "m1") not in g.timers()
    assert given(g.heartbeat("m2")) == ["foo-1"]
    g.coordinator.advance(44_999)
    assert "m1" in g.members()


def test_return_gives_back_the_assignment_without_a_new_group_epoch(g: GroupDriver) -> None:
    away(g)
    g.new_records()
    response = g.join("m3", instanceId="i")
    assert (given(response), pending(response)) == (["foo-0"], [])
    assert (response["memberId"], response["memberEpoch"]) == ("m3", 2)
    assert (g.epochs(), sorted(g.members())) == ((2, 2), ["m2", "m3"])
    assert (g.assigned("m3"), g.target("m3"), g.target("m2")) == (["foo-0"], ["foo-0"], ["foo-1"])
    assert g.member("m3")["instanceId"] == "i"
    assert [(kind, member, value is None) for kind, member, value in g.new_records()] == [
        ("CurrentMemberAssignment", "m1", True),
        ("TargetAssignmentMember", "m1", True),
        ("MemberMetadata", "m1", True),
        ("MemberMetadata", "m3", False),
        ("TargetAssignmentMember", "m3", False),
        ("CurrentMemberAssignment", "m3", False),
    ]
    assert set(g.timers()) == {("session", "m2"), ("session", "m3")}
    g.heartbeat("m3", owned=["foo-0"])
    assert g.group()["state"] == "Stable"


def test_return_under_the_same_member_id_writes_only_what_changed(g: GroupDriver) -> None:
    away(g)
    g.new_records()
    assert given(g.join("m1", instanceId="i")) == ["foo-0"]
    assert [(kind, member) for kind, member, _ in g.new_records()] == [("CurrentMemberAssignment", "m1")]
    away(g)
    g.new_records()
    g.join("m1", instanceId="i", rackId="r")
    assert [(kind, member) for kind, member, _ in g.new_records()] == [
        ("MemberMetadata", "m1"),
        ("CurrentMemberAssignment", "m1"),
    ]
    assert g.epochs() == (2, 2)


def test_return_without_a_member_id_is_given_one(g: GroupDriver) -> None:
    away(g)
    response = g.join("", instanceId="i")
    assert given(response) == ["foo-0"]
    assert sorted(g.members()) == sorted([response["memberId"], "m2"])


@pytest.mark.parametrize(
    "change",
    [
        {"subscribedTopicNames": []},
        {"subscribedTopicRegex": "foo"},
        {"serverAssignor": "range"},
    ],
)
def test_return_with_another_subscription_or_assignor_is_a_new_group_epoch(
    g: GroupDriver, change: dict[str, object]
) -> None:
    away(g)
    g.new_records()
    g.script(m2=["foo-1"], m3=["foo-0"])
    response = g.join("m3", **{"instanceId": "i", **change})  # type: ignore[arg-type]
    assert (g.epochs(), response["memberEpoch"], given(response)) == ((3, 3), 3, ["foo-0"])
    assert [(kind, member) for kind, member, value in g.new_records() if value is not None] == [
        ("MemberMetadata", "m3"),
        *([("PartitionMetadata", None)] if g.group()["metadata"] == [] else []),
        ("Metadata", None),
        ("TargetAssignmentMember", "m3"),
        ("TargetAssignmentMetadata", None),
        ("CurrentMemberAssignment", "m3"),
    ]


def test_return_to_a_target_that_moved_on_frees_the_rest_at_once(g: GroupDriver) -> None:
    """The returning member owns nothing, so it has nothing to revoke."""
    away(g)
    g.script(m1=["foo-1"], m2=["foo-0"])
    g.heartbeat("m2", subscribedTopicNames=["foo", "bar"], owned=["foo-1"])
    assert (g.assigned("m1"), g.epochs(), g.revoking("m2")) == (["foo-0"], (3, 3), ["foo-1"])
    response = g.join("m3", instanceId="i")
    assert (given(response), pending(response), response["memberEpoch"]) == ([], ["foo-1"], 3)
    assert given(g.heartbeat("m2", owned=[])) == ["foo-0"]
    assert given(g.heartbeat("m3", owned=[])) == ["foo-1"]


def test_return_of_a_member_that_was_there_under_another_instance(g: GroupDriver) -> None:
    """The returning member is removed under its other instance first, which is a new group epoch."""
    g.heartbeat("m2", instanceId="j")
    away(g)
    g.script(m2=["foo-0", "foo-1"])
    response = g.join("m2", instanceId="i")
    assert (given(response), g.epochs(), list(g.members())) == (["foo-0", "foo-1"], (3, 3), ["m2"])
    assert error(g.join("m4", instanceId="j")) == 0


def test_instance_id_in_use_is_unreleased_for_every_epoch(g: GroupDriver) -> None:
    """S2: nothing changes, and a member that is away may only be replaced by a join."""
    for is_away in (False, True):
        if is_away:
            away(g)
        before = g.group(), g.coordinator.end
        requests = [g.request(memberId="m2", memberEpoch=epoch, instanceId="i") for epoch in (2, 9, -1, -2)]
        requests += [g.request(memberId="m9", memberEpoch=epoch, instanceId="i") for epoch in (2, -1, -2)]
        if not is_away:
            requests += [
                g.join("m9", instanceId="i"),
                g.join("m2", instanceId="i"),
                g.join("", instanceId="i"),
            ]
        assert [error(response) for response in requests] == [UNRELEASED] * len(requests)
        assert (g.group(), g.coordinator.end) == before


def test_temporary_leave_of_who_has_no_such_place_is_unknown(g: GroupDriver) -> None:
    before = g.group(), g.coordinator.end
    for member, instance in (("m1", "j"), ("m2", "j"), ("m9", "j")):
        assert error(g.request(memberId=member, memberEpoch=-2, instanceId=instance)) == UNKNOWN
    assert error(g.request(groupId="h", memberId="m1", memberEpoch=-2, instanceId="i")) == UNKNOWN
    assert (g.group(), g.coordinator.end) == before


def test_not_back_in_time_is_removed_with_a_new_group_epoch(g: GroupDriver) -> None:
    g.coordinator.advance(10_000)
    away(g)
    g.coordinator.advance(30_000)
    g.heartbeat("m2")
    g.coordinator.advance(14_999)
    assert "m1" in g.members()
    assert [timer["member"] for timer in g.coordinator.advance(1)] == ["m1"]
    assert (g.epochs(), g.target("m2")) == ((3, 3), ["foo-0", "foo-1"])
    assert error(g.join("m3", instanceId="i")) == 0
    assert g.epochs() == (4, 4)


def test_heartbeat_of_a_process_that_left_is_fenced_and_removed(g: GroupDriver) -> None:
    away(g)
    assert error(g.heartbeat("m1", 2, owned=["foo-0"])) == ErrorCode.FENCED_MEMBER_EPOCH
    assert (list(g.members()), g.epochs()) == (["m2"], (3, 3))


def test_late_heartbeat_of_the_replaced_member_is_unknown_and_does_not_disturb(g: GroupDriver) -> None:
    away(g)
    g.join("m3", instanceId="i")
    before = g.group()
    assert error(g.heartbeat("m1", 2, owned=["foo-0"])) == UNKNOWN
    assert error(g.request(memberId="m1", memberEpoch=2, instanceId="i")) == UNRELEASED
    assert g.group() == before


def test_leave_for_good_while_away(g: GroupDriver) -> None:
    away(g)
    assert g.leave("m1")["memberEpoch"] == -1
    assert (list(g.members()), g.epochs()) == (["m2"], (3, 3))


def test_others_are_not_given_what_a_member_holds_that_is_away(g: GroupDriver) -> None:
    away(g)
    g.script(m1=[], m2=["foo-0", "foo-1"])
    response = g.heartbeat("m2", subscribedTopicNames=["foo", "bar"], owned=["foo-1"])
    assert (given(response), pending(response)) == (["foo-1"], ["foo-0"])
    g.join("m3", instanceId="i")
    assert given(g.heartbeat("m2")) == ["foo-0", "foo-1"]


def test_heartbeat_takes_a_free_instance_id_without_a_new_epoch(g: GroupDriver) -> None:
    assert error(g.heartbeat("m2", instanceId="j")) == 0
    assert (g.member("m2")["instanceId"], g.epochs()) == ("j", (2, 2))
    assert [(kind, member) for kind, member, _ in g.new_records()] == [("MemberMetadata", "m2")]
    assert error(g.heartbeat("m2", instanceId="j")) == 0
    assert g.new_records() == []
    assert error(g.heartbeat("m1", instanceId="k")) == 0
    assert error(g.heartbeat("m2", instanceId="i")) == 0, "m1 has given it up"


def test_rejoin_without_an_instance_id_is_dynamic_and_with_its_own_a_replacement(g: GroupDriver) -> None:
    g.join("m1", instanceId="i")
    assert (g.member("m1")["instanceId"], g.epochs()) == ("i", (3, 3))
    g.join("m1")
    assert (g.member("m1")["instanceId"], g.epochs()) == (None, (4, 4))
    assert error(g.join("m3", instanceId="i")) == 0


def test_rejoin_of_a_member_that_is_away_without_its_instance_id_replaces_it(g: GroupDriver) -> None:
    away(g)
    g.join("m1")
    assert (g.member("m1")["instanceId"], g.epochs()) == (None, (3, 3))


def test_topics_that_changed_meanwhile_bump_on_their_own(g: GroupDriver) -> None:
    away(g)
    g.topic("foo", 3)
    assert g.epochs() == (3, 3)
    response = g.join("m3", instanceId="i")
    assert (g.epochs(), response["memberEpoch"]) == ((3, 3), 3)


def test_member_that_is_away_survives_a_fail_over_with_all_it_holds(g: GroupDriver) -> None:
    """P2: it is told to revoke nothing, since no process would acknowledge that."""
    away(g)
    g.script(m1=[], m2=["foo-0", "foo-1"])
    g.heartbeat("m2", subscribedTopicNames=["foo", "bar"], owned=["foo-1"])
    g.coordinator.advance(1000)
    g.coordinator.restart()
    assert (g.member("m1")["memberEpoch"], g.assigned("m1"), g.revoking("m1")) == (-2, ["foo-0"], [])
    assert g.timers()[("session", "m1")] == 46_000
    assert ("rebalance", "m1") not in g.timers()
    assert error(g.join("m3", instanceId="i")) == 0
    assert given(g.heartbeat("m2")) == ["foo-0", "foo-1"]


def test_instance_ids_and_replacements_survive_a_fail_over(g: GroupDriver) -> None:
    """real-bugs row 27."""
    away(g)
    g.join("m3", instanceId="i")
    g.coordinator.restart()
    assert error(g.join("m4", instanceId="i")) == UNRELEASED
    assert error(g.heartbeat("m3", 2)) == 0


def test_lost_answer_to_a_return_is_a_hazard() -> None:
    """H1 with S2: a process that did not learn its member id cannot return before its session ends."""
    g = GroupDriver()
    g.join("m1", instanceId="i")
    away(g)
    g.join("", instanceId="i")
    assert error(g.join("", instanceId="i")) == UNRELEASED
    g.coordinator.advance(45_000)
    assert error(g.join("", instanceId="i")) == 0
