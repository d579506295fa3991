"""The assignors that leaders run (C5): legal, even, sticky; nothing moves that its owner still has (C3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.assignors.spec import GroupAssignment, TopicPartition
from coordinator.classic.assignors import ASSIGNORS, GroupMember, RebalanceProtocol, rebalance_protocol
from coordinator.classic.embedded import Subscription

few = settings(max_examples=50)
TOPICS = ["bar", "foo", "qux"]
Group = tuple[dict[str, GroupMember], dict[str, int]]
"""The members, and the numbers of partitions of existing topics."""


def owning(member: GroupMember, owned: frozenset[TopicPartition], generation: int, name: str) -> GroupMember:
    """The member at its rejoin under that assignor."""
    content = replace(
        member.subscription,
        owned=owned,
        generation=generation,
        user_data=ASSIGNORS[name].user_data(owned, generation),
    )
    return replace(member, subscription=content)


@st.composite
def groups(draw: st.DrawFn, name: str = "cooperative-sticky", equal: bool | None = None) -> Group:
    """1 to 5 members, static or not, with any claims of any generation, also on the same partition."""
    counts = {topic: draw(st.integers(0, 5)) for topic in TOPICS[: draw(st.integers(1, 3))]}
    everything = [(topic, index) for topic in [*counts, "gone"] for index in range(counts.get(topic, 1) + 1)]
    topics = st.frozensets(st.sampled_from([*counts, "gone"]))
    shared = draw(topics)
    alike = draw(st.booleans()) if equal is None else equal
    members = {}
    for number in range(draw(st.integers(1, 5))):
        instance_id = draw(st.none() | st.just(f"i{9 - number}"))
        member = GroupMember(Subscription(shared if alike else draw(topics)), instance_id)
        owned = draw(st.frozensets(st.sampled_from(everything), max_size=6))
        members[f"m{number}"] = owning(member, owned, draw(st.integers(-1, 3)), name)
    return members, counts


def subscribed(group: Group) -> dict[TopicPartition, set[str]]:
    """The members that may have each partition, for partitions that any member may have."""
    members, counts = group
    results = {
        (topic, index): {name for name, member in members.items() if topic in member.subscription.topics}
        for topic, count in counts.items()
        for index in range(count)
    }
    return {one: names for one, names in results.items() if names}


def given_to(assignment: GroupAssignment) -> dict[TopicPartition, list[str]]:
    results: dict[TopicPartition, list[str]] = {}
    for name, partitions in assignment.items():
        for one in partitions:
            results.setdefault(one, []).append(name)
    return results


def assert_legal(group: Group, assignment: GroupAssignment, withheld: bool = False) -> None:
    """Each partition once, only to subscribers; all of them, unless some may be `withheld`."""
    allowed, result = subscribed(group), given_to(assignment)
    assert assignment.keys() == group[0].keys()
    assert all(len(names) == 1 and set(names) <= allowed[one] for one, names in result.items())
    assert withheld or result.keys() == allowed.keys()


def claims(group: Group) -> dict[str, Subscription]:
    return {name: member.subscription for name, member in group[0].items()}


def blocked(group: Group, name: str, one: TopicPartition) -> bool:
    """Tell if another member claims this partition in a generation that is not before this member's claim."""
    claimed = claims(group)
    own = claimed[name].generation if one in claimed[name].owned else -2
    return any(one in claimed[n].owned and claimed[n].generation >= own for n in claimed if n != name)


def sizes(assignment: GroupAssignment) -> list[int]:
    return sorted(len(partitions) for partitions in assignment.values())


@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky"])
@few
@given(data=st.data())
def test_eager_assignors_assign_everything_once_to_subscribers(name: str, data: st.DataObject) -> None:
    group = data.draw(groups(name))
    assert_legal(group, ASSIGNORS[name].assign(*group))


