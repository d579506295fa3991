"""State graphs of closed models that do not name their steps."""

from __future__ import annotations

import pytest

from harness.graph.card import BY_MEMBERS, BY_STATE
from harness.graph.states import describer
from harness.kinds.features.closed_card import BY_PROTOCOL, ClosedDescriber
from harness.tlaparse import Reader
from harness.values import State


def member(epoch: int, assigned: str = "{}") -> str:
    return (
        f'[epoch |-> {epoch}, previousEpoch |-> 0, assignor |-> "", instance |-> "", regex |-> "", '
        f'acknowledged |-> TRUE, assigned |-> {assigned}, revoking |-> {{}}, subscription |-> {{"foo"}}]'
    )


FOO = '{<<"foo", 0>>}'
NOBODY = member(-1)


def group(a: str, b: str, epoch: int = 5) -> str:
    return (
        f"[epoch |-> {epoch}, assignmentEpoch |-> {epoch}, metadata |-> [foo |-> 1], "
        f'target |-> (<<"foo", 0>> :> "b"), members |-> [a |-> {a}, b |-> {b}]]'
    )


def migrating(kind: str, the_group: str, a: str, b: str) -> State:
    process = f"[up |-> TRUE, owned |-> {FOO}]"
    return Reader().state(
        f'/\\ mixed = [kind |-> "{kind}", group |-> {the_group}, phase |-> [a |-> "{a}", b |-> "{b}"]]\n'
        f"/\\ processes = [a |-> [up |-> FALSE, owned |-> {{}}], b |-> {process}]"
    )


@pytest.mark.parametrize(
    ("kind", "a", "b", "key"),
    [
        ("classic", "stable", "stable", ("Stable", "classic group", "2 members")),
        ("classic", "complete", "prepare", ("PreparingRebalance", "classic group", "2 members")),
        ("classic", "complete", "stable", ("CompletingRebalance", "classic group", "2 members")),
        (
            "consumer",
            "prepare",
            "",
            ("Reconciling", "consumer group", "1 member (classic)", "1 member (consumer)"),
        ),
        ("consumer", "", "", ("Reconciling", "consumer group", "2 members (consumer)")),
    ],
)
def test_a_group_that_migrates(kind: str, a: str, b: str, key: tuple[str, ...]) -> None:
    state = migrating(kind, group(member(3), member(5, FOO)), a, b)
    reads = describer([state])
    assert isinstance(reads, ClosedDescriber) and reads.levels[0] == BY_PROTOCOL
    assert reads.key(state, BY_PROTOCOL) == key
    assert reads.key(state, BY_STATE) == key[:2]
    assert reads.folded_card(key).title == key[0] in reads.titles


def test_a_single_state_says_what_each_process_owns() -> None:
    state = migrating("consumer", group(NOBODY, member(5, FOO)), "", "")
    card = ClosedDescriber([state]).card(state)
    assert card.lines == ("consumer group", "group epoch 5, assignment epoch 5")
    assert card.rows == (("b", "-", "5", "foo-0", "foo-0", "foo-0"), ("a", "-", "-", "-", "-", "down"))


def test_members_that_compute_have_one_protocol() -> None:
    state = Reader().state(
        f'/\\ group = {group(member(5), member(5, FOO))}\n/\\ computation = [chosen |-> ""]\n'
        f'/\\ health = [a |-> "dead", b |-> "well"]\n/\\ owned = [a |-> {{}}, b |-> {FOO}]'
    )
    reads = describer([state])
    assert isinstance(reads, ClosedDescriber) and reads.levels == (BY_MEMBERS, BY_STATE)
    assert reads.key(state, BY_MEMBERS) == ("Stable", "2 members")
    assert [row[-1] for row in reads.card(state).rows] == ["dead", "foo-0"]


def test_another_specification_with_these_names_is_shown_by_its_variables() -> None:
    state = Reader().state("/\\ mixed = 1\n/\\ processes = {}")
    assert not isinstance(describer([state]), ClosedDescriber)
