"""Consumers of librdkafka through the proxy: records are judged, faults happen, seeded bugs are found."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from judged import report_of
from proxied import faults_in, lines, proxied
from served import FAST, ROOT, serving

from harness.mutate.patches import copy_with, read_patch
from harness.proxy.faults import KINDS, Fault, Faults, from_seed
from harness.targets.broker.local import free_port

HEARTBEAT = "ConsumerGroupHeartbeat"
SETTINGS = FAST | {"group.consumer.session.timeout.ms": 1000}


def consumer(port: int, **more: Any) -> Consumer:
    """A consumer of the new protocol; it waits half a second for an answer."""
    settings = {
        "bootstrap.servers": f"127.0.0.1:{port}",
        "group.id": "g",
        "group.protocol": "consumer",
        "auto.offset.reset": "earliest",
        "auto.commit.interval.ms": 200,
        "socket.timeout.ms": 500,
        "reconnect.backoff.max.ms": 200,
        "log_level": 0,
    }
    made = Consumer(settings | more)
    made.subscribe(["foo"])
    return made


def owned(one: Consumer) -> set[int]:
    return {partition.partition for partition in one.assignment()}


def until(done: Callable[[], bool], *consumers: Consumer) -> None:
    """Let consumers poll until the condition holds. The bound is for a program that hangs, not a measure."""
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end, [owned(one) for one in consumers]
        for one in consumers:
            one.poll(0.02)


def share(first: Consumer, second: Callable[[], Consumer]) -> None:
    """One consumer has all partitions, another joins, each has half, and both leave."""
    until(lambda: owned(first) == {0, 1, 2, 3}, first)
    other = second()
    until(lambda: len(owned(first)) == len(owned(other)) == 2, first, other)
    first.close()
    until(lambda: owned(other) == {0, 1, 2, 3}, other)
    other.close()


def test_a_run_of_two_consumers_is_a_behaviour_of_the_specification(tmp_path: Path) -> None:
    """Each consumer connects to a listener of its own, so the record names the sender of each request."""
    log = tmp_path / "run.jsonl"
    with (
        serving(topics={"foo": 4}, rate=20, dialect="kafka-4.2", settings=SETTINGS) as (_, port),
        proxied(port, log, clients=2) as (one, two),
    ):
        share(consumer(one), lambda: consumer(two))
    report = report_of(tmp_path / "judged.jsonl", lines(log))
    assert report["holds"] and report["group"] == "g"
    assert len(report["clients"]) == 2 and report["clients_hold"], "librdkafka is judged, too"
    beats = [line["body"] for line in lines(log) if line.get("api") == "ConsumerGroupHeartbeat"]
    assert report["steps"] >= len(beats)
    for member in {body["memberId"] for body in beats}:
        epochs = [body["memberEpoch"] for body in beats if body["memberId"] == member]
        assert (epochs[0], epochs[-1]) == (0, -1) and max(epochs) > 0, "it joins, goes on and leaves"
    speakers = {line["listener"]: line["body"]["memberId"] for line in lines(log) if line["op"] == "request"}
    assert len(set(speakers.values())) == 2 == len(speakers)
    assert not faults_in(log)


SCHEDULE = {
    (HEARTBEAT, 2): Fault("cut before"),
    (HEARTBEAT, 3): Fault("cut after"),
    (HEARTBEAT, 4): Fault("delay", ms=300),
    (HEARTBEAT, 5): Fault("error", code=16),
    (HEARTBEAT, 6): Fault("late", after=2),
    (HEARTBEAT, 10): Fault("request lost"),
    (HEARTBEAT, 13): Fault("answer lost"),
    ("OffsetCommit", 2): Fault("error", code=14),
    ("OffsetFetch", 1): Fault("cut before"),
}


def scheduled(client: int, api: str, nth: int) -> Fault | None:
    return SCHEDULE.get((api, nth)) if client == 1 else None


def by_seed(client: int, api: str, nth: int) -> Fault | None:
    return from_seed(848, share=0.2)(client, api, nth)


@pytest.mark.parametrize("faults", [scheduled, by_seed])
def test_with_faults_of_every_kind_the_record_is_still_a_behaviour(tmp_path: Path, faults: Faults) -> None:
    """The client goes on after each fault. The record has time-outs that no consumer noticed, since a lost
    request takes as long as a session. Faults are named where they were injected, and nowhere else."""
    log = tmp_path / "run.jsonl"
    with (
        serving(topics={"foo": 4}, rate=20, dialect="kafka-4.2", settings=SETTINGS) as (_, port),
        proxied(port, log, clients=2, faults=faults) as (one, two),
    ):
        first = consumer(one)

        def beats() -> int:
            return sum(line.get("api") == HEARTBEAT and line.get("listener") == 1 for line in lines(log))

        until(lambda: beats() > 20, first)
        share(first, lambda: consumer(two))
    injected = [one for one in faults_in(log) if one["fault"] in KINDS]
    assert len(injected) > 5
    for fault in injected:
        planned = faults(fault["client"], fault["api"], fault["nth"])
        assert planned is not None and planned.shown().items() <= fault.items()
    if faults is scheduled:
        assert {one["fault"] for one in injected} == set(KINDS)
    report = report_of(tmp_path / "judged.jsonl", lines(log))
    assert report["coordinator_holds"], report["runs"]
    assert departures(report) <= {"RepeatsAllAfterError"}, (
        "what docs/findings.md says of librdkafka, and no more"
    )


def departures(given: dict[str, Any]) -> set[str]:
    """The rules that clients broke, by the nearest step."""
    results = [member["broken"][0] for member in given["clients"] if "broken" in member]
    return {rule["rule"] for one in results for rule in one["rules"]}


@contextmanager
def served_with(patch: str, folder: Path) -> Iterator[int]:
    """A coordinator with a seeded bug in a process of its own; its port."""
    copy_with(read_patch(ROOT / "tests/mutants/coordinator" / patch), ROOT, "coordinator", folder)
    port = free_port()
    settings = [f"--set={name}={value}" for name, value in SETTINGS.items()]
    words = ["serve", f"--listen=127.0.0.1:{port}", "--topic=foo:4", "--dialect=kafka-4.2", *settings]
    process = subprocess.Popen(
        [sys.executable, "-m", "coordinator", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None and "listening" in process.stdout.readline()
            yield port
        finally:
            process.terminate()


@pytest.mark.parametrize("patch", ["24-handed-out-twice.patch", "09-no-bump-when-member-goes.patch"])
def test_a_broken_coordinator_shows_in_its_clients(tmp_path: Path, patch: str) -> None:
    """Two consumers work, and validate names the line of the record that no behaviour has."""
    log = tmp_path / "run.jsonl"
    with served_with(patch, tmp_path) as port, proxied(port, log, clients=2) as (one, two):
        first = consumer(one)
        until(lambda: owned(first) == {0, 1, 2, 3}, first)
        second = consumer(two)
        until(lambda: len(owned(second)) == 2, first, second)
        second.close()
        first.close()
    report = report_of(tmp_path / "judged.jsonl", lines(log))
    assert not report["holds"]
    [run] = report["runs"]
    assert run["line"] > 2 and run["fits"] > 0
