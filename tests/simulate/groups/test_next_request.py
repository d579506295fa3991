"""The rules of the request that a member sends next, each broken once: in the real member, or by messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coordinator.members.consumer import codes
from coordinator.members.consumer.inflight import InFlight
from coordinator.members.consumer.lifecycle import Lifecycle
from coordinator.members.consumer.machine import Member
from harness.simulate.groups import draw
from harness.simulate.groups.next_request import FIND, HEARTBEAT, NextRequest
from harness.simulate.groups.parts import Violation
from harness.simulate.groups.run import SimulationOptions, run_seed
from harness.simulate.groups.words import of_answer
from harness.targets.base import Json
from harness.targets.groups.python import PythonParts

TOPIC = [{"topicId": "foo", "partitions": [0]}]
FOO = frozenset({("foo", 0)})


def heartbeat(epoch: int, owned: list[Json] | None = None) -> Json:
    return {"memberEpoch": epoch, "topicPartitions": owned}


def answer(error: int = 0, assigned: list[Json] | None = None) -> Json:
    assignment = None if assigned is None else {"assignedTopicPartitions": assigned}
    return {"errorCode": error, "heartbeatIntervalMs": 5_000, "assignment": assignment}


def joined(static: bool = False) -> NextRequest:
    """A member that is in the group since time 0, and has acknowledged that it has foo-0."""
    member = NextRequest("m", static)
    for epoch, owned in ((0, []), (1, TOPIC)):
        member.sends(HEARTBEAT, heartbeat(epoch, owned), 0)
        member.answered(HEARTBEAT, heartbeat(epoch, owned), answer(assigned=TOPIC), 0)
    return member


COMMIT = {"topics": [{"topicId": "foo", "partitions": [{"partitionIndex": 0, "errorCode": 113}]}]}
FETCH = {"groups": [{"errorCode": 113}]}


def finds(member: NextRequest) -> None:
    member.answered(HEARTBEAT, heartbeat(1), answer(16), 0)
    member.sends(HEARTBEAT, heartbeat(1), 1_000)


def epoch(member: NextRequest) -> None:
    member.answered("OffsetFetch", {}, FETCH, 0)
    member.sends("OffsetFetch", {}, 1_000)


def epoch_at_once(member: NextRequest) -> None:
    member.answered("OffsetCommit", COMMIT, COMMIT, 0)
    member.waits("STABLE", FOO, 2_000, 0)


def pauses(member: NextRequest) -> None:
    member.answered(HEARTBEAT, heartbeat(1), answer(14), 0)
    member.sends(HEARTBEAT, heartbeat(1), 99)


def acknowledges(member: NextRequest) -> None:
    member.answered(HEARTBEAT, heartbeat(1), answer(assigned=[]), 10)
    member.waits("STABLE", FOO, 5_000, 10)
    member.waits("STABLE", frozenset(), 10, 10)
    member.waits("STABLE", frozenset(), 11, 10)


def in_time(member: NextRequest) -> None:
    member.waits("STABLE", FOO, 5_000, 0)
    member.waits("STABLE", FOO, 5_001, 0)


def joins(member: NextRequest) -> None:
    member.answered(HEARTBEAT, heartbeat(1), answer(25), 10)
    member.waits("JOINING", frozenset(), 1_010, 10)
    member.waits("JOINING", frozenset(), 1_011, 10)


def leaves_at_once(member: NextRequest) -> None:
    member.waits("LEAVING", frozenset(), None, 0)


def leaves_once(member: NextRequest) -> None:
    member.sends(HEARTBEAT, heartbeat(-1), 0)
    member.answered(HEARTBEAT, heartbeat(-1), answer(25), 0)
    member.sends(HEARTBEAT, heartbeat(-1), 1_000)


def leaves_unjoined(member: NextRequest) -> None:
    member.answered(HEARTBEAT, heartbeat(1), answer(110), 0)
    member.sends(HEARTBEAT, heartbeat(-1), 1_000)


def leaves_for_good(member: NextRequest) -> None:
    member.gives_up("STABLE", for_a_while=True, until_ms=30_000)
    member.sends(HEARTBEAT, heartbeat(-2), 0)


def leaves_in_vain(member: NextRequest) -> None:
    member.gives_up("STABLE", for_a_while=True, until_ms=30_000)
    member.sends(HEARTBEAT, heartbeat(-1), 0)
    member.answered(HEARTBEAT, heartbeat(-1), answer(14), 0)
    member.ended(30_000)
    member.ended(29_999)


def leaves_for_ever(member: NextRequest) -> None:
    member.gives_up("STABLE", for_a_while=False, until_ms=30_000)
    member.sends(HEARTBEAT, heartbeat(-1), 0)
    member.failed(True, 29_999)
    member.waits("LEAVING", frozenset(), 30_999, 29_999)
    member.sends(FIND, {}, 30_999)
    member.failed(True, 60_999)
    member.waits("UNSUBSCRIBED", frozenset(), None, 60_999)
    member.waits("LEAVING", frozenset(), 60_999, 60_999)


def commits_for_ever(member: NextRequest) -> None:
    member.gives_up("STABLE", for_a_while=False, until_ms=30_000)
    member.sends(HEARTBEAT, heartbeat(1), 0)
    member.nothing_to_run("PREPARE_LEAVING")
    member.failed(False, 29_999)
    member.nothing_to_run("PREPARE_LEAVING")
    for now_ms in (30_000, 60_000):
        member.failed(False, now_ms)
        member.nothing_to_run("PREPARE_LEAVING")


def fails_when_removed(member: NextRequest) -> None:
    refused = joined()
    refused.answered(HEARTBEAT, heartbeat(1), answer(111), 0)
    refused.waits("FATAL", frozenset(), None, 0)
    for error in (0, 14, 25, 110):
        member.answered(HEARTBEAT, heartbeat(1), answer(error), 0)
    member.answered("OffsetCommit", COMMIT, COMMIT, 0)
    member.waits("FATAL", frozenset(), None, 0)


def commit_of_nobody(member: NextRequest) -> None:
    member.commits.begins()
    member.commits.ends(FOO, 7)
    member.commits.ends(FOO, 7)


def commit_without_answer(member: NextRequest) -> None:
    member.commits.begins()
    member.commits.ends(FOO, 0)


def commit_with_another_error(member: NextRequest) -> None:
    member.commits.begins()
    member.answered("OffsetCommit", COMMIT, COMMIT, 0)
    member.commits.ends(FOO, 3)


def commit_without_end(member: NextRequest) -> None:
    member.commits.begins()
    member.commits.nothing_runs()
    member.answered(HEARTBEAT, heartbeat(1), answer(110), 0)
    member.commits.nothing_runs()


BROKEN: dict[Callable[[NextRequest], None], tuple[str, str]] = {
    finds: ("H5", "FindsCoordinatorAnew"),
    epoch: ("O4", "WaitsForTheEpoch"),
    epoch_at_once: ("O4", "AsksForTheEpochAtOnce"),
    pauses: ("H5", "BacksOff"),
    acknowledges: ("K2", "AcknowledgesAtOnce"),
    in_time: ("H8", "HeartbeatsInTime"),
    joins: ("K1", "JoinsOrLeavesAtOnce"),
    leaves_at_once: ("H2", "JoinsOrLeavesAtOnce"),
    leaves_once: ("H2", "LeavesOnce"),
    leaves_unjoined: ("H2", "LeavesWhatItJoined"),
    leaves_for_good: ("H2", "LeavesForGoodOrForAWhile"),
    leaves_in_vain: ("K4", "LeavesUntilTheTimeOut"),
    leaves_for_ever: ("K4", "EndsAtTheTimeOut"),
    commits_for_ever: ("K4", "RevokesInTime"),
    fails_when_removed: ("K1", "FailsForAReason"),
    commit_of_nobody: ("O4", "CommitsEndOnce"),
    commit_without_answer: ("O4", "CommitsEndAsAnswered"),
    commit_with_another_error: ("O4", "CommitsEndAsAnswered"),
    commit_without_end: ("O4", "CommitsEnd"),
}


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.__name__)
def test_a_broken_rule(broken: Callable[[NextRequest], None]) -> None:
    """The last message breaks the rule."""
    with pytest.raises(Violation) as caught:
        broken(joined())
    assert (caught.value.requirement, caught.value.invariant) == BROKEN[broken]


def test_a_static_member_leaves_for_a_while() -> None:
    """S1: a static member that closes may be back, and one that unsubscribes leaves for good."""
    closed, unsubscribed = joined(static=True), joined(static=True)
    closed.gives_up("STABLE", for_a_while=True, until_ms=30_000)
    closed.sends(HEARTBEAT, heartbeat(-2), 0)
    unsubscribed.gives_up("STABLE", for_a_while=False, until_ms=30_000)
    with pytest.raises(Violation, match="S1, LeavesForGoodOrForAWhile"):
        unsubscribed.sends(HEARTBEAT, heartbeat(-2), 0)


def _never_finds(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(codes, "COORDINATOR_MOVED", frozenset())


def _never_pauses(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(InFlight, "back_off", lambda self, now_ms: None)


def _always_pauses_shortly(patch: pytest.MonkeyPatch) -> None:
    right = InFlight.back_off

    def back_off(self: InFlight, now_ms: int) -> None:
        self.failures = 0
        right(self, now_ms)

    patch.setattr(InFlight, "back_off", back_off)


def _acknowledges_later(patch: pytest.MonkeyPatch) -> None:
    right = Lifecycle._go_on

    def go_on(self: Lifecycle, now_ms: int) -> None:
        self._changed = False
        right(self, now_ms)

    patch.setattr(Lifecycle, "_go_on", go_on)


def _hides_errors(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Member, "_fail", lambda self, error: None)


def _loses_commits(patch: pytest.MonkeyPatch) -> None:
    def complete(self: Member, *given: Any) -> None: ...

    patch.setattr(Member, "_complete_commit", complete)


def _always_leaves_for_a_while(patch: pytest.MonkeyPatch) -> None:
    right = Lifecycle._leave

    def leave(self: Lifecycle) -> None:
        self._temporarily = True
        right(self)

    patch.setattr(Lifecycle, "_leave", leave)


def _fails_when_removed(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(codes, "REMOVED", frozenset({codes.UNKNOWN_MEMBER_ID}))


def _fetches_at_a_stale_epoch(patch: pytest.MonkeyPatch) -> None:
    def answered(self: Member, errors: frozenset[int], unknown: object, now_ms: int) -> None:
        self._ended(not errors and not unknown, now_ms, *errors)

    patch.setattr(Member, "_offsets_answered", answered)
    patch.setattr(draw, "WRONG", (0.1, 0.1))


def _leaves_for_ever(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Member, "_leave_in_time", lambda self, failed, now_ms: None)


MEMBERS: dict[Callable[[pytest.MonkeyPatch], None], tuple[str, str]] = {
    _never_finds: ("H5", "FindsCoordinatorAnew"),
    _never_pauses: ("H5", "BacksOff"),
    _always_pauses_shortly: ("H5", "BacksOff"),
    _acknowledges_later: ("K2", "AcknowledgesAtOnce"),
    _hides_errors: ("K3", "ErrorsAreTold"),
    _loses_commits: ("R8", "EventuallyConverged"),
    _always_leaves_for_a_while: ("S1", "LeavesForGoodOrForAWhile"),
    _leaves_for_ever: ("K4", "EndsAtTheTimeOut"),
    _fails_when_removed: ("K1", "FailsForAReason"),
    _fetches_at_a_stale_epoch: ("O4", "WaitsForTheEpoch"),
}


@pytest.mark.parametrize("broken", MEMBERS, ids=lambda broken: broken.__name__)
def test_a_broken_member(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few seeds show a member with the fault, by the rule that it breaks."""
    broken(monkeypatch)
    outcomes = (run_seed(PythonParts(), SimulationOptions(events=2_500), seed) for seed in range(20))
    violations = (one.violation.kind for one in outcomes if one.violation is not None)
    assert MEMBERS[broken] in violations


def test_an_answer_to_find_coordinator_is_drawn() -> None:
    """A drawing of a schedule has such answers, with and without an error."""
    there = {"coordinators": [{"key": "g", "errorCode": 0, "errorMessage": None}]}
    away = {"coordinators": [{"key": "g", "errorCode": 15, "errorMessage": None}]}
    assert [of_answer(body, {}) for body in (there, away)] == ["the coordinator", "COORDINATOR_NOT_AVAILABLE"]
