"""State graphs of groups that migrate."""

from __future__ import annotations

from pathlib import Path

from harness.graph.card import BY_MEMBERS
from harness.graph.draw import of_trace
from harness.graph.states import describer
from harness.itf import Trace, read_trace
from harness.kinds.migration.card import BY_WAY, MigrationDescriber

TRACES = Path(__file__).parents[2] / "traces" / "migration"


def trace_of(goal: str) -> Trace:
    (path,) = TRACES.glob(f"*-{goal}.itf.json")
    return read_trace(path)


def test_a_node_is_drawn_as_the_kind_of_group_that_it_is() -> None:
    states = trace_of("who-was-brought-back-joins-its-next-generation").states
    reads = describer(states)
    assert isinstance(reads, MigrationDescriber)
    shown = [reads.card(state).title for state in states]
    assert (shown[0], shown[-1]) == ("Stable", "CompletingRebalance")
    assert "Reconciling" in shown and "PreparingRebalance" in shown
    mixed = reads.card(states[shown.index("Reconciling")])
    assert mixed.head[-1] == "classic" and {row[-1] for row in mixed.rows} == {"-", "prepare"}
    assert mixed.lines[0] == "consumer group"
    assert reads.key(states[0], BY_MEMBERS) == ("Stable", "classic group", "2 members")
    assert reads.key(states[0], BY_WAY) == ("Stable", "classic group", "2 members")
    assert reads.key(states[shown.index("Reconciling")], BY_WAY)[1:] == (
        "consumer group",
        "1 member behind",
        "1 member up to date",
    )


def test_edges_have_the_names_of_steps() -> None:
    trace = trace_of("a-lost-answer-of-a-joingroup-is-asked-for-again")
    edges = of_trace("t", trace).graph.edges(data=True)
    assert {("JoinGroup", "mixed-retry"), ("JoinGroup", "mixed-rejoin")} <= {
        (edge["action"], edge["branch"]) for *_, edge in edges
    }
