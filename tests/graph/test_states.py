"""Labels of the nodes of a picture."""

from __future__ import annotations

import pytest
from frozendict import frozendict
from graph_states import foo, group_state, member

from harness.graph.card import BY_MEMBERS, BY_STATE, Card
from harness.graph.states import describer
from harness.kinds.consumer.card import BY_PROGRESS, BY_REVOKING
from harness.values import State

EMPTY_GROUP = group_state(3, {}, {})
BOTH = {0: "m1", 1: "m2"}
STATES = {
    "Dead": group_state(0, {}, {}),
    "Empty": EMPTY_GROUP,
    "Assigning": group_state(3, {"m1": member(2, foo(0, 1))}, {0: "m1", 1: "m1"}, assignment_epoch=2),
    "Reconciling": group_state(3, {"m1": member(2, foo(0), foo(1)), "m2": member(3)}, BOTH),
    "Stable": group_state(3, {"m1": member(3, foo(0)), "m2": member(3, foo(1))}, BOTH),
}


@pytest.mark.parametrize("name", STATES)
def test_a_node_is_titled_with_the_group_state(name: str) -> None:
    assert describer(STATES.values()).card(STATES[name]).title == name


def test_a_node_has_the_epochs_and_every_members_partitions() -> None:
    card = describer(STATES.values()).card(STATES["Reconciling"])
    assert card.lines == ("group epoch 3, assignment epoch 3", "partitions: foo 2")
    assert card.head == ("member", "epoch", "assigned", "revoking", "target")
    assert card.rows == (("m1", "2", "foo-0", "foo-1", "foo-0"), ("m2", "3", "-", "-", "foo-1"))


def test_a_node_of_a_closed_model_has_what_the_clients_own() -> None:
    clients = frozendict(
        m1=frozendict(up=True, owned=foo(0, 1)),
        m2=frozendict(up=True, owned=foo()),
        m3=frozendict(up=False, owned=foo()),
    )
    state = group_state(3, {"m2": member(3, foo(0, 1))}, {0: "m2", 1: "m2"}, clients=clients)
    assert [(row[0], row[1], row[-1]) for row in describer([state]).card(state).rows] == [
        ("m1", "-", "foo-0 foo-1"),
        ("m2", "3", "-"),
        ("m3", "-", "down"),
    ]


def test_members_that_are_not_in_the_group_are_left_out() -> None:
    state = group_state(1, {"m1": member(1, foo(0, 1)), "m2": member(-1)}, {0: "m1", 1: "m1"})
    card = describer([state]).card(state)
    assert (card.title, [row[0] for row in card.rows]) == ("Stable", ["m1"])


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (BY_PROGRESS, ("1 member revoking", "1 member waiting")),
        (BY_REVOKING, ("2 members", "1 revoking")),
        (BY_MEMBERS, ("2 members",)),
        (BY_STATE, ()),
    ],
)
def test_folding_is_coarser_from_level_to_level(level: str, words: tuple[str, ...]) -> None:
    described = describer(STATES.values())
    key = described.key(STATES["Reconciling"], level)
    assert described.folded_card(key) == Card("Reconciling", words)


def test_a_member_below_the_assignment_epoch_is_behind_until_it_has_to_revoke() -> None:
    behind = group_state(3, {"m1": member(2, foo(0, 1)), "m2": member(3)}, BOTH)
    revoking = group_state(3, {"m1": member(2, foo(0), foo(1)), "m2": member(3)}, BOTH)
    described = describer([behind, revoking])
    assert described.key(behind, BY_PROGRESS) == ("Reconciling", "1 member behind", "1 member waiting")
    assert described.key(revoking, BY_PROGRESS) == ("Reconciling", "1 member revoking", "1 member waiting")


def test_another_specification_shows_the_variables_that_vary() -> None:
    states: list[State] = [frozendict(pc="a", queue=(), limit=3), frozendict(pc="b", queue=(1,), limit=3)]
    described = describer(states)
    assert described.card(states[1]) == Card("", rows=(("pc", '"b"'), ("queue", "<<1>>")))
    assert (list(described.titles), list(described.levels)) == ([], [])


def test_another_specification_with_the_same_names_is_no_group() -> None:
    state: State = frozendict(group=1, topics=2, step=3)
    assert describer([state]).card(state).title == ""


def test_long_values_are_cut() -> None:
    states: list[State] = [frozendict(x=frozenset(range(100))), frozendict(x=frozenset())]
    cell = describer(states).card(states[0]).rows[0][1]
    assert len(cell) <= 44 and cell.startswith("{0, 1, 2") and cell.endswith("…")


def test_changes_of_a_step_stand_out() -> None:
    before = Card("Stable", rows=(("m1", "1", "foo-0"),))
    after = Card("Stable", rows=(("m1", "2", "foo-0"), ("m2", "2", "-")))
    assert after.compared_with(before).changed == {(0, 1), (1, 0), (1, 1), (1, 2)}
