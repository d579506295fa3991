"""The specification's log against the records that a target must write (P1), and against tampering (P3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from expected_steps import kinds
from frozendict import frozendict

from harness.engines.base import Limits, Model
from harness.errors import ConformError
from harness.generate import simulate
from harness.itf import Trace, read_trace
from harness.kinds.consumer.records import written
from harness.replay.decode import Decoder
from harness.replay.run import Replayer
from harness.targets import open_target
from harness.targets.base import Json

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "traces" / "corpus").glob("MCLog*.itf.json"))


def logged(name: str) -> Trace:
    """The committed trace of a model with a log."""
    (result,) = [path for path in FILES if path.name.startswith(f"{name}-")]
    return read_trace(result)


def sentence(trace: Trace) -> str:
    with pytest.raises(ConformError) as caught:
        Decoder().decode(trace, "t")
    assert caught.value.exit_code == 2 and caught.value.message.endswith(".")
    return caught.value.message


def appended(trace: Trace) -> Iterator[tuple[int, Any]]:
    """Each record of the log with the state that has it first; those of a Compact are older."""
    states: list[Any] = trace.states
    for index in range(1, len(states)):
        for record in states[index]["log"] - states[index - 1]["log"]:
            yield index, record


def with_record(trace: Trace, old: Any, new: Any, start: int = 0) -> Trace:
    """The trace with one record replaced, or left out, wherever the log has it from a state on."""
    states: list[Any] = list(trace.states)
    for index, state in enumerate(states[start:], start):
        if old in state["log"]:
            states[index] = state.set("log", state["log"] - {old} | ({new} if new else set()))
    return Trace(trace.meta, trace.variables, states)


def changed(record: Any) -> Iterator[tuple[str, Any]]:
    """A record with one thing changed that the replay compares: its key, its being a tombstone, a field."""
    other: dict[str, Any] = {
        "epoch": 7,
        "metadata": frozendict(foo=5),
        "instance": "i9",
        "subscription": frozenset({"bar"}),
        "regex": "b.*",
        "assignor": "mine",
        "partitions": frozenset({("bar", 3)}),
        "topic": "bar",
        "committed": 9,
    }
    used = {
        "OffsetCommit": ["topic", "committed"],
        "ConsumerGroupMetadata": ["epoch"],
        "ConsumerGroupPartitionMetadata": ["epoch", "metadata"],
        "ConsumerGroupMemberMetadata": ["instance", "subscription", "regex", "assignor"],
        "ConsumerGroupTargetAssignmentMetadata": ["epoch"],
        "ConsumerGroupTargetAssignmentMember": ["partitions"],
        "ConsumerGroupCurrentMemberAssignment": ["epoch", "partitions"],
    }
    yield "member", record.set("member", "m9") if not record["partition"] else None
    yield "partition", record.set("partition", frozenset({("bar", 3)}))
    for value in record["value"]:
        yield "tombstone", record.set("value", frozenset())
        for field in used[record["type"]]:
            yield field, record.set("value", frozenset({value.set(field, other[field])}))


def test_committed_traces_have_every_record_and_a_compaction() -> None:
    """P1, P3: all six types of the group and offsets, written and deleted."""
    decoded = {path: Decoder().decode(read_trace(path), path.name) for path in FILES}
    written_kinds = {kind for trace in decoded.values() for step in trace.steps for kind in kinds(step)}
    assert {kind[:2] if kind[0] == "-" else kind[0] for kind in written_kinds} == {
        *("1", "3", "4", "5", "6", "7", "8"),
        *("-1", "-3", "-4", "-5", "-6", "-7", "-8"),
    }
    assert any(trace.other_actions["Compact"] for trace in decoded.values())
    replayer = Replayer(open_target("python"), 1)
    for trace in decoded.values():
        replayer.replay(trace)
    assert replayer.result.differences == 0


@pytest.mark.parametrize("config", ["MCLogStatic", "MCLogCompacted", "MCLogOffsets"])
def test_random_behaviours_append_what_is_expected(config: str, tmp_path: Path) -> None:
    spec = ROOT / "spec"
    model = Model(config, spec / "MCLog.tla", spec / f"{config}.cfg")
    traces = simulate(model, number=10, depth=15, seed=5, limits=Limits("512m"), log=tmp_path / "log")
    assert all(Decoder().decode(trace, config).length == 15 for trace in traces)
    assert sum(1 for trace in traces for _ in appended(trace)) > 50


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name.removesuffix(".itf.json"))
def test_every_change_of_a_record_is_seen_where_it_was_appended(path: Path) -> None:
    trace, tried = read_trace(path), 0
    for index, record in appended(trace):
        for what, other in changed(record):
            if other is not None:
                message = sentence(with_record(trace, record, other))
                assert message.startswith(f"The trace t, state {index}: of log"), (what, record)
                tried += 1
    assert tried > 5


def test_a_changed_record_is_named_with_both_values() -> None:
    trace = logged("MCLog")
    record = next(r for _, r in appended(trace) if r["type"] == "ConsumerGroupMemberMetadata")
    (value,) = record["value"]
    other = record.set("value", frozenset({value.set("subscription", frozenset())}))
    assert sentence(with_record(trace, record, other)) == (
        "The trace t, state 1: of log[ConsumerGroupMemberMetadata m1].value.subscribedTopicNames the spec's "
        'log says [], and the states before and after it ["foo"]; so spec/GroupLog.tla and '
        "harness/kinds/consumer/records.py contradict each other, or the trace was altered."
    )


@pytest.mark.parametrize(
    "fault",
    [
        lambda records: records[1:],
        lambda records: records[:-1],
        lambda records: records[::-1],
        lambda records: [*records, records[0]],
        lambda records: [{**record, "value": None} for record in records],
    ],
    ids=["first missing", "last missing", "order", "one twice", "tombstones"],
)
def test_a_harness_that_expects_other_records_is_seen(
    fault: Callable[[list[Json]], list[Json]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.kinds.consumer.decode.written", lambda *states: fault(written(*states)))
    assert "state 1: of log" in sentence(logged("MCLog"))


def test_a_log_that_is_none() -> None:
    trace = logged("MCLog")
    (_, record), *_ = appended(trace)
    for other, given in [
        (7, "state 1: log must be a record, not 7"),
        (frozendict(type="ConsumerGroupMetadata"), 'state 1: log has no field "offset"'),
        (record.set("offset", "x"), "state 1: log.offset must be an integer, not 'x'"),
        (record.set("offset", 70), "state 1: the log ends before offset 0, but Join appends at ["),
        (record.set("type", "GroupMetadata"), "state 1: log has a record of the type 'GroupMetadata'; there"),
        (record.set("value", frozenset({1, 2})), "value must have at most one element, not 2"),
        (record.set("value", frozenset({frozendict()})), '.value has no field "'),
    ]:
        assert given in sentence(with_record(trace, record, other))
    trace.states[2] = trace.states[2].set("log", 3)
    assert "state 2: log must be a set, not 3" in sentence(trace)


def test_only_compact_takes_records_out_and_it_adds_none() -> None:
    """P3: a Compact and what follows it."""
    trace = logged("MCLog")
    (index, record) = next(appended(trace))
    message = sentence(with_record(trace, record, None, start=index + 1))
    assert (
        f"state {index + 1}: " in message and f"record at offset {record['offset']} out of the log" in message
    )
    trace = logged("MCLogCompacted")
    states: list[Any] = trace.states
    compact = next(i for i, state in enumerate(states) if state["step"]["action"] == "Compact")
    assert states[compact]["log"] < states[compact - 1]["log"]
    more = record.set("offset", 99)
    states[compact] = states[compact].set("log", states[compact]["log"] | {more})
    assert f"state {compact}: a Compact adds records to the log" in sentence(trace)
