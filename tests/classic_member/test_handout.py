"""From the intended assignment to the handed out one (C3), and the leader's check of it (C4); the common
rebalance protocol of several assignors (C8)."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_member import COOPERATIVE, REBALANCE, ScriptedMember, named, parts

from coordinator.classic.assignors import ASSIGNORS, GroupMember, RebalanceProtocol
from coordinator.classic.embedded import Subscription
from coordinator.members.classic import (
    ClassicMember,
    InconsistentAssignment,
    Phase,
    Settings,
    TwoPhases,
    common_protocol,
)
from coordinator.members.classic.handout import check, hand_out

STICKY, RANGE = ASSIGNORS["cooperative-sticky"], ASSIGNORS["range"]


def claims(**owned: str) -> dict[str, GroupMember]:
    """Member -> its claims, "@2" behind one for the generation, else 1."""
    results = {}
    for name, text in owned.items():
        what, _, generation = text.partition("@")
        topics = frozenset({"foo", "bar"})
        results[name] = GroupMember(Subscription(topics, owned=parts(what), generation=int(generation or 1)))
    return results


# The claims of members, the intended assignment, the handed out one.
TABLE: dict[str, tuple[dict[str, str], dict[str, str], dict[str, str]]] = {
    "maybe-revoking, and the owner stays": (
        {"a": "foo-0", "b": ""},
        {"a": "foo-0", "b": ""},
        {"a": "foo-0", "b": ""},
    ),
    "maybe-revoking, and the owner changes": (
        {"a": "foo-0 foo-1", "b": ""},
        {"a": "foo-0", "b": "foo-1"},
        {"a": "foo-0", "b": ""},
    ),
    "ready-to-migrate": ({"a": "foo-0", "b": ""}, {"a": "foo-0", "b": "foo-1"}, {"a": "foo-0", "b": "foo-1"}),
    "unknown-but-owned": ({"a": "foo-0 bar-0", "b": ""}, {"a": "", "b": ""}, {"a": "bar-0 foo-0", "b": ""}),
    "eager members claim nothing: all moves at once": (
        {"a": "", "b": ""},
        {"a": "foo-1", "b": "foo-0"},
        {"a": "foo-1", "b": "foo-0"},
    ),
    "of two claims the newer one counts": (
        {"a": "foo-0@1", "b": "foo-0@2"},
        {"a": "foo-0", "b": ""},
        {"a": "", "b": ""},
    ),
    "of two claims of one generation neither does": (
        {"a": "foo-0", "b": "foo-0"},
        {"a": "foo-0", "b": ""},
        {"a": "", "b": ""},
    ),
    "an old claim counts where there is no other": (
        {"a": "foo-0@1", "b": "foo-1@2"},
        {"a": "", "b": "foo-0 foo-1"},
        {"a": "", "b": "foo-1"},
    ),
    "who is not named gets what it owns": ({"a": "foo-0", "b": ""}, {}, {"a": "foo-0", "b": ""}),
}


@pytest.mark.parametrize("case", TABLE)
def test_three_sets(case: str) -> None:
    claimed, intended, handed = TABLE[case]
    result = hand_out({name: parts(text) for name, text in intended.items()}, claims(**claimed))
    assert {name: named(some) for name, some in result.items()} == handed


PARTITIONS = [("foo", index) for index in range(4)]


@given(
    st.lists(st.sampled_from("abc-"), min_size=4, max_size=4), st.lists(st.sampled_from("abc"), min_size=4)
)
def test_handed_out_assignments_are_consistent_and_end(owners: list[str], targets: list[str]) -> None:
    """For any owned and intended partitions: no member gets a partition that another owns, none loses one
    that was intended for it; and when the moving partitions have been revoked, the second round hands out the
    intended assignment."""
    content = {
        name: owns(one for one, owner in zip(PARTITIONS, owners, strict=True) if owner == name)
        for name in "abc"
    }
    wanted = {
        name: frozenset(one for one, to in zip(PARTITIONS, targets, strict=False) if to == name)
        for name in "abc"
    }
    first = hand_out(wanted, content)
    check(first, content)
    for name, member in content.items():
        assert member.subscription.owned & wanted[name] <= first[name] <= wanted[name]
    assert hand_out(wanted, {name: owns(first[name]) for name in "abc"}) == wanted


def owns(partitions: Iterable[tuple[str, int]]) -> GroupMember:
    return GroupMember(Subscription(frozenset({"foo"}), owned=frozenset(partitions), generation=1))


def test_any_assignor_can_hand_out_in_two_phases() -> None:
    """The intention of range, and the part of it that may be handed out."""
    members = claims(a="foo-0 foo-1 foo-2", b="")
    first = TwoPhases(RANGE, "cooperative-range").assign(members, {"foo": 3})
    assert {name: named(given) for name, given in first.items()} == {"a": "foo-0 foo-1", "b": ""}
    check(first, members)
    with pytest.raises(InconsistentAssignment):
        check(RANGE.assign(members, {"foo": 3}), members)


def test_the_check_says_who_owns_what() -> None:
    with pytest.raises(
        InconsistentAssignment, match="gives partition 1 of topic foo to b while a still owns"
    ):
        check({"a": parts(""), "b": parts("foo-1")}, claims(a="foo-1", b=""))
    with pytest.raises(InconsistentAssignment, match="to a and to b: each partition goes to one"):
        check({"a": parts("foo-1"), "b": parts("foo-1")}, claims(a="", b=""))


def test_a_leader_whose_assignor_hands_out_what_is_owned_ends() -> None:
    """C4: before any member knows the assignment."""
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.assignor.result = {"m": parts(""), "n": parts("foo-0")}
    script.joined(leader=True, owned={"m": "foo-0", "n": ""})
    assert script.log[-2:] == ["assign", "lost foo-0"]
    assert script.member.phase is Phase.FAILED
    assert isinstance(script.member.take_error(), InconsistentAssignment)


def test_a_leader_that_cannot_assign_keeps_all_and_joins_again() -> None:
    """C2: and the application gets the error."""
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.assignor.error = RuntimeError("no idea")
    script.joined(leader=True, owned={"m": "foo-0"})
    assert str(script.member.take_error()) == "no idea"
    assert named(script.member.owned) == "foo-0" and script.sent is None
    script.now_ms += 100
    script.run()
    assert script.log[-1] == "JoinGroup foo-0"


def test_an_assignment_that_cannot_be_read_ends_the_member() -> None:
    script = ScriptedMember(COOPERATIVE)
    script.member.subscribe({"foo"}, 0)
    script.run()
    script.joined()
    script.reply(assignment="AAA=")
    assert script.member.phase is Phase.FAILED
    assert "cut off" in str(script.member.take_error())


def test_the_highest_common_protocol() -> None:
    assert common_protocol([STICKY]) is RebalanceProtocol.COOPERATIVE
    assert common_protocol([STICKY, RANGE]) is RebalanceProtocol.EAGER
    only = TwoPhases(RANGE, "new", frozenset({RebalanceProtocol.COOPERATIVE}))
    with pytest.raises(ValueError, match=r"\(new, range\) must have a rebalance protocol in common"):
        ClassicMember(Settings("g"), [only, RANGE])
    with pytest.raises(ValueError, match=r"\(none\) must have"):
        common_protocol([])


def test_a_member_that_cannot_report_owned_partitions_must_be_eager() -> None:
    """C4: version 0 of the embedded protocol has no owned partitions."""
    with pytest.raises(ValueError, match="needs version 1"):
        ClassicMember(Settings("g", subscription_version=0), [STICKY])
    ClassicMember(Settings("g", subscription_version=0), [RANGE])
