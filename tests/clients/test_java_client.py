"""Apache Kafka's own consumer, judged over sockets by its agent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from on_wire import JOINED, LOADING, LOST_AT_ONCE, REMOVED, ROOT, STALE, STATIC, UNRELEASED, WAIT, played

from harness.clients.draw import draw
from harness.clients.timeline import Setup
from harness.engines.java import find_java
from harness.errors import ConformError
from harness.targets.kafka import jars
from harness.targets.kafka.build import find_javac
from harness.targets.kafka.target import COORDINATOR

pytestmark = pytest.mark.maven
VERSION = "4.3.1"
REMOVED_BEFORE_FETCH = [*JOINED[:2], {"do": "remove"}, {"do": "release"}, WAIT]
"""The fetch of offsets is answered UNKNOWN_MEMBER_ID, and poll throws that."""


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the agent, compiled."""
    try:
        java, javac = find_java(), find_javac()
        classes = os.pathsep.join(map(str, jars.jars(COORDINATOR, VERSION)))
    except jars.Unavailable as error:
        pytest.skip(error.message)
    except ConformError as error:
        pytest.skip(error.message)
    folder: Path = tmp_path_factory.mktemp("agent")
    source = ROOT / "examples/clients/JavaAgent.java"
    subprocess.run([str(javac), "-cp", classes, "-d", str(folder), str(source)], check=True)
    quick = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
    return [str(java), *quick, "-cp", f"{folder}{os.pathsep}{classes}", "JavaAgent"]


def test_kafkas_consumer_breaks_no_rule_but_the_known_one(agent: list[str]) -> None:
    """A stale commit of the application is not repeated (O4)."""
    stale, *others = played(
        (agent, Setup(), STALE),
        (agent, Setup(), LOADING),
        (agent, Setup(), REMOVED),
        (agent, Setup(), REMOVED_BEFORE_FETCH),
        (agent, Setup(), LOST_AT_ONCE),
        (agent, STATIC, UNRELEASED),
        *((agent, *draw(seed)) for seed in (1, 2)),
    )
    assert "RepeatsStaleCommit" in stale.broken()
    assert not any(judged.broken() - {"HeartbeatsInTime"} for judged in others)  # a busy machine
    assert others[4].counts["FatalErrorsAreShown"]
