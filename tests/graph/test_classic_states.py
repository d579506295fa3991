"""State graphs of classic groups."""

from __future__ import annotations

from pathlib import Path

from harness.graph.card import BY_MEMBERS, BY_STATE
from harness.graph.draw import of_trace
from harness.graph.states import describer
from harness.itf import read_trace
from harness.kinds.classic.card import BY_WAITING, CLASSIC_STATES, ClassicDescriber

TRACES = Path(__file__).parents[2] / "traces" / "classic"


def test_a_node_says_what_members_wait_for() -> None:
    trace = read_trace(TRACES / "MCClassic-goal-0008-both-are-assigned.itf.json")
    reads = describer(trace.states)
    assert isinstance(reads, ClassicDescriber) and tuple(reads.titles) == CLASSIC_STATES
    card = reads.card(trace.states[4])
    assert (card.title, card.lines) == ("PreparingRebalance", ("generation 0, leader m1",))
    assert card.rows == (("m1", "none", "waiting to join"), ("m2", "none", "waiting to join"))
    assert reads.key(trace.states[3], BY_WAITING)[1:] == ("1 member waiting to join", "1 not joined")
    assert reads.key(trace.states[4], BY_MEMBERS) == ("PreparingRebalance", "2 members")
    assert reads.key(trace.states[4], BY_STATE) == ("PreparingRebalance",)


def test_edges_have_the_names_of_steps() -> None:
    for name in ("MCClassic-goal-0008-both-are-assigned", "MCClassicRecovery-goal-0008-leader-failure"):
        trace = read_trace(TRACES / f"{name}.itf.json")
        edges = of_trace(name, trace).graph.edges(data=True)
        assert {"JoinGroup", "SyncGroup", "JoinTimeout"} <= {edge["action"] for *_, edge in edges}
    card = describer(trace.states).card(trace.states[-1])
    assert card.head == ("member", "assigned", "request", "client owns")
    assert ("m1", "foo-0", "-", "foo-0") in card.rows
