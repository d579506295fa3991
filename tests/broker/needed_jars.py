"""A check if the jars of a Kafka broker can be fetched."""

from __future__ import annotations

import pytest

from harness.targets.broker import local
from harness.targets.kafka import jars


def needs_jars(version: str) -> None:
    """Skip, with the reason, where Maven Central cannot be reached."""
    try:
        jars.jars(local.COORDINATE, version)
    except jars.Unavailable as error:
        pytest.skip(error.message)
