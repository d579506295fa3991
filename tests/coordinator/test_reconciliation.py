"""Revocation and reconciliation of one member at a time: R1-R6, H6."""

from __future__ import annotations

import pytest
from group_driver import GroupDriver, error, given, pending

from coordinator import ErrorCode


def test_case_study_basic_with_two_members() -> None:
    """KIP-848 "Basic": B waits for foo-1 without a barrier, A revokes it, B gets it."""
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    assert given(g.join("m1")) == ["foo-0", "foo-1"]
    g.script(m1=["foo-0"], m2=["foo-1"])
    joined = g.join("m2")
    assert (joined["memberEpoch"], given(joined), pending(joined)) == (2, [], ["foo-1"])
    answer = g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert (answer["memberEpoch"], given(answer), pending(answer)) == (1, ["foo-0"], [])
    assert g.member("m1")["state"] == "UNREVOKED_PARTITIONS"
    assert g.member("m2")["state"] == "UNRELEASED_PARTITIONS"
    assert (pending(g.heartbeat("m2", owned=[])), g.group()["state"]) == (["foo-1"], "Reconciling")
    moved = g.heartbeat("m1", owned=["foo-0"])
    assert (moved["memberEpoch"], given(moved)) == (2, None)
    assert g.assigned("m1") == ["foo-0"]
    assert given(g.heartbeat("m2", owned=[])) == ["foo-1"]
    assert g.group()["state"] == "Stable"


@pytest.mark.parametrize(
    ("owned", "released"),
    [(None, False), (["foo-0", "foo-1"], False), (["foo-1"], False), ([], True), (["foo-0"], True)],
)
def test_only_a_report_without_the_revoked_acknowledges(owned: list[str] | None, released: bool) -> None:
    """R1, R2; null and empty are different requests (H10)."""
    g = GroupDriver()
    g.m1_revoking()
    g.heartbeat("m1", owned=owned)
    assert g.member("m1")["memberEpoch"] == (2 if released else 1)
    assert given(g.heartbeat("m2", owned=[])) == (["foo-1"] if released else [])


def test_acknowledgement_may_leave_out_what_it_keeps() -> None:
    """The client has revoked, and is late in reporting its new partitions."""
    g = GroupDriver()
    g.m1_revoking()
    assert given(g.heartbeat("m1", owned=[])) == ["foo-0"]


def test_two_more_members_are_served_as_partitions_are_released() -> None:
    """R3: incrementally, within one epoch, and without new epochs for the others."""
    g = GroupDriver(topics={"foo": 3})
    g.script(m1=["foo-0"], m2=[])
    g.join("m1")
    g.script(m1=["foo-0", "foo-1"], m2=["foo-2"])
    g.join("m2")
    g.heartbeat("m1")
    assert (g.assigned("m1"), g.assigned("m2")) == (["foo-0", "foo-1"], ["foo-2"])
    g.script(m1=[], m2=[], m3=["foo-0", "foo-1", "foo-2"])
    assert given(g.join("m3")) == []
    for name in ("m1", "m2"):
        assert given(g.heartbeat(name, owned=g.assigned(name))) == []
    assert g.heartbeat("m2", owned=[])["memberEpoch"] == 3
    third = g.heartbeat("m3", owned=[])
    assert (given(third), pending(third)) == (["foo-2"], ["foo-0", "foo-1"])
    g.heartbeat("m1", owned=[])
    assert given(g.heartbeat("m3", owned=["foo-2"])) == ["foo-0", "foo-1", "foo-2"]
    assert g.group()["state"] == "Stable"


def test_unchanged_member_only_moves_to_the_new_epoch() -> None:
    """R6; its epoch names the assignment that it uses (E3)."""
    g = GroupDriver()
    g.two_stable_members()
    g.script(m1=["foo-0"], m2=["foo-1"], m3=[])
    g.join("m3")
    assert g.member("m1")["memberEpoch"] == 2
    response = g.heartbeat("m1", owned=["foo-0"])
    assert (response["memberEpoch"], given(response)) == (3, None)
    assert g.member("m1")["previousMemberEpoch"] == 2


def test_assignment_is_sent_until_acknowledged_by_the_exact_report() -> None:
    """R5."""
    g = GroupDriver()
    g.join("m1")
    assert given(g.heartbeat("m1")) == ["foo-0", "foo-1"]
    assert given(g.heartbeat("m1", owned=["foo-0"])) == ["foo-0", "foo-1"]
    assert given(g.heartbeat("m1", owned=["foo-0", "foo-1"])) is None
    assert given(g.heartbeat("m1")) is None
    assert given(g.heartbeat("m1", owned=[])) == ["foo-0", "foo-1"]


