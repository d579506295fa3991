"""States for pictures: groups with one topic, and another specification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import networkx as nx
from frozendict import frozendict

from harness.values import State

Partitions = frozenset[tuple[str, int]]


def foo(*indexes: int) -> Partitions:
    return frozenset(("foo", index) for index in indexes)


NOTHING = foo()


def member(epoch: int, assigned: Partitions = NOTHING, revoking: Partitions = NOTHING) -> Any:
    return frozendict(
        epoch=epoch,
        previousEpoch=0,
        subscription=frozenset({"foo"}),
        assignor="",
        assigned=assigned,
        revoking=revoking,
        acknowledged=False,
    )


def step(action: str, of: str = "", branch: str = "") -> Any:
    request = frozendict(
        member=of, epoch=0, owned=frozenset(), subscription=frozenset(), assignor=frozenset()
    )
    response = frozendict(error="NONE", member=of, epoch=0, assignment=frozenset())
    return frozendict(
        action=action, branch=branch, member=of, request=request, response=response, topic="", partitions=0
    )


def group_state(
    epoch: int,
    members: Mapping[str, Any],
    target: Mapping[int, str],
    last: Any = None,
    assignment_epoch: int | None = None,
    **more: Any,
) -> State:
    """A state of the open instance with a topic foo of two partitions; `more` are further variables."""
    group = frozendict(
        epoch=epoch,
        assignmentEpoch=epoch if assignment_epoch is None else assignment_epoch,
        target=frozendict({("foo", index): target.get(index, "") for index in range(2)}),
        metadata=frozendict(foo=2 if members else 0),
        members=frozendict(members) if members else (),
    )
    return frozendict(group=group, topics=frozendict(foo=2), step=last or step("Init"), **more)


def chain(states: list[State]) -> nx.MultiDiGraph:
    """States one after the other, as `harness.graph.dump` gives them."""
    graph = nx.MultiDiGraph(initial=[0])
    for number, state in enumerate(states):
        graph.add_node(number, state=state)
        if number:
            last: Any = state["step"]
            names = {name: last[name] for name in ("action", "branch", "member")}
            graph.add_edge(number - 1, number, key=tuple(names.values()), **names)
    return graph
