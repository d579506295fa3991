"""Two targets on one schedule: they agree, or the shortest way to where they do not is found."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest
import seeded_target
from test_schedules import DIALECTS, foo, heartbeat, part

from coordinator import Dialect
from harness.errors import ConformError
from harness.simulate.pair import Pair
from harness.simulate.repeat import repeat
from harness.simulate.run import Simulated, simulate
from harness.simulate.schedule import Schedule, action
from harness.targets import open_target
from harness.targets.base import Answer, Json
from harness.targets.python import PythonTarget

COORDINATOR = f"stdio:{sys.executable} -m coordinator --stdio --dialect"
SETTINGS: Json = {"group.consumer.session.timeout.ms": 45_000}


@contextmanager
def opened(against: str, dialect: str, against_dialect: str | None = None) -> Iterator[Pair]:
    with ExitStack() as stack:
        names = [("python", dialect), (against, against_dialect or dialect)]
        yield Pair(*(stack.enter_context(closing(open_target(*name))) for name in names))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_coordinator_does_the_same_in_another_process(dialect: str) -> None:
    with opened(f"{COORDINATOR} {dialect}", dialect) as pair:
        result = simulate(pair, 848, 1000, 200)
    assert (result.divergences, result.seen) == ([], {})
    assert result.steps == 1000
    assert sum(result.ways.values()) == sum(result.states.values()) == 1000
    assert result.ways["Heartbeat/NONE"] > 200
    assert set(pair.hidden) == Dialect.named(dialect).unobserved


SEEDED: list[tuple[str, Any, str, list[str]]] = [
    ("AwaySession", "renewed", "LeaveTemporarily/NONE: group.timers[session].deadlineMs",
     ["Join", "Advance", "LeaveTemporarily"]),
    ("ReturnLeftOut", "forgotten", "Join/NONE: group.members[].serverAssignor",
     ["Join", "LeaveTemporarily", "Join"]),
    ("LastLeaveAdvancesAssignmentEpoch", True, "Leave/NONE: group.assignmentEpoch", ["Join", "Leave"]),
    ("MetadataChange", "at-once", "ChangeTopics: group.groupEpoch", ["Join", "ChangeTopics"]),
    ("FullGroupRefuses", "joins", "Heartbeat/GROUP_MAX_SIZE_REACHED: response.errorCode 81 -> 25",
     ["Join", "Join", "Join", "Heartbeat"]),
    ("AwayCommits", False, "OffsetCommit/NONE: response.topics",
     ["ChangeTopics", "Join", "LeaveTemporarily", "OffsetCommit"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("constant", "value", "signature", "minimum"), SEEDED, ids=[one[0] for one in SEEDED]
)
def test_a_seeded_bug_is_caught_and_its_schedule_shrunk(
    constant: str, value: Any, signature: str, minimum: list[str]
) -> None:
    """S1, H8, E1, E2, H5, O2: to the operations that a person would write."""
    with opened(seeded_target.target("kafka-4.2", constant, value), "kafka-4.2") as pair:
        result = simulate(pair, 850, 5000, 200, waives=lambda one: one != signature)
        (finding,) = result.divergences
        again = repeat(pair, finding.schedule)
    assert [action(operation) for operation in finding.schedule.operations] == minimum
    assert again.number == len(minimum)
    assert again.done.differences == finding.done.differences
    assert finding.operations >= len(minimum)


def test_two_dialects_differ_and_each_run_ends_with_its_first_difference() -> None:
    with opened(f"{COORDINATOR} kafka-4.3", "kafka-4.2", "kafka-4.3") as pair:
        result = simulate(pair, 1, 60, 10, most=2)
    (outcome, *_) = result.divergences
    assert outcome.signature == "Join/NONE: response.memberEpoch"
    assert [action(operation) for operation in outcome.schedule.operations] == ["Join"]
    assert result.seen[outcome.signature] > 1


def test_waived_differences_are_counted_and_not_shrunk() -> None:
    with opened(f"{COORDINATOR} kafka-4.3", "kafka-4.2", "kafka-4.3") as pair:
        result = simulate(pair, 1, 60, 10, waives=lambda _: True)
    assert result.divergences == [] and result.seen["Join/NONE: response.memberEpoch"] > 1
    assert result.steps == 60


class Wrong(PythonTarget):
    """The coordinator, but what it answers to `request` is changed."""

    def __init__(self, change: Callable[[Answer], Answer], controls: frozenset[str] = frozenset()) -> None:
        super().__init__("kafka-4.2")
        self._change, self._lacks = change, controls

    def hello(self) -> Any:
        known = super().hello()
        return type(known)(known.name, known.dialect, known.apis, known.controls - self._lacks)

    def request(self, *given: Any, **more: Any) -> Answer:
        return self._change(super().request(*given, **more))


def unchanged(answer: Answer) -> Answer:
    return answer


def nothing(answer: Answer) -> Answer:
    return answer._replace(records=[])


def wordy(answer: Answer) -> Answer:
    body = {**(answer.body or {})}
    if body.get("errorCode"):
        body["errorMessage"] = "another one"
    body.pop("throttleTimeMs", None)
    return answer._replace(body=body)


JOINS = (
    foo(2),
    {**heartbeat("m1", 0, rebalanceTimeoutMs=5000, subscribedTopicNames=["foo"], topicPartitions=[])},
)


def done(change: Callable[[Answer], Answer], *operations: Json) -> list[str]:
    """The signatures of the first difference with a target whose answers are changed."""
    pair = Pair(PythonTarget("kafka-4.2"), Wrong(change))
    seen = repeat(pair, Schedule(SETTINGS, operations))
    return seen.done.signatures()


def test_the_compared_parts() -> None:
    script = {"m1": [part("foo", 0)]}
    joins = JOINS[0], {**JOINS[1], "script": script}
    assert done(unchanged, *joins) == []
    assert done(nothing, *joins)[0] == "Join/NONE: records[ConsumerGroupMemberMetadata]"
    assert done(wordy, *joins, heartbeat("m1", 7), heartbeat("m2", 7)) == []
    assert done(lambda answer: answer._replace(consumed=False), *joins) == ["Join/NONE: scripted target used"]


def test_a_target_that_nobody_scripted_is_not_compared() -> None:
    """The target is an assignor's choice; the schedule ends there."""
    pair = Pair(PythonTarget("kafka-4.2"), Wrong(unchanged))
    pair.start(SETTINGS)
    assert [pair.do(operation).unscripted for operation in JOINS] == [False, True]
    assert done(nothing, *JOINS) == []


