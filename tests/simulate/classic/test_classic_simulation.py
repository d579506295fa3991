"""`conform simulate --kind classic`: whole classic groups under faults, and a fault for each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from coordinator.classic import handlers, service
from coordinator.core.errors import ErrorCode
from coordinator.members.classic import bodies, machine
from coordinator.members.classic.callbacks import Callbacks
from coordinator.members.classic.machine import ClassicMember
from coordinator.members.classic.types import NOTHING, Phase
from coordinator.members.consumer.metrics import RebalanceMetrics
from harness.cli.main import app
from harness.simulate.groups.run import Outcome, SimulationOptions, play, run_seed, shrunk
from harness.targets.groups.parts import parts_of

EVENTS = 1_500
OPTIONS = SimulationOptions(kind="classic", events=EVENTS)


def played(options: SimulationOptions, seed: int) -> Outcome:
    return run_seed(parts_of("classic"), options, seed)


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [played(OPTIONS, seed) for seed in range(12)]


def test_the_members_and_the_coordinator_keep_every_rule(outcomes: list[Outcome]) -> None:
    assert [one.violation for one in outcomes] == [None] * len(outcomes)


def test_everything_that_may_happen_happens(outcomes: list[Outcome]) -> None:
    """Each fault, and the errors that answers have in a dozen seeds."""
    faults, answers, states = Counter[str](), Counter[str](), Counter[str]()
    for one in outcomes:
        faults.update(one.counts.faults)
        answers.update(one.counts.answers)
        states.update(one.counts.states)
    assert [name for name, count in faults.items() if not count] == []
    assert {"PreparingRebalance", "CompletingRebalance", "Stable", "Empty"} <= states.keys()
    errors = {name.partition(" ")[2] for name in answers} - {"accepted"}
    assert errors >= {
        *("MEMBER_ID_REQUIRED", "UNKNOWN_MEMBER_ID", "REBALANCE_IN_PROGRESS"),
        *("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS"),
        *("FENCED_INSTANCE_ID", "UNKNOWN_TOPIC_OR_PARTITION"),
    }
    assert sum(one.counts.rebalances for one in outcomes) > 100


def test_a_seed_gives_the_same_again(outcomes: list[Outcome]) -> None:
    assert played(OPTIONS, 3).digest == outcomes[3].digest
    assert len({one.digest for one in outcomes}) == len(outcomes)


def test_a_zombie_owns_what_another_member_owns() -> None:
    """Without the exemption the simulation must fail, in a short schedule that can be played again."""
    options = replace(OPTIONS, exemption=False)
    violation = next(one for seed in range(20) if (one := played(options, seed).violation))
    assert violation.kind == ("C4", "OwnedByOneMember")
    short = shrunk(parts_of("classic"), violation)
    assert len(short.schedule.events) < 60
    failed = play(parts_of("classic"), short.schedule.settings, short.schedule.events, settles=False)
    assert failed is not None and failed.violation.invariant == "OwnedByOneMember"


# Faults, one for each rule


def without_prepare(self: ClassicMember) -> None:
    self._prepared = True


def without_backing_off(self: ClassicMember, now_ms: int) -> None:
    pass


def always_commits(self: ClassicMember, offsets: Any) -> None:
    self._offsets.update(offsets)


def loses_commits(self: ClassicMember, request: Any) -> None:
    pass


def gives_up_all(self: Callbacks, partitions: Any, gone: Any = NOTHING) -> None:
    REAL["give_up"](self, self.owned - self._being_revoked if partitions else partitions, gone)


def assigns_all(self: Callbacks, new: Any, whole: Any, assignor: Any, group: Any) -> None:
    REAL["assign"](self, whole.partitions, whole, assignor, group)


def tells_the_assignor_what_is_new(self: Callbacks, new: Any, whole: Any, assignor: Any, group: Any) -> None:
    REAL["assign"](self, new, replace(whole, partitions=new), assignor, group)


def forgets_losses(self: Callbacks) -> None:
    self._waiting.clear()


def counts_nothing(self: RebalanceMetrics, now_ms: int) -> None:
    pass


POLLS = Counter[int]()


def calls_on_the_second_poll(self: Callbacks, now_ms: int) -> Any:
    POLLS[id(self)] += 1
    return REAL["take"](self, now_ms) if POLLS[id(self)] % 2 else None


def revokes_what_is_lost(self: Callbacks) -> None:
    self.end()


def fetches_all(self: Callbacks) -> Any:
    return self.owned


def hides_errors(self: Callbacks, error: BaseException) -> None:
    pass


def never_rejoins(self: ClassicMember, now_ms: int) -> None:
    if self.phase is not Phase.STABLE:
        REAL["rejoin"](self, now_ms)


def slow_heartbeats(self: ClassicMember, api: str, now_ms: int) -> Any:
    body = REAL["body"](self, api, now_ms)
    if api == "Heartbeat":
        self._due_ms += 3_000
    return body


def quick_heartbeats(self: ClassicMember, api: str, now_ms: int) -> Any:
    body = REAL["body"](self, api, now_ms)
    if api == "Heartbeat":
        self._due_ms -= 2_000
    return body


def keeps_its_id(self: ClassicMember, error: int, now_ms: int) -> None:
    member_id = self.member_id
    REAL["lost"](self, error, now_ms)
    self.member_id = member_id


def claims_nothing(*args: Any, **named: Any) -> Any:
    return REAL["join"](*args[:4], NOTHING, *args[5:], **named)


def assigns_to_itself(self: ClassicMember) -> Any:
    handed = dict(REAL["handed"](self))
    if own := handed.get(self.member_id):
        everything = frozenset[Any]().union(*(one.partitions for one in handed.values()))
        handed[self.member_id] = replace(own, partitions=everything)
    return handed


def no_assignment(self: ClassicMember) -> Any:
    return {name: replace(one, partitions=NOTHING) for name, one in REAL["handed"](self).items()}


def commits_as_generation_0(settings: Any, member_id: str, generation: int, offsets: Any) -> Any:
    return REAL["commit"](settings, member_id, 0, offsets)


def leaves_nobody(settings: Any, member_id: str) -> Any:
    return {"groupId": settings.group_id, "members": []}


def commits_of_any_generation(*_: Any) -> ErrorCode:
    return ErrorCode.NONE


def forgets_who_waits(self: service.ClassicGroups, code: ErrorCode, now_ms: int) -> None:
    pass


def heartbeat_is_fine(*_: Any) -> Any:
    return service.heartbeat_response(ErrorCode.NONE)


REAL: dict[str, Callable[..., Any]] = {
    "give_up": Callbacks.give_up,
    "assign": Callbacks.assign,
    "take": Callbacks.take,
    "rejoin": ClassicMember._rejoin,
    "body": ClassicMember._body,
    "lost": ClassicMember._lost,
    "handed": ClassicMember._handed,
    "join": bodies.join,
    "commit": bodies.commit,
}
FAULTS: list[tuple[object, str, object, str]] = [
    (ClassicMember, "_prepare", without_prepare, "EagerOwnsNothingBetween GivesUp"),
    (ClassicMember, "_back_off", without_backing_off, "BacksOff"),
    (ClassicMember, "commit", always_commits, "CommitsOutsideOfRebalances"),
    (ClassicMember, "_commit_again", loses_commits, "CommitsAtOnce CommitsOfItsGeneration"),
    (ClassicMember, "_rejoin", never_rejoins, "RejoinsAtOnce CommitsOutsideOfRebalances"),
    (ClassicMember, "_body", slow_heartbeats, "HeartbeatsInTime"),
    (ClassicMember, "_body", quick_heartbeats, "NotTooOften"),
    (ClassicMember, "_lost", keeps_its_id, "JoinsUnderItsId"),
    (ClassicMember, "_handed", assigns_to_itself, "LegalAssignment"),
    (ClassicMember, "_handed", no_assignment, "LegalAssignment"),
    (Callbacks, "give_up", gives_up_all, "KeepsWhatStays"),
    (Callbacks, "assign", assigns_all, "AssignedAfterRevoked"),
    (Callbacks, "lose", revokes_what_is_lost, "AbandonsAtOnce KeepsWhatStays"),
    (Callbacks, "fetchable", property(fetches_all), "FetchesWhatItOwns"),
    (Callbacks, "fail", hides_errors, "ErrorsAreTold"),
    (Callbacks, "take", calls_on_the_second_poll, "CallbacksAreCalled"),
    (Callbacks, "_clear", forgets_losses, "CallbacksAreCalled"),
    (Callbacks, "assign", tells_the_assignor_what_is_new, "AssignorHearsFirst"),
    (RebalanceMetrics, "failed", counts_nothing, "MetricsAreRight"),
    (RebalanceMetrics, "callback_ended", counts_nothing, "MetricsAreRight"),
    (machine.bodies, "join", claims_nothing, "ClaimsWhatItOwns"),
    (machine.bodies, "commit", commits_as_generation_0, "CommitsOfItsGeneration"),
    (machine.bodies, "leave", leaves_nobody, "LeavesOnce"),
    (handlers, "commit_error", commits_of_any_generation, "CommitsAreFenced"),
    (handlers, "heartbeat", heartbeat_is_fine, "ClassicErrorsExactly"),
    (service.ClassicGroups, "refuse_waiting", forgets_who_waits, "EveryRequestIsAnswered"),
]


@pytest.mark.parametrize(
    ("owner", "name", "fault", "rules"), FAULTS, ids=[f"{name} {rules}" for _, name, _, rules in FAULTS]
)
def test_a_fault_breaks_its_rule(
    owner: Any, name: str, fault: object, rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within twenty seeds; of two rules that a fault may break, one is enough."""
    monkeypatch.setattr(owner, name, fault)
    violation = next((one for seed in range(20) if (one := played(OPTIONS, seed).violation)), None)
    assert violation is not None and violation.invariant in rules.split(), violation and str(violation)[:300]


