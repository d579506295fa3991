"""Scenarios made from traces and from operations of the line protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from scenarios import GOLDEN, ROOT, SPEC, unplaced
from typer.testing import CliRunner

from harness.cli.main import app
from harness.itf import read_trace
from harness.kinds.consumer.scenario.from_ops import scenario_from_ops
from harness.kinds.consumer.scenario.from_trace import scenario_of_trace
from harness.kinds.consumer.scenario.load import load_scenario
from harness.kinds.consumer.scenario.run import play
from harness.kinds.consumer.scenario.write import scenario_text
from harness.targets.base import Json

FOO, AGAIN = "11111111-1111-1111-1111-111111111111", "22222222-2222-2222-2222-222222222222"


def heartbeat(member: str, epoch: int, owned: list[int] | None = None, **more: Any) -> Json:
    joins = {"rebalanceTimeoutMs": 5_000, "subscribedTopicNames": ["foo"]} if epoch == 0 else {}
    partitions = None if owned is None else [{"topicId": FOO, "partitions": owned}] if owned else []
    body = {"groupId": "g", "memberId": member, "memberEpoch": epoch, "topicPartitions": partitions}
    client = {"id": "c", "host": "/127.0.0.1", "principal": "User:c"}
    whole = {**body, **joins, **more}
    return {"op": "request", "api": "ConsumerGroupHeartbeat", "version": 0, "client": client, "body": whole}


def offsets(api: str, member: str, epoch: int, partitions: list[Any]) -> Json:
    name = "partitions" if api == "OffsetCommit" else "partitionIndexes"
    topics = [{"topicId": FOO, "name": None, name: partitions}]
    body = {"memberId": member, "generationIdOrMemberEpoch": epoch}
    whole = (
        {**body, "groupId": "g", "topics": topics}
        if api == "OffsetCommit"
        else {
            **body,
            "groups": [{"groupId": "g", "topics": topics}],
        }
    )
    client = {"id": "c", "host": "/127.0.0.1", "principal": "User:c"}
    return {"op": "request", "api": api, "version": 9, "client": client, "body": whole}


def foo(topic_id: str, partitions: int) -> Json:
    return {
        "op": "topics",
        "upsert": [{"name": "foo", "id": topic_id, "partitions": partitions}],
        "delete": [],
    }


OPS: list[Json] = [
    {"op": "hello"},
    foo(FOO, 2),
    heartbeat("m1", 0, []),
    {"op": "ids", "next": ["made"]},
    heartbeat("", 0, []),
    {"op": "advance", "ms": 30_000},
    heartbeat("m1", 1, [0, 1]),
    {"op": "restart"},
    offsets("OffsetCommit", "m1", 1, [{"partitionIndex": index, "committedOffset": 7} for index in (0, 1)]),
    offsets("OffsetFetch", "", -1, [1]),
    {"op": "advance", "ms": 5_000},
    {"op": "topics", "upsert": [], "delete": ["foo"]},
    foo(AGAIN, 1),
    {"op": "advance", "ms": 600_000},
    {"op": "commit", "mode": "fail"},
]
STEPS = """\
steps:
  - join: {member: m1, subscription: [foo]}
    target: {m1: [foo-0, foo-1]}
  - join: {member: made, withoutId: true, subscription: [foo]}
    target: {m1: [foo-0], made: [foo-1]}
  - heartbeat: {member: m1, epoch: 1, owned: [foo-0, foo-1]}
  - fail-over: {}
  - offset commit: {member: m1, epoch: 1, partition: foo-0, offset: 7}
  - offset commit: {member: m1, epoch: 1, partition: foo-1, offset: 7}
  - offset fetch: {member: "", epoch: -1, partition: foo-1}
  - rebalance timeout: {member: m1}
    target: {made: [foo-0, foo-1]}
  - delete topic: {topic: foo}
    target: {made: []}
  - create topic: {topic: foo#2, partitions: 1}
    target: {made: [foo#2-0]}
  - session timeout: {member: made}
# left out: the operation commit
"""


def test_a_trace_becomes_a_scenario_and_the_scenario_that_trace() -> None:
    """With its transcript, which TLC finds as written; the trace has closed steps that nobody sends."""
    path = ROOT / "traces" / "counterexamples" / "MCNoExemption.itf.json"
    for file in (GOLDEN / "bugs" / "KAFKA-20641.itf.json", GOLDEN / "incremental.itf.json", path):
        made = scenario_of_trace(read_trace(file), file.stem, str(file))
        scenario = load_scenario(Path("x.yaml"), scenario_text(made))
        assert unplaced(scenario) == unplaced(made)
    played = play([scenario], SPEC)[0]
    assert played.holds and len(scenario.steps) >= 3


def test_the_command_prints_a_trace() -> None:
    file = GOLDEN / "basic.itf.json"
    result = CliRunner().invoke(app, ["scenario", "--from", str(file)])
    assert result.exit_code == 0
    made = load_scenario(Path("x.yaml"), result.output)
    assert [step.request for step in made.steps] == [
        step.request for step in load_scenario(GOLDEN / "basic.yaml").steps
    ]


def test_the_steps_of_a_failing_test_become_a_scenario() -> None:
    """Made ids, timers that ran out, the targets of the assignor, a recreated topic: all are there."""
    text = scenario_from_ops(OPS)
    assert text[text.index("steps:") :] == STEPS
    played = play([load_scenario(Path("x.yaml"), text)], SPEC)[0]
    assert not played.stuck and not played.unused
    assert scenario_from_ops(OPS) == text


def test_a_failing_test_ends_where_the_coordinator_fails() -> None:
    strange = heartbeat("m1", 0, [], subscribedTopicNames=7)
    text = scenario_from_ops([foo(FOO, 2), strange, {"op": "restart", "keep": -1}, heartbeat("m1", 0, [])])
    assert "# left out: " in text and "steps:" in text
