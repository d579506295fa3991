"""Heartbeats over sockets at a tiny size: figures for each server that runs, a reason for others."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks import served
from benchmarks.served import HERE, KAFKA, Load, Place, served_side_by_side
from harness.errors import ConformError
from harness.targets.kafka import jars
from harness.targets.kafka.build import find_javac

TINY = Load(connections=2, groups=3, members=4, warm_s=0, seconds=1)


def ignore(line: str) -> None:
    """Take a line of progress, and drop it."""


@pytest.fixture(scope="module", autouse=True)
def jdk() -> None:
    try:
        find_javac()
    except ConformError as error:
        pytest.skip(error.message)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generator, compiled."""
    return served.compiled(tmp_path_factory.mktemp("generator"))


def held(data: dict[str, Any]) -> None:
    """Check that members had their partitions, got no news, and were answered."""
    [one] = data["rounds"]
    assert one["heartbeats"] > 100 and one["changes"] == 0
    assert one["all"] >= one["heartbeats"] + 3 * TINY.groups * TINY.members, (
        "a join, a repetition, a quiet round"
    )
    assert 0 < one["p50_us"] <= one["p99_us"] <= one["p100_us"]
    assert one["processor_us"] > 0 and one["memory_mb"] > 1


def test_where_kafka_does_not_start_only_this_coordinator_is_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def broker(_: Path) -> Iterator[Place]:
        raise ConformError("It does not start.")
        yield

    monkeypatch.setattr(served, "kafka", broker)
    table = served_side_by_side(ignore, TINY, 1)
    kafka, here = table.rows
    assert (here[0], kafka[0], kafka[1]) == (HERE, f"{KAFKA}: It does not start.", "")
    assert len(here) == len(kafka) == len(table.columns)
    held(table.data[1])


def test_members_send_one_heartbeat_an_interval(classes: Path) -> None:
    paced = Load(connections=2, groups=3, members=4, interval_ms=500, warm_s=1, seconds=2)
    with served.coordinator() as place:
        one = served.generate(classes, place, paced)
    members = paced.groups * paced.members
    assert 0 < one["heartbeats"] <= members * (2 * paced.seconds + 1)


def test_an_error_in_an_answer_ends_the_generator(classes: Path) -> None:
    with (
        served.coordinator("--set", "group.consumer.max.size=3") as place,
        pytest.raises(ConformError) as failed,
    ):
        served.generate(classes, place, TINY)
    assert "answered with error 81" in failed.value.message


@pytest.mark.maven
def test_kafka_has_the_same_members() -> None:
    try:
        table = served_side_by_side(ignore, TINY, 1)
    except jars.Unavailable as error:
        pytest.skip(error.message)
    assert [data["title"] for data in table.data] == [HERE, KAFKA]
    for data in table.data:
        held(data)