def test_target_that_grows_while_revoking_is_not_given_in_the_same_response() -> None:
    """R5 and "narrow": partitions to revoke stay so when a newer target has them back."""
    g = GroupDriver()
    g.m1_revoking()
    g.script(m1=["foo-0", "foo-1"])
    g.leave("m2")
    answer = g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert (answer["memberEpoch"], given(answer), pending(answer)) == (1, ["foo-0"], [])
    again = g.heartbeat("m1", owned=["foo-0"])
    assert (again["memberEpoch"], given(again)) == (3, ["foo-0", "foo-1"])


def test_target_that_shrinks_while_revoking_narrows_and_an_old_report_does_not_acknowledge() -> None:
    g = GroupDriver()
    g.m1_revoking()
    g.script(m1=[], m2=["foo-0", "foo-1"])
    g.join("m2")
    assert given(g.heartbeat("m1")) == []
    assert g.revoking("m1") == ["foo-0", "foo-1"]
    assert g.heartbeat("m1", owned=["foo-0"])["memberEpoch"] == 1
    assert g.heartbeat("m1", owned=[])["memberEpoch"] == 3


def test_acknowledgement_releases_even_when_more_must_be_revoked() -> None:
    g = GroupDriver()
    g.m1_revoking()
    g.script(m1=[], m2=["foo-1"], m3=["foo-0"])
    g.join("m3")
    answer = g.heartbeat("m1", owned=["foo-0"])
    assert (answer["memberEpoch"], given(answer), g.revoking("m1")) == (1, [], ["foo-0"])
    assert given(g.heartbeat("m2")) == ["foo-1"]
    assert given(g.heartbeat("m3")) == []


@pytest.mark.parametrize("owned", [None, [], ["foo-0"], ["foo-0", "foo-1"]])
def test_lost_response_is_retried_with_the_previous_epoch(owned: list[str] | None) -> None:
    """H6: owned is compared with the target; a report that is left out is a subset of anything."""
    g = GroupDriver()
    g.two_stable_members()
    g.leave("m2")
    assert given(g.heartbeat("m1", owned=["foo-0"])) == ["foo-0", "foo-1"]
    response = g.heartbeat("m1", 2, owned)
    assert (response["memberEpoch"], given(response)) == (3, ["foo-0", "foo-1"])


def test_retry_that_owns_more_than_its_target_is_fenced() -> None:
    """H6: it has not given up the partitions that it was told to."""
    g = GroupDriver()
    g.m1_revoking()
    g.heartbeat("m1", owned=["foo-0"])
    assert error(g.heartbeat("m1", 1, ["foo-0", "foo-1"])) == ErrorCode.FENCED_MEMBER_EPOCH
    assert "m1" not in g.members()


def test_retry_never_acknowledges() -> None:
    """H6 after the errata: neither a revocation nor an assignment."""
    g = GroupDriver()
    g.two_stable_members()
    g.script(m1=["foo-0"], m2=["foo-1"], m3=[])
    g.join("m3")
    g.script(m1=[], m2=["foo-0", "foo-1"], m3=[])
    g.heartbeat("m1", owned=["foo-0"])
    assert g.member("m1")["memberEpoch"] == 3
    g.join("m3")
    assert given(g.heartbeat("m1", 3)) == []
    g.heartbeat("m1", 2, owned=[])
    assert (g.revoking("m1"), g.member("m1")["memberEpoch"]) == (["foo-0"], 3)


def test_retry_compares_with_the_target_before_its_own_changes() -> None:
    """H6: the subscription in the retry does not make it a stranger."""
    g = GroupDriver()
    g.m1_revoking()
    g.heartbeat("m1", owned=["foo-0"])
    response = g.heartbeat("m1", 1, ["foo-0"], subscribedTopicNames=[])
    assert (error(response), given(response)) == (0, [])
    assert g.epochs() == (3, 3)


def test_epoch_before_the_previous_is_fenced() -> None:
    g = GroupDriver()
    g.two_stable_members()
    for name in ("m3", "m4"):
        g.script(m1=["foo-0"], m2=["foo-1"])
        g.join(name)
        g.heartbeat("m1", owned=["foo-0"])
    assert g.member("m1")["previousMemberEpoch"] == 3
    assert error(g.heartbeat("m1", 2, [])) == ErrorCode.FENCED_MEMBER_EPOCH
