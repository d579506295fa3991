"""Traces of cooperative members, and of upgrades, on the members and the coordinator: no difference, and each
of these seeded bugs is noticed (C3, C4)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rebalance_world import World
from replayed_trace import Replay
from scripted_member import parts
from test_handout import claims

from coordinator.classic import handlers
from coordinator.classic.assignors import ASSIGNORS, RebalanceProtocol
from coordinator.members.classic import (
    ClassicMember,
    TwoPhases,
    callbacks,
    handout,
    machine,
)
from harness.itf import Trace, read_trace

FILES = sorted((Path(__file__).parents[2] / "traces" / "cooperative").glob("*.itf.json"))
TRACES: dict[str, Trace] = {file.name.removesuffix(".itf.json"): read_trace(file) for file in FILES}


@pytest.mark.parametrize("name", TRACES)
def test_members_and_coordinator_do_as_specified(name: str) -> None:
    assert Replay(TRACES[name]).run() > 2


class RevokesAll(ClassicMember):
    """A member that is eager with any assignors: "revoking all under cooperative"."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.protocol = RebalanceProtocol.EAGER


class KeepsAll(ClassicMember):
    """A member that is cooperative with any assignors, as after a bounce too early, or with old code."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.protocol = RebalanceProtocol.COOPERATIVE


class StaysBehind(ClassicMember):
    """A member that revokes, and does not rejoin: its partitions have no owner."""

    def _rejoin(self, now_ms: int) -> None:
        if self._callbacks.idle:
            super()._rejoin(now_ms)


class TriesAgain(ClassicMember):
    """A member that goes on when it is refused for its assignors."""

    def _end(self, error: Exception, now_ms: int) -> None:
        self._lost(0, now_ms)


class TrustsWhatItHad(ClassicMember):
    """A removed member that keeps its partitions: owned partitions of an old generation."""

    def _out(self) -> None:
        self._start_anew()


MEMBERS: list[type[ClassicMember]] = [RevokesAll, KeepsAll, StaysBehind, TriesAgain, TrustsWhatItHad]


@pytest.mark.parametrize("wrong", MEMBERS)
def test_a_wrong_member_is_noticed(wrong: type[ClassicMember]) -> None:
    """By a trace."""
    with pytest.raises(AssertionError):
        for trace in TRACES.values():
            Replay(trace, wrong).run()


def _at_once(intended: Any, subscriptions: Any) -> Any:
    """An assignor that assigns partitions before their owner has revoked them."""
    return intended


def _assigned_first(self: callbacks.Callbacks, new: Any, whole: Any, assignor: Any, generation: int) -> None:
    """A member that calls on_partitions_assigned before it revokes."""
    ASSIGN(self, new, whole, assignor, generation)
    self._waiting.rotate(1)


ASSIGN = callbacks.Callbacks.assign


def test_callbacks_in_another_order_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks.Callbacks, "assign", _assigned_first)
    with pytest.raises(AssertionError, match="callbacks of ReceiveResponse"):
        for trace in TRACES.values():
            Replay(trace).run()


def a_member_joins() -> World:
    """A cooperative member with everything; then another one, which gets its assignment first."""
    world = World({"a": "new", "b": "new"})
    world.assignors = lambda config: [TwoPhases(ASSIGNORS["range"], "range")]
    world.start("a")
    world.settle()
    world.start("b")
    for _ in range(40):
        for name in ("b", "a"):
            if name in world.consumers:
                world.receive(name)
            if name in world.consumers:
                world.send(name)
        world.advance(500)
    return world


def test_handing_out_at_once_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leader's own check notices; and without that check, two members own one partition."""
    monkeypatch.setattr(handout, "hand_out", _at_once)
    failed = a_member_joins().failed
    assert failed and all(isinstance(error, handout.InconsistentAssignment) for error in failed)
    monkeypatch.setattr(machine, "check", lambda handed, given: None)
    with pytest.raises(AssertionError, match="is owned by"):
        a_member_joins()


def test_one_name_for_eager_and_cooperative_is_noticed() -> None:
    """MCUpgradeOneName: no process is refused, an old leader reads no claims, and hands out partitions that a
    bounced member keeps. With another name the same bounce is refused."""
    new = TwoPhases(ASSIGNORS["range"], "range")
    world = World({"a": "old", "b": "new", "c": "new"})
    world.assignors = lambda config: [ASSIGNORS["range"] if config == "old" else new]
    for name in ("a", "b"):
        world.start(name)
        world.settle()
    world.start("c")
    world.consumers = dict(reversed(world.consumers.items()))
    with pytest.raises(AssertionError, match="is owned by"):
        world.settle()
    assert not world.failed


def test_a_coordinator_that_lets_everyone_in_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """C4: without INCONSISTENT_GROUP_PROTOCOL a single bounce does not end clearly."""
    monkeypatch.setattr(handlers, "supports", lambda group, type, names: True)
    with pytest.raises((AssertionError, ValueError)):
        for name in TRACES:
            if "Straight" in name:
                Replay(TRACES[name]).run()


def test_a_claim_of_an_older_generation_that_is_trusted_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real clients shipped this: the first claim wins, in any generation; see test_handout.py."""
    claimed = claims(a="foo-0@1", b="foo-0@2")
    assert handout.hand_out({"a": parts("foo-0"), "b": parts("")}, claimed) == {
        "a": parts(""),
        "b": parts(""),
    }
    monkeypatch.setattr(handout, "holders", lambda claims: {("foo", 0): {"a"}})
    assert handout.hand_out({"a": parts("foo-0"), "b": parts("")}, claimed)["a"] == parts("foo-0")
