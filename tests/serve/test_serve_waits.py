"""Time-outs judged over the wire: real sockets and real seconds, on the served coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest
from served import serving

from coordinator.core.clock import SimulatedClock
from harness.errors import USAGE, ConformError
from harness.replay.files import replay_files
from harness.replay.report import explain, summary, to_json
from harness.replay.run import ANOTHER
from harness.targets import open_target
from harness.targets.broker import admin
from harness.targets.broker.connection import Connection
from harness.targets.broker.target import BrokerTarget
from harness.targets.waiting import NO_TIME

TRACES = Path(__file__).parents[2] / "traces/dialects/kafka-4.2"
AWAY = TRACES / "MCKafka42Static-goal-0013-session-of-one-that-is-away-runs-out.itf.json"
SESSION = TRACES / "MCKafka42Tour-goal-0016-sessiontimeout.itf.json"
REVOKING = sorted((TRACES / "wire").glob("*.itf.json"))
SHORT = {"group.consumer.min.heartbeat.interval.ms": 100, "group.consumer.min.session.timeout.ms": 1000}


def test_timers_are_waited_for_and_steps_without_time_are_listed() -> None:
    """A static member that is away, and a member that asks on while it revokes (R4, S1)."""
    with serving(topics={}, dialect="kafka-4.2", settings=SHORT) as (_, port):
        target = f"broker:127.0.0.1:{port}"
        result = replay_files([*REVOKING, AWAY, SESSION], target, "kafka-4.2", wait_s=10)
    assert [result.differences, result.coverage.actions] == [
        0,
        {"Join": 5, "Heartbeat": 2, "RebalanceTimeout": 1, "LeaveTemporarily": 1, "SessionTimeout": 1},
    ]
    assert {(one.reason, one.skipped) for one in result.ended_early} == {(ANOTHER, 4), (NO_TIME, 1)}
    report = to_json(result, target, "kafka-4.2")
    assert (report["waited"]["timers"], report["waited"]["budget_s"]) == (2, 10)
    assert report["skipped"][NO_TIME] == {"traces": 1, "steps": 1}
    lines = list(summary(result, target))
    end = f"for 2 timers; 1 trace ends before a timer that was not waited for; 1 of them needs {NO_TIME}"
    assert any(end in line for line in lines)
    assert any(line.startswith(f"skipped, needs {NO_TIME}: 1 step ") for line in lines)


def test_no_seconds_are_printed_without_a_timer() -> None:
    """The verb once reported a wait of 0 s for 0 timers."""
    stays = TRACES / "MCKafka42Tour-goal-0018-heartbeat-revoke.itf.json"
    with serving(topics={}, dialect="kafka-4.2", settings=SHORT) as (_, port):
        target = f"broker:127.0.0.1:{port}"
        none_due = list(summary(replay_files([stays], target, "kafka-4.2", wait_s=10), target))
        too_few = list(summary(replay_files([SESSION], target, "kafka-4.2", wait_s=1), target))
    assert "no timer was waited for: no trace came to a step at which one runs out" in none_due
    [end] = [
        line for line in too_few if line.startswith("no timer was waited for; 1 trace ends before a timer")
    ]
    assert end.endswith(f"; 1 of them needs {NO_TIME}")


def test_a_time_out_that_does_not_come_says_how_long_it_was_waited_for() -> None:
    """No request is sent in that step: the time that passed is the evidence. The coordinator's clock
    stands."""
    with serving(topics={}, dialect="kafka-4.2", settings=SHORT, clock=SimulatedClock()) as (_, port):
        target = f"broker:127.0.0.1:{port}"
        result = replay_files([SESSION], target, "kafka-4.2", wait_s=10)
    [failure] = [one for one in result.failures if one.action == "SessionTimeout"]
    [line] = [line for line in explain(failure, target, "kafka-4.2") if "nothing was sent: " in line]
    assert line.endswith(" after the session timer of m1 was armed, and its time-out is 3 s")


@pytest.mark.parametrize("of_others", [False, True])
def test_a_group_with_the_empty_id_goes_with_the_run_that_made_it(
    monkeypatch: pytest.MonkeyPatch, of_others: bool
) -> None:
    """franz-go's kfake makes one for a request that it refuses; Kafka has none."""
    there = {""} if of_others else set()
    monkeypatch.setattr(admin, "groups", lambda broker: set(there))
    monkeypatch.setattr(admin, "delete_group", lambda broker, group: there.discard(group))
    with serving(topics={}, dialect="kafka-4.2", settings={}) as (_, port):
        target = BrokerTarget(f"127.0.0.1:{port}", "kafka-4.2", run="r")
        target.load([], [], {"clockMs": 0})
        body = {"groupId": "", "memberId": "A", "memberEpoch": 0, "rebalanceTimeoutMs": 5000}
        answer = target.request("ConsumerGroupHeartbeat", 0, {"id": "client-A"}, body)
        there.add("")
        target.close()
    assert answer.body is not None and answer.body["errorCode"] == 42
    assert there == ({""} if of_others else set())


def test_the_configurations_of_a_group_go_with_it() -> None:
    with serving(topics={"conform-r-foo": 1}, dialect="kafka-4.2", settings=SHORT) as (_, port):
        looking = Connection("127.0.0.1", port)
        target = BrokerTarget(f"127.0.0.1:{port}", "kafka-4.2", run="r", wait_s=1)
        target.expect([])
        target.load([], [], {})
        join = {"groupId": "g", "memberId": "A", "memberEpoch": 0, "instanceId": None, "rackId": None}
        join |= {"rebalanceTimeoutMs": 10_000, "subscribedTopicNames": ["foo"], "subscribedTopicRegex": None}
        join |= {"serverAssignor": None, "topicPartitions": []}
        answer = target.request("ConsumerGroupHeartbeat", 0, {"id": "client-A"}, join)
        during = admin.group_settings(looking, "conform-r-1-g")
        target.close()
        after = admin.group_settings(looking, "conform-r-1-g")
        looking.close()
    assert answer.body is not None and answer.body["heartbeatIntervalMs"] == 500
    assert (during[admin.SESSION_TIMEOUT], during[admin.HEARTBEAT_INTERVAL]) == ("45000", "500")
    assert (after[admin.SESSION_TIMEOUT], after[admin.HEARTBEAT_INTERVAL]) == ("45000", "5000")


def test_a_broker_that_lets_no_session_be_short_is_named() -> None:
    """Kafka's own least session is 45 seconds: more than there is time for."""
    with serving(topics={}, dialect="kafka-4.2", settings={}) as (_, port):
        target = f"broker:127.0.0.1:{port}"
        result = replay_files([SESSION], target, "kafka-4.2", wait_s=20)
    assert [one.reason for one in result.ended_early] == [NO_TIME]
    assert result.waited is not None and "would not configure the group" in result.waited.note
    [line] = [line for line in summary(result, target) if line.startswith("sessions are as long as")]
    assert "group.consumer.min" in line


@pytest.mark.parametrize("target", ["python", "mock", "kafka:4.2.1"])
def test_other_targets_do_not_wait(target: str) -> None:
    with pytest.raises(ConformError, match="leave it out") as failed:
        open_target(target, wait_s=1)
    assert failed.value.exit_code == USAGE
