"""Traces of classic groups on the coordinator: each of these seeded bugs is noticed (C1, C2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coordinator.classic import handlers, model, rebalance, records, service, timers
from coordinator.classic.rebalance import ClassicStep
from harness.errors import ConformError
from harness.itf import Trace, read_trace
from harness.replay.decode import Decoder
from harness.replay.files import trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Replayer
from harness.targets.python import PythonTarget

ROOT = Path(__file__).parents[2]
FILES = trace_files([ROOT / "traces" / "classic"])


@pytest.fixture(scope="module")
def traces() -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(file), file.name) for file in FILES]


def differences(traces: list[DecodedTrace]) -> int:
    replayer = Replayer(PythonTarget("kip-848"), 1)
    for trace in traces:
        replayer.replay(trace)
    return replayer.result.differences


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing: the body of a function that a bug leaves out."""


def _forgets(step: ClassicStep, request: Any, body: Any) -> None:
    """A coordinator that forgets a waiting request, which is never answered."""


def _keeps_all(step: ClassicStep) -> None:
    step.become(
        members={name: replace(one, joining=one.joining or "x") for name, one in step.group.members.items()}
    )
    rebalance.next_generation(step, sorted(step.group.members))


def _first_protocol(group: model.ClassicGroup, leader: str) -> str:
    return min(model.candidates(group.members.values()))


def _loaded_stable(group_id: str, value: records.GroupMetadata) -> model.ClassicGroup:
    return replace(LOADED(group_id, value), state="Stable" if value.members else "Empty")


LOADED = records.loaded

BUGS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "the generation is not in the log before it is synchronised": (rebalance.ClassicStep, "save", _nothing),
    "members that do not rejoin stay in the group": (rebalance, "complete_join", _keeps_all),
    "requests that wait are forgotten": (rebalance.ClassicStep, "answer", _forgets),
    "pending ids are not waited for": (
        rebalance,
        "all_joined",
        lambda group: all(one.joining is not None for one in group.members.values()),
    ),
    "the protocol is not chosen by preference": (rebalance, "select_protocol", _first_protocol),
    "a generation that is not synchronised is loaded as Stable": (service, "loaded", _loaded_stable),
    "the generation is not checked": (
        handlers,
        "generation_error",
        lambda group, member_id, instance_id, generation: model.identity_error(group, member_id, instance_id),
    ),
    "an instance id of another member is not fenced": (
        handlers,
        "identity_error",
        lambda group, member_id, instance_id: 0 if member_id in group.members else 25,
    ),
    "who has not sent a SyncGroup stays": (handlers, "without", _nothing),
    "the initial delay is never prolonged": (handlers, "join_timeout", rebalance.complete_join),
    "the session of a member that waits runs on": (
        timers,
        "armed",
        lambda group: [("session", name) for name in group.members],
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_noticed(
    bug: str, traces: list[DecodedTrace], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, name, wrong = BUGS[bug]
    monkeypatch.setattr(place, name, wrong)
    try:
        assert differences(traces) > 0
    except ConformError as failed:  # the coordinator fell over the bug, which is reported, too
        assert "failed in" in failed.message


def test_an_unknown_action_is_an_error() -> None:
    trace = read_trace(FILES[0])
    step = trace.states[1]["step"]
    wrong = Trace(
        trace.meta, trace.variables, [trace.states[0], trace.states[1].set("step", step.set("action", "No"))]
    )
    with pytest.raises(ConformError, match="there is no action 'No'"):
        Decoder().decode(wrong, "t")


@pytest.mark.parametrize(
    ("point", "generations"),
    [
        ("coordinator-failure-1", {1, 2}),
        ("coordinator-failure-2", {1, 2}),
        ("coordinator-failure-3", {1, 2}),
        ("coordinator-failure-4", {1}),
        ("leader-failure", {1, 2, 3}),
        ("assignment-failure", {1, 2}),
        ("subscription-change", {1, 2}),
        ("topic-change", {1, 2}),
    ],
)
def test_recovery_ends_stable(point: str, generations: set[int], traces: list[DecodedTrace]) -> None:
    """C2: each failure and change has a trace that ends in a Stable group of both members."""
    trace = next(one for one in traces if point in one.name)
    last = trace.steps[-1].load.state.group
    assert last.state == "Stable" and len(last.members) == 2
    assert {step.load.state.group.generation for step in trace.steps} - {0} <= generations
