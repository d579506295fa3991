"""Configurations and the groups of a log: timers run by the values of this start, however they are given."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from coordinator import Coordinator
from coordinator.core.config import Config, configured
from coordinator.core.storage import SqliteStorage
from coordinator.stdio import LineProtocol

SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": 100,
    "group.consumer.heartbeat.interval.ms": 200,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": 2000,
    "group.empty.retention.ms": 5000,
}
FOO = {"name": "foo", "id": "00000000-0000-4000-8000-000000000066", "partitions": 2}
TIMERS = {"live": ("session", 2000), "left": ("group", 5000)}


def heartbeat(group: str, epoch: int) -> dict[str, Any]:
    body = {"groupId": group, "memberId": "m", "memberEpoch": epoch, "rebalanceTimeoutMs": 9000}
    return body | ({"subscribedTopicNames": ["foo"], "topicPartitions": []} if epoch == 0 else {})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log with a group that has a member, and a group that is empty."""
    storage = SqliteStorage(str(tmp_path / "log.db"))
    made = Coordinator(storage=storage)
    made.set_topics([FOO], [])
    for group, epoch in (("live", 0), ("left", 0), ("left", -1)):
        assert made.request("ConsumerGroupHeartbeat", 0, {}, heartbeat(group, epoch))["errorCode"] == 0
    storage.close()
    return tmp_path / "log.db"


def timers(made: Coordinator) -> dict[str, tuple[str, int]]:
    shown = {}
    for group in TIMERS:
        [timer] = made.describe(group)["timers"]
        shown[group] = (timer["timer"], timer["deadlineMs"] - made.clock.now_ms())
    return shown


@pytest.mark.parametrize("how", ["constructor", "configure"])
def test_timers_of_a_log_have_the_configured_times(how: str, log: Path) -> None:
    """P2, H8: also where the configuration is given after the log was loaded."""
    storage = SqliteStorage(str(log))
    if how == "constructor":
        made = Coordinator(storage=storage, config=configured(Config(), {}, SETTINGS)[0])
    else:
        made = Coordinator(storage=storage)
        made.configure(SETTINGS)
    assert timers(made) == TIMERS
    fired = [(one["group"], one["timer"]) for one in made.advance(2000)]
    assert fired == [("live", "session")]
    storage.close()


def test_a_coordinator_that_is_not_active_is_not_made_active(log: Path) -> None:
    """H5: it loads its groups when it becomes active, by the configuration that it has then."""
    storage = SqliteStorage(str(log))
    made = Coordinator(storage=storage)
    made.set_state("loading")
    made.configure(SETTINGS)
    assert made.request("ConsumerGroupHeartbeat", 0, {}, heartbeat("live", 1))["errorCode"] == 14
    made.set_state("active")
    assert timers(made) == TIMERS
    storage.close()


def test_loaded_state_keeps_its_deadlines(log: Path) -> None:
    """`load` gives deadlines of its own; a configuration that comes after it changes none of them."""
    storage = SqliteStorage(str(log))
    made, source = Coordinator(storage=storage), Coordinator()
    source.set_topics([FOO], [])
    source.request("ConsumerGroupHeartbeat", 0, {}, heartbeat("live", 0))
    source.advance(7)
    made.load(source.records(), [FOO], source.volatile())
    before = made.volatile()
    made.configure(SETTINGS)
    assert made.volatile() == before == source.volatile()
    storage.close()


def test_the_operation_configure_of_a_program_with_a_log(log: Path) -> None:
    operations = [{"op": "configure", **SETTINGS}, {"op": "describe", "group": "live"}]
    command = [sys.executable, "-m", "coordinator", "--stdio", "--log", str(log)]
    ended = subprocess.run(
        command, input="\n".join(map(json.dumps, operations)), capture_output=True, text=True, check=True
    )
    configured_, described = map(json.loads, ended.stdout.splitlines())
    [timer] = described["group"]["timers"]
    assert configured_["ok"] and (timer["timer"], timer["deadlineMs"]) == TIMERS["live"]


def test_wrong_settings_change_no_timer(log: Path) -> None:
    storage = SqliteStorage(str(log))
    protocol = LineProtocol(made := Coordinator(storage=storage))
    before = timers(made)
    assert not protocol.answer({"op": "configure", "group.consumer.session.timeout.ms": 1})["ok"]
    assert timers(made) == before
    storage.close()