@few
@given(group=groups("range"))
def test_range_cuts_each_topic_on_its_own(group: Group) -> None:
    members, counts = group
    together = ASSIGNORS["range"].assign(*group)
    for topic, count in counts.items():
        alone = ASSIGNORS["range"].assign(members, {topic: count})
        assert alone == {name: {one for one in together[name] if one[0] == topic} for name in members}
        takers = [name for name in members if topic in members[name].subscription.topics]
        lengths = sorted(len(alone[name]) for name in takers)
        assert not takers or lengths[-1] - lengths[0] <= 1
        for partitions in alone.values():
            indexes = sorted(index for _, index in partitions)
            assert indexes == list(range(indexes[0], indexes[0] + len(indexes))) if indexes else True


@pytest.mark.parametrize("name", ["roundrobin", "sticky"])
@few
@given(data=st.data())
def test_equal_subscriptions_are_served_evenly(name: str, data: st.DataObject) -> None:
    results = sizes(ASSIGNORS[name].assign(*data.draw(groups(name, equal=True))))
    assert results[-1] - results[0] <= 1


def test_roundrobin_goes_on_where_it_was() -> None:
    members = {f"C{n}": GroupMember(Subscription(frozenset(["t0", "t1", "t2"][: n + 1]))) for n in range(3)}
    assert ASSIGNORS["roundrobin"].assign(members, {"t0": 1, "t1": 2, "t2": 3}) == {
        "C0": {("t0", 0)},
        "C1": {("t1", 0)},
        "C2": {("t1", 1), ("t2", 0), ("t2", 1), ("t2", 2)},
    }


@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_static_members_come_first_by_instance_id(name: str) -> None:
    subscription = Subscription(frozenset({"foo"}))
    members = {
        "m1": GroupMember(subscription),
        "m2": GroupMember(subscription, "i2"),
        "m3": GroupMember(subscription, "i1"),
    }
    assert ASSIGNORS[name].assign(members, {"foo": 3}) == {
        "m3": {("foo", 0)},
        "m2": {("foo", 1)},
        "m1": {("foo", 2)},
    }


def best(group: Group, owners: Mapping[TopicPartition, str]) -> tuple[int, int]:
    """The least sum of squared sizes, and the most kept partitions with it, of all legal assignments."""
    allowed = subscribed(group)
    results = []
    for names in product(*allowed.values()):
        squares = sum(size * size for size in Counter(names).values())
        results.append(
            (squares, -sum(owners.get(one) == name for one, name in zip(allowed, names, strict=True)))
        )
    return min(results)


@few
@given(data=st.data())
def test_sticky_is_even_and_then_keeps_most(data: st.DataObject) -> None:
    members, counts = data.draw(groups("sticky", equal=True))
    members = dict(list(members.items())[:3])
    counts = {topic: min(count, 3) for topic, count in list(counts.items())[:2]}
    content = {
        name: (member.subscription.owned, member.subscription.generation) for name, member in members.items()
    }
    owners = {}
    for one in {one for owned, generation in content.values() if generation >= 0 for one in owned}:
        latest = max(generation for owned, generation in content.values() if one in owned)
        names = [
            name for name, (owned, generation) in content.items() if one in owned and generation == latest
        ]
        if len(names) == 1:
            owners[one] = names[0]
    assignment = ASSIGNORS["sticky"].assign(members, counts)
    kept = sum(owners.get(one) == name for name, given in assignment.items() for one in given)
    squares = sum(len(given) ** 2 for given in assignment.values())
    assert (squares, -kept) == best((members, counts), owners)


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
@few
@given(data=st.data())
def test_nothing_moves_while_nothing_changes(name: str, data: st.DataObject) -> None:
    members, counts = data.draw(groups(name))
    fresh = {id_: owning(member, frozenset(), -1, name) for id_, member in members.items()}
    first = ASSIGNORS[name].assign(fresh, counts)
    again = {id_: owning(member, first[id_], 5, name) for id_, member in members.items()}
    assert ASSIGNORS[name].assign(again, counts) == first
    without = {id_: again[id_] for id_ in sorted(again)[1:]}
    left = ASSIGNORS[name].assign(without, counts)
    assert not without or sum(map(len, left.values())) >= sum(len(first[id_]) for id_ in without)
    if len({member.subscription.topics for member in without.values()}) == 1:
        assert all(first[id_] <= left[id_] for id_ in without)


