"""The served coordinator beside Apache Kafka: heartbeats a second over sockets, from one generator in Java.

`Heartbeats.java` has the members. Each connection has one request in flight, version 1 of the heartbeat with
only the epoch, after all members have their partitions and some seconds have passed. Both servers are on this
machine, with the same groups, on the same cores, and take turns.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import psutil

from benchmarks.scale import Progress, Table
from harness.engines.java import find_java
from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.broker import local
from harness.targets.broker.connection import Connection
from harness.targets.kafka.build import find_javac

VERSION: Final = "4.3.1"
HERE: Final = "python -m coordinator serve"
KAFKA: Final = f"Apache Kafka {VERSION}"
SOURCE: Final = Path(__file__).with_name("Heartbeats.java")
TOPIC: Final = "foo"
PARTITIONS: Final = 10
START_S: Final = 30.0
JVM: Final = ("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20")
"""Kafka's own options of Java (bin/kafka-server-start.sh), in place of those for a broker in tests."""
ROUNDS: Final = 3
PARTS: Final = ("p50_us", "p90_us", "p99_us", "p99.9_us")


@dataclass(frozen=True)
class Load:
    """Members of the generator: with `interval_ms` 0 each connection sends as soon as it has its answer."""

    connections: int = 8
    groups: int = 100
    members: int = 10
    interval_ms: int = 0
    warm_s: int = 10
    seconds: int = 20


@dataclass(frozen=True)
class Place:
    """A running server: its port and its process."""

    port: int
    pid: int


def served_side_by_side(progress: Progress, load: Load = Load(), rounds: int = ROUNDS) -> Table:
    """Heartbeats a second, the median of the rounds, with the latencies of that round."""
    columns = [
        "heartbeats over sockets",
        "connections",
        "groups x members",
        "heartbeats/s",
        "lowest, highest",
    ]
    table = Table([*columns, *(part.removesuffix("_us") + " ms" for part in PARTS), "processor us each"])
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as folder, ExitStack() as running:
        classes = compiled(Path(folder))
        places: dict[str, Place] = {}
        for title, start in ((HERE, coordinator()), (KAFKA, kafka(Path(folder) / "broker"))):
            progress(f"starting {title}")
            try:
                places[title] = running.enter_context(start)
            except ConformError as error:
                table.rows.append([f"{title}: {error.message}", *[""] * (len(table.columns) - 1)])
                table.data.append({"title": title, "not_measured": error.message})
        results: dict[str, list[dict[str, Any]]] = {title: [] for title in places}
        for number in range(rounds):
            for title, place in places.items():
                progress(f"round {number + 1} of {rounds}: {title}")
                results[title].append(generate(classes, place, load))
        for title, measured in results.items():
            table.rows.append(_row(title, load, measured))
            table.data.append({"title": title, **asdict(load), "rounds": measured})
    return table


def _row(title: str, load: Load, rounds: Sequence[dict[str, Any]]) -> list[str]:
    rates = [one["per_s"] for one in rounds]
    middle = min(rounds, key=lambda one: abs(one["per_s"] - median(rates)))
    latencies = [f"{middle[part] / 1000:.2f}" for part in PARTS]
    extent = f"{load.groups:,} x {load.members:,}"
    spread = f"{min(rates):,.0f}, {max(rates):,.0f}"
    row = [title, f"{load.connections}", extent, f"{median(rates):,.0f}", spread, *latencies]
    return [*row, f"{middle['processor_us']:.0f}"]


def generate(classes: Path, place: Place, load: Load) -> dict[str, Any]:
    """The figures of the generator, with the server's processor time for each heartbeat of the whole run, its
    memory at the end, and heartbeats a second. ConformError (exit 3) for an answer with an error."""
    process = psutil.Process(place.pid)
    before = process.cpu_times()
    words = [load.connections, load.groups, load.members, load.interval_ms, load.warm_s, load.seconds]
    command = [str(find_java()), "-cp", str(classes), "Heartbeats", str(place.port), TOPIC, *map(str, words)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise ConformError(f"The generator of heartbeats failed: {ended.stderr.strip()}", ENGINE_FAILED)
    figures: dict[str, Any] = json.loads(ended.stdout)
    after = process.cpu_times()
    used = after.user + after.system - before.user - before.system
    return {
        **figures,
        "per_s": figures["heartbeats"] / load.seconds,
        "processor_us": used / max(1, figures["all"]) * 1e6,
        "memory_mb": process.memory_info().rss / 1e6,
    }


def compiled(folder: Path) -> Path:
    """The folder of the generator's classes. ConformError where there is no JDK."""
    classes = folder / "classes"
    made = subprocess.run(
        [str(find_javac()), "-d", str(classes), str(SOURCE)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise ConformError(f"{SOURCE} does not compile: {made.stderr.strip()}", ENGINE_FAILED)
    return classes


@contextmanager
def coordinator(*words: str) -> Iterator[Place]:
    """The served coordinator, with more words of its command line. ConformError if it does not start."""
    port = local.free_port()
    command = [sys.executable, "-m", "coordinator", "serve", "--listen", f"127.0.0.1:{port}"]
    with subprocess.Popen(
        [*command, "--topic", f"{TOPIC}:{PARTITIONS}", *words], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        try:
            if not run.stdout.readline().startswith("listening"):
                raise ConformError(f"{HERE} did not start: exit code {run.wait()}.", ENGINE_FAILED)
            yield Place(port, run.pid)
        finally:
            run.kill()


@contextmanager
def kafka(folder: Path) -> Iterator[Place]:
    """A broker of Kafka with the topic, whose coordinator answers. ConformError if it does not start."""
    broker = local.start(VERSION, None, folder, {}, JVM)
    try:
        connection = Connection("127.0.0.1", broker.port)
        topic = {"name": TOPIC, "numPartitions": PARTITIONS, "replicationFactor": 1}
        topics = {"topics": [{**topic, "assignments": [], "configs": []}], "timeoutMs": 30_000}
        connection.call("CreateTopics", 7, topics)
        _until_it_coordinates(connection)
        connection.close()
        yield Place(broker.port, broker.pid)
    finally:
        local.stop(broker)


def _until_it_coordinates(connection: Connection) -> None:
    """Wait until the broker coordinates: a coordinator loads after the first request for one has made its
    topic."""
    joins = {"groupId": "first", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 1000}
    subscribed = {"subscribedTopicNames": [TOPIC], "topicPartitions": []}
    deadline, error = time.monotonic() + START_S, -1
    while error and time.monotonic() < deadline:
        connection.call("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": ["first"]})
        error = connection.call("ConsumerGroupHeartbeat", 0, {**joins, **subscribed})["errorCode"]
        time.sleep(0.1)
    if error:
        raise ConformError(f"{KAFKA} coordinates no group after {START_S:g} s: {error}.", ENGINE_FAILED)
    connection.call("ConsumerGroupHeartbeat", 0, {**joins, "memberEpoch": -1, **subscribed})
