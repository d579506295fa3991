"""The committed traces of each dialect hold on Kafka's own coordinator of that version, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest
from kafka_driver import VERSIONS

from harness.itf import read_trace
from harness.replay.decode import Decoder
from harness.replay.run import Replayed, Replayer
from harness.targets.stdio import StdioTarget

pytestmark = pytest.mark.maven

FOLDER = Path(__file__).parents[2] / "traces" / "dialects"


def spoken(version: str) -> str:
    return "kafka-" + version.rpartition(".")[0]


def replayed(target: StdioTarget, dialect: str) -> Replayed:
    decoder, replayer = Decoder(), Replayer(target, max_differences=5)
    for path in sorted((FOLDER / dialect).glob("*.itf.json")):
        replayer.replay(decoder.decode(read_trace(path), path.stem))
    return replayer.result


def test_the_traces_of_its_dialect_hold(started: StdioTarget) -> None:
    result = replayed(started, spoken(started.name.partition(":")[2]))
    assert result.failures == []
    assert result.ended_early == []
    assert result.judged == sum(result.coverage.actions.values()) > 0


def test_those_of_another_are_left_out(started: StdioTarget) -> None:
    ours = spoken(started.name.partition(":")[2])
    for dialect in {spoken(version) for version in VERSIONS} - {ours}:
        result = replayed(started, dialect)
        assert (result.judged, {ended.reason for ended in result.ended_early}) == (0, {f"dialect {dialect}"})
