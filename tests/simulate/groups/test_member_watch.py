"""The simulation watches members: each rule of member_watch.py is broken once, in the real member."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordinator import Coordinator
from coordinator.members.consumer import codes, heartbeat
from coordinator.members.consumer.inflight import InFlight
from coordinator.members.consumer.lifecycle import Lifecycle
from coordinator.members.consumer.machine import Member
from coordinator.members.consumer.offsets import Offsets
from coordinator.members.consumer.ownership import Ownership
from coordinator.members.consumer.types import NOTHING, State
from harness.simulate.groups.report import explain
from harness.simulate.groups.run import SimulationOptions, run_seed, shrunk
from harness.targets.groups.python import PythonParts

EVENTS, SEEDS = 5_000, 8


def _earlier_epoch(patch: pytest.MonkeyPatch) -> None:
    right = Offsets.commit_body
    patch.setattr(
        Offsets, "commit_body", lambda self, parts, member, epoch: right(self, parts, member, epoch - 1)
    )


def _fetches_at_an_earlier_epoch(patch: pytest.MonkeyPatch) -> None:
    right = Offsets.fetch_body
    patch.setattr(
        Offsets, "fetch_body", lambda self, parts, member, epoch: right(self, parts, member, epoch - 1)
    )


def _earlier_position(patch: pytest.MonkeyPatch) -> None:
    right = Offsets.commit_body

    def commit_body(self: Offsets, *given: Any) -> Any:
        body = right(self, *given)
        for topic in body["topics"]:
            for one in topic["partitions"]:
                one["committedOffset"] = max(0, one["committedOffset"] - 1)
        return body

    patch.setattr(Offsets, "commit_body", commit_body)


def _positions_end_with_the_subscription(patch: pytest.MonkeyPatch) -> None:
    right = Member.subscribe

    def subscribe(self: Member, *given: Any, **named: Any) -> None:
        right(self, *given, **named)
        self.offsets.keep(NOTHING)

    patch.setattr(Member, "subscribe", subscribe)


def _commits_only_once(patch: pytest.MonkeyPatch) -> None:
    """The second revocation of a partition has no commit before it."""
    right = Ownership.take
    once: dict[int, frozenset[Any]] = {}

    def take(self: Ownership, committable: frozenset[Any]) -> Any:
        callback = right(self, committable - once.get(id(self), NOTHING))
        once[id(self)] = once.get(id(self), NOTHING) | self.committing
        return callback

    patch.setattr(Ownership, "take", take)


def _commits_without_end(patch: pytest.MonkeyPatch) -> None:
    """A refused commit is reported to the application, and is sent again."""
    right, over = Member._commit_answered, Ownership.commit_over

    def answered(self: Member, request: Any, errors: Any, now_ms: int) -> None:
        failed = set(errors.values()) - {codes.NONE}
        patch.setattr(Ownership, "commit_over", (lambda self: None) if failed else over)
        right(self, request, errors, now_ms)
        patch.setattr(Ownership, "commit_over", over)

    patch.setattr(Member, "_commit_answered", answered)


def _heartbeats_after_each_commit(patch: pytest.MonkeyPatch) -> None:
    right = Member._complete_commit

    def complete(self: Member, *given: Any) -> None:
        self._due_ms = self._sent_ms
        right(self, *given)

    patch.setattr(Member, "_complete_commit", complete)


def _goes_without_leaving(patch: pytest.MonkeyPatch) -> None:
    def leave(self: Lifecycle) -> None:
        if self._in_group and self.epoch > heartbeat.JOIN_EPOCH and self._subscription is not None:
            self._state = State.LEAVING
        else:
            self._out()
            self._state = State.STALE

    patch.setattr(Lifecycle, "_leave", leave)


def _two_requests(patch: pytest.MonkeyPatch) -> None:
    right = Member.take_request

    def take(self: Member, now_ms: int) -> Any:
        request = right(self, now_ms)
        if request is not None and request.api == "OffsetFetch":
            self._in_flight.end(request.correlation)
        return request

    patch.setattr(Member, "take_request", take)


def _heartbeats_at_an_earlier_epoch(patch: pytest.MonkeyPatch) -> None:
    right = heartbeat.keep_alive
    patch.setattr(
        heartbeat,
        "keep_alive",
        lambda settings, member, epoch: right(settings, member, epoch - 1 if epoch > 1 else epoch),
    )


def _takes_any_answer(patch: pytest.MonkeyPatch) -> None:
    def end(self: InFlight, correlation: int) -> Any:
        request, self.request = self.request, None
        return request

    patch.setattr(InFlight, "end", end)


def _keeps_positions(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Offsets, "keep", lambda self, owned: None)


def _begins_before_0(patch: pytest.MonkeyPatch) -> None:
    right = Offsets.fetch_answered

    def fetch_answered(self: Offsets, *given: Any) -> Any:
        before = set(self.positions)
        errors = right(self, *given)
        self.positions.update((one, -1) for one in self.positions.keys() - before if not self.positions[one])
        return errors

    patch.setattr(Offsets, "fetch_answered", fetch_answered)


BROKEN: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str, str]] = {
    "a commit at the epoch before": (_earlier_epoch, "O4", "CommitsAtTheEpochTold"),
    "a fetch of offsets at the epoch before": (
        _fetches_at_an_earlier_epoch,
        "O4",
        "FetchesAtTheEpochTold",
    ),
    "a commit of the position before": (_earlier_position, "O3", "CommitsItsPosition"),
    "positions forgotten at subscribe": (_positions_end_with_the_subscription, "O3", "PositionsGoForward"),
    "no commit before the second revocation": (_commits_only_once, "K2", "CommitsBeforeItRevokes"),
    "a refused commit is repeated": (_commits_without_end, "K2", "RevokesAllTheSame"),
    "a heartbeat after each commit": (_heartbeats_after_each_commit, "H9", "WaitsForTheInterval"),
    "an answer to an earlier request counts": (_takes_any_answer, "G8", "NothingRaises"),
    "positions of lost partitions": (_keeps_positions, "O3", "PositionsOfWhatItOwns"),
    "a first position that is not the group's": (_begins_before_0, "O3", "BeginsWhereTheGroupStopped"),
    "close without leaving": (_goes_without_leaving, "H2", "LeavesBeforeItEnds"),
    "two requests at once": (_two_requests, "R9", "OneRequestInFlight"),
    "a heartbeat at the epoch before": (_heartbeats_at_an_earlier_epoch, "E4", "SaysTheEpochTold"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_member_is_noticed(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few seeds find it, by the rule that it breaks."""
    apply, requirement, invariant = BROKEN[broken]
    apply(monkeypatch)
    results = set()
    for seed in range(SEEDS):
        outcome = run_seed(PythonParts(), SimulationOptions(events=EVENTS), seed)
        if outcome.violation is not None:
            results.add((outcome.violation.requirement, outcome.violation.invariant))
        if (requirement, invariant) in results:
            break
    assert (requirement, invariant) in results


def test_a_coordinator_that_cannot_describe_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The states that a report lacks are counted with their reason."""

    def describe(self: Coordinator, group: str) -> Any:
        raise KeyError(group)

    _earlier_epoch(monkeypatch)
    monkeypatch.setattr(Coordinator, "describe", describe)
    result = run_seed(PythonParts(), SimulationOptions(events=EVENTS), 0).violation
    assert result is not None
    short = shrunk(PythonParts(), result)
    ((fault, times),) = short.undescribed
    assert fault.endswith("KeyError: 'g'") and times > len(short.schedule.events) // 2
    lines = list(explain(short, Path("schedule.json"), None))
    assert f"  the coordinator could not describe a group, {times} times; {fault}" in lines