def latest(group: Group, one: TopicPartition) -> set[str]:
    """The members that claim a partition with the latest generation of all its claims."""
    claimants = {name: claimed.generation for name, claimed in claims(group).items() if one in claimed.owned}
    return {name for name, generation in claimants.items() if generation == max(claimants.values())}


def with_claims(group: Group, name: str, counts: Mapping[str, frozenset[TopicPartition]]) -> Group:
    """A group in which each member claims only these partitions, in the generations of before."""
    members, partitions = group
    kept = {
        one: owning(member, counts[one], member.subscription.generation, name)
        for one, member in members.items()
    }
    return kept, partitions


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
@few
@given(data=st.data())
def test_a_claim_of_an_earlier_generation_changes_nothing(name: str, data: st.DataObject) -> None:
    """141 for any group: of several claims of a partition only those of the latest generation count."""
    group = data.draw(groups(name))
    claimed = claims(group)
    last = {one: frozenset(p for p in claimed[one].owned if one in latest(group, p)) for one in claimed}
    assert ASSIGNORS[name].assign(*with_claims(group, name, last)) == ASSIGNORS[name].assign(*group)


@few
@given(group=groups("sticky"))
def test_two_claims_of_one_generation_count_for_nobody(group: Group) -> None:
    """141 for any group: one of the two is wrong, and nothing shows which."""
    claimed = claims(group)
    alone = {one: frozenset(p for p in claimed[one].owned if latest(group, p) == {one}) for one in claimed}
    assert ASSIGNORS["sticky"].assign(*with_claims(group, "sticky", alone)) == ASSIGNORS["sticky"].assign(
        *group
    )


@few
@given(group=groups())
def test_a_partition_with_two_claims_of_one_generation_waits_for_a_round(group: Group) -> None:
    """C3: either member may still have the partition, so that no member gets it."""
    given_out = given_to(ASSIGNORS["cooperative-sticky"].assign(*group))
    claimed = {one for claims_of in claims(group).values() for one in claims_of.owned}
    assert not [one for one in given_out if one in claimed and len(latest(group, one)) > 1]


def two_claims(name: str, first: int, second: int) -> GroupAssignment:
    """m1 and m2 claim foo-0, in those generations; m3 claims nothing. The partitions that they are
    assigned."""
    fresh = GroupMember(Subscription(frozenset({"foo"})))
    foo = frozenset({("foo", 0)})
    members = {
        "m1": owning(fresh, foo, first, name),
        "m2": owning(fresh, foo, second, name),
        "m3": owning(fresh, frozenset(), 2, name),
    }
    return ASSIGNORS[name].assign(members, {"foo": 1})


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_141_of_two_claims_the_later_generation_counts(name: str) -> None:
    assert two_claims(name, 1, 2)["m2"] == two_claims(name, 2, 1)["m1"] == {("foo", 0)}


def test_141_of_two_claims_of_one_generation_neither_counts() -> None:
    """Under sticky no member owns anything any more; under cooperative-sticky both must give the partition up
    first."""
    assert sizes(two_claims("sticky", 2, 2)) == [0, 0, 1]
    assert sizes(two_claims("cooperative-sticky", 2, 2)) == [0, 0, 0]


def test_135_a_claim_of_an_early_generation_counts_where_nobody_else_claims() -> None:
    """m2 missed a generation; its partitions are not free for m0, which joins."""
    subscription = Subscription(frozenset({"foo"}), owned=frozenset({("foo", 0)}), generation=1)
    other = Subscription(frozenset({"foo"}), owned=frozenset({("foo", 1), ("foo", 2)}), generation=2)
    new = Subscription(frozenset({"foo"}))
    members = {"m0": GroupMember(new), "m1": GroupMember(other), "m2": GroupMember(subscription)}
    assigned = ASSIGNORS["cooperative-sticky"].assign(members, {"foo": 4})
    assert assigned == {"m0": {("foo", 3)}, "m1": other.owned, "m2": subscription.owned}