# The command


def test_the_command_names_the_kind(tmp_path: Path) -> None:
    arguments = ["simulate", "--kind", "classic", "--events", "300", "--no-kept", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "events on whole classic groups (python, kip-848)" in result.output
    assert "again: conform simulate --seed 848 --events 300 --kind classic" in result.output


def test_a_violation_is_kept_and_played_again(tmp_path: Path) -> None:
    options = ["--kind", "classic", "--without", "exemption", "--seed", "7", "--events", "1500", "--no-kept"]
    first = CliRunner().invoke(app, ["simulate", *options, "--out", str(tmp_path)])
    (path,) = tmp_path.iterdir()
    assert first.exit_code == 11 and path.name == "C4-OwnedByOneMember-7.json"
    again = CliRunner().invoke(app, ["simulate", "--replay", str(path)])
    assert again.exit_code == 11
    assert "JoinGroup as a new member" in again.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "classical"], "Whole groups of the kind 'classical' are not simulated"),
        (["--kind", "classic", "--without", "r9"], "does not rely on r9; --without takes exemption."),
        (["--kind", "classic", "--record", "log.jsonl"], "--record takes no run of classic groups"),
    ],
)
def test_a_wrong_command_line_says_what_to_do(options: list[str], message: str) -> None:
    result = CliRunner().invoke(app, ["simulate", *options])
    assert result.exit_code == 2
    assert message in result.output
