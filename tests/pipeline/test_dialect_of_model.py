"""A model that names a dialect is judged on a target that speaks it, without an option."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import faulty, kafka, tiny

from harness.cli.exhaust import command
from harness.errors import ConformError


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kafka(tmp_path_factory.mktemp("kafka")).module


def judged(module: Path, place: Path, **words: Any) -> Any:
    """The result of `conform exhaust` on the model of that module."""
    command(name=str(module), out=str(place / "out"), json_file=place / "a.json", **words)
    return json.loads((place / "a.json").read_text())


def test_the_dialect_is_that_of_the_model(module: Path, tmp_path: Path) -> None:
    result = judged(module, tmp_path)
    assert (result["dialect"], result["holds"], result["by_path"]) == ("kafka-4.4", True, 0)


def test_a_state_that_cannot_be_loaded_is_reached_in_the_dialect_of_the_model(
    module: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConformError, match="loads states wrongly"):
        judged(module, tmp_path, target=faulty("lossy kafka-4.4"))
    result = json.loads((tmp_path / "a.json").read_text())
    assert (result["differences"], result["not_judged"]) == (0, 0) and result["by_path"] > 0
    assert result["loads"]["wrong"]["states"] > 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"dialect": "kip-848"}, "The model Kafka is of the dialect 'kafka-4.4', not 'kip-848': leave"),
        ({"dialect": "kafka-4.2"}, "The model Kafka is of the dialect 'kafka-4.4', not 'kafka-4.2': leave"),
        ({"target": faulty("wrong")}, "speaks the dialect 'kip-848', not 'kafka-4.4'"),
        (
            {"tour": "MCClosedTour"},
            "several dialects: The model Kafka of 'kafka-4.4', The model MCClosedTour of 'kip-848'. Judge",
        ),
    ],
)
def test_a_contradiction_of_the_model_is_printed_first(
    module: Path, tmp_path: Path, words: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ConformError) as caught:
        judged(module, tmp_path, **words)
    assert sentence in caught.value.message and caught.value.exit_code == 2
    assert not list(tmp_path.glob("out/*"))


def test_a_dialect_that_there_is_not(tmp_path: Path) -> None:
    model = tiny(tmp_path)
    assert model.config is not None
    model.config.write_text(model.config.read_text().replace("<- KIP848", "<- Kafka9"))
    with pytest.raises(ConformError, match="The model Tiny: there is no dialect 'Kafka9'; the constant"):
        judged(model.module, tmp_path, config=model.config)