def test_a_refusal_by_one_target_is_a_difference() -> None:
    pair = Pair(PythonTarget("kafka-4.2"), PythonTarget("kafka-4.2"))
    pair.start(SETTINGS)
    fire: Json = {"op": "fire", "timer": "session", "member": "m1"}
    assert pair.do(fire).differences == []
    join = {**JOINS[1], "script": {}}
    pair.targets[1].request(join["api"], 0, join["client"], join["body"])
    (difference,) = pair.do(fire).differences
    assert (difference.path, difference.got) == ("operation fire", "done")
    assert difference.expected.startswith("refused: timer 'session' of 'm1'")


def test_timers_that_run_out_together_do_so_in_any_order() -> None:
    class Backwards(PythonTarget):
        def advance(self, ms: int, observe: str | None = None) -> Answer:
            answer = super().advance(ms, observe)
            half = len(answer.records) // 2
            records = [*answer.records[half:], *answer.records[:half]]
            return answer._replace(fired=answer.fired[::-1], records=records)

    pair = Pair(PythonTarget("kafka-4.2"), Backwards("kafka-4.2"))
    other = heartbeat("m2", 0, rebalanceTimeoutMs=5000, subscribedTopicNames=[], topicPartitions=[])
    joins = [{**join, "script": {}} for join in (*JOINS, other)]
    end = repeat(pair, Schedule(SETTINGS, (*joins, {"op": "advance", "ms": 45_000})))
    assert (end.number, end.done.differences, len(end.done.answer.fired)) == (4, [], 2)


def test_a_target_that_lacks_what_is_needed_is_refused() -> None:
    with pytest.raises(
        ConformError, match="The target python has no describe, load, without which"
    ) as caught:
        Pair(PythonTarget("kafka-4.2"), Wrong(unchanged, frozenset({"load", "describe", "fire"})))
    assert caught.value.exit_code == 2


def test_progress_is_printed_for_every_step() -> None:
    answer: list[int] = []

    def progress(so_far: Simulated) -> None:
        answer.append(so_far.steps)

    simulate(Pair(PythonTarget("kafka-4.2"), PythonTarget("kafka-4.2")), 1, 50, 20, progress=progress)
    assert answer == list(range(1, 51))


def test_true_is_not_1() -> None:
    """To Python they are equal, and not to a client."""

    def typed(answer: Answer) -> Answer:
        return answer._replace(group={**(answer.group or {}), "groupEpoch": True})

    joins = JOINS[0], {**JOINS[1], "script": {"m1": [part("foo", 0)]}}
    pair = Pair(Wrong(unchanged), Wrong(typed))
    assert repeat(pair, Schedule(SETTINGS, joins)).done.signatures() == ["Join/NONE: group.groupEpoch"]
