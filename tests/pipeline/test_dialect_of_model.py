"""A model that names a dialect is judged on a target that speaks it, without an option."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import ROOT, faulty, kafka, run, tiny

from harness.cli.exhaust import command
from harness.errors import ConformError
from harness.pipeline import sources
from harness.pipeline.sources import dialects_of

TRACES = ROOT / "traces"


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


def of_kafka() -> list[Path]:
    return sorted((TRACES / "dialects" / "kafka-4.2").rglob("*.itf.json"))


def test_traces_of_another_dialect_are_not_judged_in_the_text(tmp_path: Path) -> None:
    """Departures of the dialect were differences of a target that speaks the text."""
    files = [path.as_uri() for path in of_kafka()]
    (tmp_path / "damaged.itf.json").write_text("{")
    (tmp_path / "live.jsonl").touch()
    damaged, log = ((tmp_path / name).as_uri() for name in ("damaged.itf.json", "live.jsonl"))
    assert dialects_of([*files, damaged, "file:///graph.dot"]) == {"Every trace": "kafka-4.2"}
    several = {f"The trace {of_kafka()[0]}": "kafka-4.2", f"The trace {tmp_path}/live.jsonl": "kip-848"}
    assert dialects_of([*files, log]) == several
    for words, sentence in (
        ({"inputs": files, "dialect": "kip-848"}, "Every trace is of the dialect 'kafka-4.2', not 'kip-848'"),
        ({"inputs": [files[0], log]}, "There are several dialects: The trace"),
    ):
        with pytest.raises(ConformError) as caught:
            command(**words, out=str(tmp_path / "out"))  # type: ignore[arg-type]
        assert sentence in caught.value.message and caught.value.exit_code == 2
    assert not (tmp_path / "out").exists()


def test_the_dialect_is_that_of_the_traces(tmp_path: Path) -> None:
    command(inputs=[str(of_kafka()[0])], out=str(tmp_path / "out"), json_file=tmp_path / "a.json")
    result = json.loads((tmp_path / "a.json").read_text())
    assert (result["dialect"], result["holds"]) == ("kafka-4.2", True)


def test_a_trace_of_another_dialect_that_spark_reads_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "by_spark", lambda _: True)
    with pytest.raises(ConformError, match=r"is of the dialect .*, and the target is") as caught:
        run(tmp_path / "out", files=[of_kafka()[0]])
    assert caught.value.exit_code == 2


def test_a_dialect_that_there_is_not(tmp_path: Path) -> None:
    model = tiny(tmp_path)
    assert model.config is not None
    model.config.write_text(model.config.read_text().replace("<- KIP848", "<- Kafka9"))
    with pytest.raises(ConformError, match="The model Tiny: there is no dialect 'Kafka9'; the constant"):
        judged(model.module, tmp_path, config=model.config)
