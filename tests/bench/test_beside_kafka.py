"""The benchmark beside Kafka, at tiny sizes: figures where Kafka can be had, else the reason."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.benchmarks import kafka
from harness.benchmarks.shapes import Size
from harness.errors import ConformError
from harness.targets.kafka.jars import Unavailable


def said(line: str) -> None:
    """Nobody listens."""


def cannot(*given: object) -> list[str]:
    raise ConformError("There is no JDK.")


def test_without_a_jdk_the_rows_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "java", cannot)
    table = kafka.assignors_side_by_side(said, [Size(12, 2)])
    assert [row[0] for row in table.rows] == ["uniform: There is no JDK.", "range: There is no JDK."]
    assert all(data["not_measured"] == "There is no JDK." for data in table.data)
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert all(data["this"]["join"] > 0 for data in table.data)


def test_where_kafka_cannot_run_only_this_coordinator_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def broker(folder: Path) -> object:  # type: ignore[misc]
        raise ConformError("It does not start.")
        yield

    monkeypatch.setattr(kafka, "_broker", broker)
    monkeypatch.setattr("harness.targets.kafka.target.java", cannot)
    table = kafka.targets_side_by_side(said, number=2)
    first, *others = table.rows
    assert (first[0], first[1], first[4]) == ("python", "2", "0")
    assert [row[0] for row in others] == [
        "kafka:4.2.1: There is no JDK.",
        "broker, Kafka 4.2.1 over the wire: It does not start.",
    ]
    assert [len(row) for row in table.rows] == [len(table.columns)] * 3


@pytest.mark.maven
def test_assignors_side_by_side() -> None:
    try:
        kafka.java(kafka.VERSION)
    except Unavailable as error:
        pytest.skip(error.message)
    table = kafka.assignors_side_by_side(said, [Size(12, 2)], rounds=2)
    assert [data["assignor"] for data in table.data] == ["uniform", "range"]
    for data in table.data:
        for step in ("initial", "join", "leave"):
            assert 0 < data["kafka"][step]["best"] <= data["kafka"][step]["median"]
            assert data["this"][step] > 0
