"""The flow of `uniform` (A2): it places one by one, sees moves that help, and moves along paths."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from coordinator.assignors.flow import Flow

MEMBERS = 4
SETS = st.lists(st.sets(st.integers(0, MEMBERS - 1), min_size=1), min_size=1, max_size=4)


@st.composite
def flows(draw: st.DrawFn) -> Flow:
    """A flow in which every member subscribes to a topic, the last set has all members, and some edges keep
    partitions."""
    sets = [sorted(of_set) for of_set in draw(SETS)] + [list(range(MEMBERS))]
    kept = [draw(st.integers(0, 4)) for of_set in sets for _ in of_set]
    return Flow(MEMBERS, [np.array(of_set) for of_set in sets], np.array(kept))


def pairs(flow: Flow) -> list[tuple[int, int]]:
    """Set of topics and member of each edge."""
    return [(flow.set_of(edge), int(member)) for edge, member in enumerate(flow.member)]


@given(flow=flows())
def test_everything_is_kept_at_first(flow: Flow) -> None:
    assert flow.count.tolist() == flow.kept.tolist()
    loads = [
        sum(n for (_, m), n in zip(pairs(flow), flow.kept, strict=True) if m == member)
        for member in range(MEMBERS)
    ]
    assert flow.load.tolist() == loads


@given(flow=flows(), partitions=st.integers(0, 9), data=st.data())
def test_new_partitions_go_one_by_one_to_the_least_loaded(
    flow: Flow, partitions: int, data: st.DataObject
) -> None:
    """The first of several."""
    of_set = data.draw(st.integers(0, len(flow.first) - 2))
    loads, counts = flow.load.tolist(), flow.count.tolist()
    edges = range(flow.edges(of_set).start, flow.edges(of_set).stop)
    for _ in range(partitions):
        taker = min(edges, key=lambda edge: (loads[flow.member[edge]], edge))
        loads[flow.member[taker]] += 1
        counts[taker] += 1
    flow.place(of_set, partitions)
    assert (flow.load.tolist(), flow.count.tolist()) == (loads, counts)


@given(flow=flows())
def test_a_move_that_helps_is_seen(flow: Flow) -> None:
    helps = any(
        flow.count[edge] > 0 and flow.load[member] > flow.load[other] + 1
        for edge, (of_set, member) in enumerate(pairs(flow))
        for other in flow.member[flow.edges(of_set)]
    )
    assert flow.has_improving_move() == helps


@settings(max_examples=50)
@given(flow=flows())
def test_moved_files_stay_in_their_set_and_no_move_is_idle(flow: Flow) -> None:
    """Each search that moves something makes loads more even, or keeps more with the same."""

    def worth() -> tuple[int, int]:
        return int((flow.load**2).sum()), -int(np.minimum(flow.count, flow.kept).sum())

    of_sets = [int(flow.count[flow.edges(of_set)].sum()) for of_set in range(len(flow.first) - 1)]
    before = worth()
    while flow.improve():
        assert worth() < before and (flow.count >= 0).all()
        before = worth()
        assert of_sets == [int(flow.count[flow.edges(one)].sum()) for one in range(len(of_sets))]
        assert flow.load.tolist() == np.bincount(flow.member, flow.count, MEMBERS).astype(int).tolist()
    assert not flow.has_improving_move()