def test_125_a_claim_of_an_early_generation_is_no_reason_to_hand_over() -> None:
    """m2 has both partitions in the latest generation; m1 claims one in the generation before, and must get
    it."""
    subscription = Subscription(frozenset({"foo"}), owned=frozenset({("foo", 1)}), generation=1)
    other = Subscription(frozenset({"foo"}), owned=frozenset({("foo", 0), ("foo", 1)}), generation=2)
    members = {"m1": GroupMember(subscription), "m2": GroupMember(other)}
    assigned = ASSIGNORS["cooperative-sticky"].assign(members, {"foo": 2})
    assert assigned == {"m1": frozenset(), "m2": {("foo", 0)}}


@pytest.mark.parametrize("name", ASSIGNORS)
def test_131_a_member_without_topics_gets_nothing(name: str) -> None:
    members = {
        "m1": GroupMember(Subscription(frozenset({"foo"}))),
        "m2": GroupMember(Subscription(frozenset())),
    }
    assert ASSIGNORS[name].assign(members, {"foo": 1}) == {"m1": {("foo", 0)}, "m2": frozenset()}


@few
@given(group=groups())
def test_cooperative_moves_nothing_that_another_has_not_given_up(group: Group) -> None:
    assigned = ASSIGNORS["cooperative-sticky"].assign(*group)
    assert_legal(group, assigned, withheld=True)
    for name, partitions in assigned.items():
        assert not any(blocked(group, name, one) for one in partitions)
    for one in subscribed(group).keys() - given_to(assigned).keys():
        assert any(one in claimed.owned for claimed in claims(group).values())


@few
@given(group=groups())
def test_cooperative_is_done_when_everything_is_given_up(group: Group) -> None:
    members, counts = group
    assignor = ASSIGNORS["cooperative-sticky"]
    first = assignor.assign(*group)
    rejoined = {id_: owning(member, first[id_], 7, assignor.name) for id_, member in members.items()}
    second = assignor.assign(rejoined, counts)
    assert_legal((rejoined, counts), second)
    assert all(first[id_] <= second[id_] for id_ in members)


@pytest.mark.parametrize("data", [None, b"", b"\xff" * 3, b"\xff" * 9, b"\x00\x00\x00\x01\x00"])
@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_user_data_that_cannot_be_read_says_nothing(name: str, data: bytes | None) -> None:
    subscription = Subscription(frozenset({"foo"}), data)
    assert ASSIGNORS[name].assign({"m1": GroupMember(subscription)}, {"foo": 1}) == {"m1": {("foo", 0)}}


def test_the_user_data_is_kafkas() -> None:
    """Sticky's version 1, read by hand, its version 0 without the generation; the others' is shorter."""
    owned = frozenset({("foo", 1), ("foo", 0)})
    foo = bytes.fromhex("00000001 0003 666f6f 00000002 00000000 00000001")
    assert ASSIGNORS["sticky"].user_data(owned, 3) == foo + bytes.fromhex("00000003")
    assert ASSIGNORS["sticky"].user_data(frozenset(), -1) is None
    assert ASSIGNORS["cooperative-sticky"].user_data(owned, 3) == bytes.fromhex("00000003")
    assert ASSIGNORS["range"].user_data(owned, 3) is ASSIGNORS["roundrobin"].user_data(owned, 3) is None
    old = {
        "m1": GroupMember(Subscription(frozenset({"foo"}))),
        "m2": GroupMember(Subscription(frozenset({"foo"}), foo)),
    }
    assert ASSIGNORS["sticky"].assign(old, {"foo": 4})["m2"] == owned


def test_a_cooperative_member_of_version_1_has_its_generation_in_its_user_data() -> None:
    foo = frozenset({("foo", 0)})
    members = {
        "m1": GroupMember(Subscription(frozenset({"foo"}), b"\0\0\0\2", foo)),
        "m2": GroupMember(Subscription(frozenset({"foo"}), b"\0\0\0\1", foo)),
    }
    assert ASSIGNORS["cooperative-sticky"].assign(members, {"foo": 1}) == {"m1": foo, "m2": frozenset()}


def test_the_highest_protocol_that_all_assignors_support() -> None:
    def common(*names: str) -> RebalanceProtocol | None:
        return rebalance_protocol(ASSIGNORS[name] for name in names)

    assert common("cooperative-sticky") is RebalanceProtocol.COOPERATIVE
    assert common("cooperative-sticky", "range") is common("sticky") is RebalanceProtocol.EAGER
    assert common() is None
