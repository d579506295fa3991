"""Inputs that changed are read again, and what was made of them only in part is made again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pipeline_runs import LIMITS, SPEC
from pyspark.sql import SparkSession

from harness.engines.base import Model
from harness.pipeline import inputs, tours
from harness.pipeline.run import Run
from harness.pipeline.store import Store


def test_a_file_with_other_bytes_of_the_same_size_and_time_is_another(tmp_path: Path) -> None:
    file = tmp_path / "a.itf.json"
    contents = []
    for text in ("[1]", "[2]"):
        file.write_text(text)
        os.utime(file, (1_700_000_000, 1_700_000_000))
        contents.append(inputs._content(file.as_uri()))
    assert len(set(contents)) == 2
    assert inputs._content(file.as_uri()) == contents[1]


def test_tables_of_scenarios_and_logs_depend_on_the_specification(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(SPEC, tmp_path / "spec", ignore=shutil.ignore_patterns("evidence"))
    monkeypatch.chdir(tmp_path)
    before = {name: inputs._rendered([f"file:///{name}"]) for name in ("a.yaml", "a.jsonl", "a.itf.json")}
    with (tmp_path / "spec" / "Coordinator.tla").open("a") as stream:
        stream.write("changed\n")
    after = {name: inputs._rendered([f"file:///{name}"]) for name in before}
    assert {name for name in before if before[name] != after[name]} == {"a.yaml", "a.jsonl"}


def test_tours_that_fail_in_the_middle_are_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger had the tours of another version of the model, and the file some of the new ones."""
    run = Run(SparkSession.active(), Store(str(tmp_path)))
    model = Model("MCTour", SPEC / "MCTour.tla", SPEC / "MCTour.cfg")
    file = tmp_path / "tours" / "tours.parquet"

    def tours_of(*_: Any) -> Iterator[dict[str, Any]]:
        yield {"trace": "t", "uri": "tour 1", "kind": "tour"}

    def failing(*given: Any) -> Iterator[dict[str, Any]]:
        yield from tours_of(*given)
        raise OSError("there is no space left")

    monkeypatch.setattr(tours, "_GROUP", 1)
    monkeypatch.setattr(tours, "_tours", tours_of)
    depends, made = inputs.make_tours(run, model, LIMITS, tmp_path / "log")
    assert made == {"tours": 1} and file.is_file()
    with monkeypatch.context() as broken:
        broken.setattr(tours, "_tours", failing)
        broken.setattr(inputs, "VERSION", "another")
        with pytest.raises(OSError, match="no space left"):
            inputs.make_tours(run, model, LIMITS, tmp_path / "log")
    assert not file.exists()
    assert run.store.done(tours.FOLDER, depends) is None
    assert inputs.make_tours(run, model, LIMITS, tmp_path / "log") == (depends, made) and file.is_file()
