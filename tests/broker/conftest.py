"""A Kafka broker that runs for as long as the tests of this folder, started as `conform broker up` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from needed_jars import needs_jars

from harness.targets.broker import local
from harness.targets.broker.target import BrokerTarget

sys.path += [str(Path(__file__).parents[1] / name) for name in ("serve", "proxy")]
VERSION = "4.2.1"


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[local.LocalBroker]:
    """A broker."""
    needs_jars(VERSION)
    broker = local.start(VERSION, None, tmp_path_factory.mktemp("kafka"), {})
    yield broker
    local.stop(broker)


@pytest.fixture
def target(kafka: local.LocalBroker) -> Iterator[BrokerTarget]:
    """The broker as a target, in a run of its own."""
    opened = BrokerTarget(f"{local.HOST}:{kafka.port}", "kafka-4.2")
    yield opened
    opened.close()
