"""The benchmark beside Kafka where there is none: the reason in place of figures."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from benchmarks import kafka
from benchmarks.shapes import Size
from harness.errors import ConformError


def ignore(line: str) -> None:
    """Take a line of progress, and drop it."""


def cannot(*given: object) -> list[str]:
    raise ConformError("There is no JDK.")


def test_without_a_jdk_the_rows_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka, "java", cannot)
    table = kafka.assignors_side_by_side(ignore, [Size(12, 2)])
    assert [row[0] for row in table.rows] == ["uniform: There is no JDK.", "range: There is no JDK."]
    assert all(data["not_measured"] == "There is no JDK." for data in table.data)
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert all(data["this"]["join"] > 0 for data in table.data)


def test_where_kafka_cannot_run_only_this_coordinator_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def broker(folder: Path) -> AbstractContextManager[str]:
        raise ConformError("It does not start.")

    monkeypatch.setattr(kafka, "_broker", broker)
    monkeypatch.setattr("harness.targets.kafka.target.java", cannot)
    table = kafka.targets_side_by_side(ignore, number=2)
    first, second, *others = table.rows
    assert (first[0], first[1], first[5]) == ("python", "2", "0")
    assert (second[0], second[1:3], second[5]) == ("stdio: python -m coordinator", first[1:3], "0")
    assert all(data["processor_s"] > 0 for data in table.data[:2])
    assert [row[0] for row in others] == [
        "kafka:4.2.1: There is no JDK.",
        "broker, Kafka 4.2.1 over the wire: It does not start.",
    ]
    assert [len(row) for row in table.rows] == [len(table.columns)] * 4
