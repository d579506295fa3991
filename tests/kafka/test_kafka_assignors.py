"""Kafka's assignors beside this coordinator's, at a tiny size: every step has figures."""

from __future__ import annotations

import pytest
from kafka_driver import skip_without_jars

from benchmarks.kafka import VERSION, assignors_side_by_side
from benchmarks.shapes import Size

pytestmark = pytest.mark.maven


def test_assignors_side_by_side() -> None:
    skip_without_jars(VERSION)
    table = assignors_side_by_side(lambda _: None, [Size(12, 2)], rounds=2)
    assert [data["assignor"] for data in table.data] == ["uniform", "range"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    for data in table.data:
        for step in ("initial", "join", "leave"):
            assert 0 < data["kafka"][step]["best"] <= data["kafka"][step]["median"]
            assert data["this"][step] > 0
