"""Kafka's own coordinator, one JVM a version for all tests; each test starts from nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka_driver import VERSIONS, Driver, skip_without_jars

from harness.targets.kafka.target import command
from harness.targets.stdio import StdioTarget


@pytest.fixture(scope="session", params=VERSIONS)
def started(request: pytest.FixtureRequest) -> Iterator[StdioTarget]:
    version: str = request.param
    skip_without_jars(version)
    target = StdioTarget(command(version), name=f"kafka:{version}")
    yield target
    target.close()


@pytest.fixture
def kafka(started: StdioTarget) -> Driver:
    """A new coordinator with the topic foo of two partitions."""
    started.load([], [], {"clockMs": 0})
    started.configure({"group.consumer.session.timeout.ms": 45_000, "group.consumer.max.size": 2**31 - 1})
    started.configure({"group.initial.rebalance.delay.ms": 3_000})
    driver = Driver(started)
    driver.topic("foo", 2)
    return driver
