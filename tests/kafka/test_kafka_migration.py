"""Classic groups and online migration on Kafka's own coordinator: traces in its dialect hold, those of the
text are judged to their end, and a classic group is loaded in whatever state it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from kafka_driver import Driver

from harness.itf import read_trace
from harness.replay.calls import FireTimer, SendRequest
from harness.replay.compare import differences
from harness.replay.decode import Decoder
from harness.replay.prepared import DecodedTrace
from harness.replay.run import NOT_LOADED, Replayed, Replayer
from harness.replay.view import View
from harness.targets.base import Answer
from harness.targets.stdio import StdioTarget
from harness.targets.symbolic import SymbolicIds
from harness.values import as_function

pytestmark = pytest.mark.maven

TRACES = Path(__file__).parents[2] / "traces"

MUST_REJOIN = re.compile(r"group\.(members\[.*\]\.classicState|timers\[(join|sync) .*\])")


def decoded(folder: Path) -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(path), path.stem) for path in sorted(folder.glob("*.itf.json"))]


def replayed(target: StdioTarget, traces: Sequence[DecodedTrace]) -> Replayed:
    target.load([], [], {"clockMs": 0})
    replayer = Replayer(SymbolicIds(target), max_differences=100_000)
    for trace in traces:
        replayer.replay(trace)
    return replayer.result


def test_the_migration_of_its_dialect_holds(started: StdioTarget) -> None:
    """Responses, late answers, both kinds of groups, timers and records."""
    traces = decoded(TRACES / "kafka" / started.hello().dialect)
    assert traces
    result = replayed(started, traces)
    assert result.failures == []
    assert result.ended_early == []
    assert result.judged == sum(len(trace.steps) for trace in traces)


def test_its_own_assignor_gives_away_a_partition_that_is_in_use(started: StdioTarget) -> None:
    """R7: the counterexample again, with Kafka's assignor in the place of the trace's targets. At the end the
    consumer is given a partition that the classic member, which was told nothing, still uses."""
    dialect = started.hello().dialect
    files = list((TRACES / "kafka" / dialect).glob("MCKafka*MigrationBack.itf.json"))
    if not files:
        pytest.skip(f"no counterexample in the dialect {dialect} is in traces/kafka")
    raw = read_trace(files[0])
    trace, target = Decoder().decode(raw, files[0].stem), SymbolicIds(started)
    first, apis = trace.steps[0].load, started.hello().apis
    target.load(first.records, first.topics, first.volatile)
    for step in trace.steps:
        if isinstance(step.call, SendRequest):
            answer = target.request(step.call.api, apis[step.call.api][1], step.call.client, step.call.body)
        else:
            assert isinstance(step.call, FireTimer)
            target.fire(step.call.timer, "g", step.call.member)
    assert answer.body is not None
    given = [one["partitions"] for one in answer.body["assignment"]["assignedTopicPartitions"]]
    used: Any = as_function(as_function(raw.states[-1]["processes"])["a"])["owned"]
    assert given == [[1]] and ("foo", 1) in used


@pytest.mark.parametrize("folder", ["classic", "migration"])
def test_traces_of_the_text_are_judged_to_their_end(started: StdioTarget, folder: str) -> None:
    """Traces differ where Kafka departs; after a difference a group is loaded with the trace's state. A step
    that is left out needs an API that Kafka does not have, or follows a state in which Kafka never is: a
    classic member that must rejoin or synchronize, in a mixed group (Kafka arms that timer differently)."""
    result = replayed(started, decoded(TRACES / folder))
    offsets = set() if started.name >= "kafka:4.1" else {"OffsetCommit", "OffsetFetch"}  # by topic id
    reasons = {"ConsumerGroupPrepareAssignment", NOT_LOADED, *offsets}
    assert {ended.reason for ended in result.ended_early} <= reasons
    never = {one.path for failed in result.not_loaded for one in failed.differences}
    assert {path for path in never if not MUST_REJOIN.fullmatch(path)} == set()
    assert folder == "migration" or not never
    assert result.judged > (140 if offsets and never else 150)
    assert 0 < len({(entry.trace, entry.index) for entry in result.failures}) < result.judged


def test_a_classic_group_is_loaded_in_any_state(kafka: Driver) -> None:
    """No record holds which members wait, which requests are pending, and the deadlines of timers."""
    view = View(kafka.target.hello())
    states = set()
    for trace in decoded(TRACES / "classic"):
        for step in trace.steps:
            group = step.expected.group
            if group is None or group.get("type") != "classic":
                continue
            kafka.target.load(step.load.records, step.load.topics, step.load.volatile)
            got = view.of(Answer(group=kafka.target.describe("g")))
            assert differences(view.of(Answer(group=group)), got) == [], (trace.name, step.index)
            states.add(group["state"])
    assert states == {"Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}


def test_a_member_loaded_as_waiting_is_answered(kafka: Driver) -> None:
    """The barrier opens for a JoinGroup that was never sent to this coordinator."""
    trace = next(one for one in decoded(TRACES / "classic") if "initial-delay-is-prolonged" in one.name)
    waits = next(
        step for step in trace.steps if '"JoinGroup client-' in repr(step.load.volatile).replace("'", '"')
    )
    kafka.target.load(waits.load.records, waits.load.topics, waits.load.volatile)
    late = kafka.target.advance(600_000).completed
    assert [one["id"].split()[0] for one in late] == ["JoinGroup"]


def test_a_classic_group_that_the_records_do_not_have_is_refused(kafka: Driver) -> None:
    before = kafka.state()
    answer = kafka.say('{"op": "load", "records": [], "topics": [], "volatile": {"classic": {"g": {}}}}')
    assert b'"ok":false' in answer and b"classic group" in answer
    assert kafka.state() == before
