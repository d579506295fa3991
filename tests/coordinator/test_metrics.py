"""D4: the broker's metrics by their names, and their text."""

from __future__ import annotations

import math
import re

import pytest
from admin_driver import delete
from group_driver import GroupDriver

from coordinator import Coordinator
from coordinator.admin.metrics import exposition
from coordinator.stdio import LineProtocol

PREFIX = "kafka_server_group_coordinator_metrics_"
LINE = re.compile(r'(\w+)(?:\{((?:\w+="\w+",?)+)\})? (NaN|[\d.e+-]+)')


def read(text: str) -> dict[str, float]:
    """The samples of a text in Prometheus' format, by name and labels; strict about its lines."""
    results: dict[str, float] = {}
    described: list[str] = []
    for line in text.splitlines():
        if line.startswith("# "):
            _, word, name, rest = line.split(" ", 3)
            assert (word == "HELP" and name not in described) or (word, rest) == ("TYPE", "gauge")
            described += [name] if word == "HELP" else []
            continue
        match = LINE.fullmatch(line)
        assert match and match[1] == described[-1], line
        results[f"{match[1].removeprefix(PREFIX)} {match[2] or ''}".strip()] = float(match[3])
    assert text.endswith("\n")
    return results


def metrics(coordinator: Coordinator) -> dict[str, float]:
    return read(exposition(coordinator.metrics()))


def test_every_name_of_the_kip_is_there() -> None:
    assert {name.split()[0] for name in metrics(Coordinator())} == {
        "group_count", "partition_count", "event_queue_size", "consumer_group_count",
        "consumer_group_rebalance_rate", "consumer_group_rebalance_count",
        "partition_load_time_max", "partition_load_time_avg",
        "thread_idle_ratio_min", "thread_idle_ratio_avg",
    }  # fmt: skip


def test_groups_by_protocol_and_state() -> None:
    g = GroupDriver()
    g.join("m1", groupId="stable")
    for member in ("m1", "m2"):
        g.join(member, groupId="reconciling")
    g.join("m1", groupId="empty")
    g.request(groupId="empty", memberId="m1", memberEpoch=-1)
    results = metrics(g.coordinator)
    assert (results['group_count protocol="consumer"'], results['group_count protocol="classic"']) == (3, 0)
    states = {
        name: results[f'consumer_group_count state="{name}"'] for name in ("stable", "reconciling", "empty")
    }
    assert states == {"stable": 1, "reconciling": 1, "empty": 1}
    assert (
        results['consumer_group_count state="assigning"'] == results['consumer_group_count state="dead"'] == 0
    )
    assert results["consumer_group_rebalance_count"] == 5
    delete(g.coordinator, "empty")
    assert metrics(g.coordinator)["consumer_group_rebalance_count"] == 5


def test_rebalances_are_new_group_epochs_and_their_rate_is_of_the_last_minute() -> None:
    g = GroupDriver()
    for member in ("m1", "m2", "m3"):
        g.join(member)
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    results = metrics(g.coordinator)
    assert results["consumer_group_rebalance_count"] == 3
    assert results["consumer_group_rebalance_rate"] == pytest.approx(3 / 60)
    g.clock.set(60_000)
    results = metrics(g.coordinator)
    assert (results["consumer_group_rebalance_count"], results["consumer_group_rebalance_rate"]) == (3, 0)


@pytest.mark.parametrize(
    ("state", "counted"),
    [("active", "active"), ("loading", "loading"), ("unavailable", "failed"), ("moved", "")],
)
def test_the_partition_and_its_loads(state: str, counted: str) -> None:
    g = GroupDriver()
    assert math.isnan(metrics(g.coordinator)["partition_load_time_max"])
    g.coordinator.advance(1000)
    g.coordinator.restart()
    g.coordinator.set_state(state)
    results = metrics(g.coordinator)
    counts = {name: results[f'partition_count state="{name}"'] for name in ("loading", "active", "failed")}
    assert counts == {name: float(name == counted) for name in counts}
    assert (results["partition_load_time_max"], results["partition_load_time_avg"]) == (0, 0)


def test_requests_that_wait_are_the_queue() -> None:
    coordinator = Coordinator()
    protocol = LineProtocol(coordinator)
    assert metrics(coordinator)["event_queue_size"] == 0
    protocol.answer({"op": "commit", "mode": "manual"})
    body: dict[str, list[str]] = {"groupsNames": []}
    protocol.answer({"op": "request", "id": 1, "api": "DeleteGroups", "version": 2, "body": body})
    assert read(protocol.answer({"op": "metrics"})["text"])["event_queue_size"] == 1
