"""Runs of `exhaust` for tests: models, targets with faults, and the tables in any reader's form."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow.dataset as ds

from harness.engines.base import Limits, Model
from harness.mutate.patches import apply_patch, read_patch
from harness.pipeline.exhaust import Exhausted, Job, exhaust
from harness.waivers import Waivers

ROOT: Final = Path(__file__).parents[2]
SPEC: Final = ROOT / "spec"
GOLDEN: Final = ROOT / "traces" / "golden"
TRACE: Final = GOLDEN / "basic.itf.json"
LIMITS: Final = Limits("512m")
MUTANT: Final = ROOT / "tests" / "mutants" / "coordinator" / "34-previous-epoch-forgotten.patch"

Row = dict[str, Any]


@dataclass
class Ran:
    """A run, and where its tables are."""

    place: Path
    result: Exhausted
    model: Model | None = None

    def rows(self, table: str, *below: str) -> list[Row]:
        """The rows of a table."""
        return rows(self.place, table, *below)

    def units(self) -> list[str]:
        """The units of work that were done in this run and need not be done in every run, in the order of
        their names."""
        results = {timing["unit"] for timing in self.result.timings if timing["stage"] != "summary"}
        return sorted(results - {"start"})


def run(
    place: Path,
    target: str = "python",
    model: Model | None = None,
    files: Sequence[Path | str] = (),
    page: bool = False,
    waivers: Waivers | None = None,
) -> Ran:
    """Run all stages into `place`."""
    place.mkdir(parents=True, exist_ok=True)
    uris = [str(file) if "://" in str(file) else Path(file).as_uri() for file in files]
    job = Job(target, "kip-848", str(place), model=model, files=uris, page=page, waivers=waivers or Waivers())
    return Ran(place, exhaust(job, LIMITS, place), model)


def dataset(place: Path, table: str, *below: str) -> Any:
    """A table as pyarrow reads it, with the columns that its folders name."""
    return ds.dataset(place.joinpath(table, *below), partitioning="hive")


def rows(place: Path, table: str, *below: str) -> list[Row]:
    """The rows of a table."""
    results: list[Row] = dataset(place, table, *below).to_table().to_pylist()
    return results


def tiny(folder: Path, **constants: object) -> Model:
    """MCTour with group epoch 1 only, and other constants as they are given, in a folder of its own."""
    for path in SPEC.glob("*.tla"):
        shutil.copy(path, folder)
    text = (SPEC / "MCTour.cfg").read_text()
    for name, value in {"MaxEpoch": 1, **constants}.items():
        old = next(line for line in text.splitlines() if line.startswith(f"  {name} ="))
        text = text.replace(old, f"  {name} = {value}")
    (folder / "Tiny.cfg").write_text(text)
    return Model("Tiny", folder / "MCTour.tla", folder / "Tiny.cfg")


def kafka(folder: Path) -> Model:
    """MCKafka44Tour with the member m2 alone, which subscribes to foo, and group epochs up to 2."""
    for path in SPEC.glob("*.tla"):
        shutil.copy(path, folder)
    text = (SPEC / "MCKafka44Tour.cfg").read_text().replace("<- MCMemberIds", "<- OneMember")
    module = '---- MODULE Kafka ----\nEXTENDS MCKafka\nOneMember == {"m2"}\nFoo == {{"foo"}}\n====\n'
    (folder / "Kafka.tla").write_text(module)
    text = text.replace("MaxEpoch = 3", "MaxEpoch = 2").replace("<- JoinsThatAreOdd", "<- NoOddRequests")
    (folder / "Kafka.cfg").write_text(text.replace("<- MCSubscriptions", "<- Foo"))
    return Model("Kafka", folder / "Kafka.tla", folder / "Kafka.cfg")


def one_member(folder: Path) -> Model:
    """The model of `tiny`, with one member."""
    model = tiny(folder)
    module = folder / "OneMember.tla"
    module.write_text('---- MODULE OneMember ----\nEXTENDS MCTour\nOneMember == {"m1"}\n====\n')
    config = folder / "OneMember.cfg"
    config.write_text((folder / "Tiny.cfg").read_text().replace("<- MCMemberIds", "<- OneMember"))
    return Model("OneMember", module, config, model.args)


def mutated(folder: Path, patch: Path) -> str:
    """The name of a target: this coordinator with the bug of a patch, behind the line protocol."""
    shutil.copytree(ROOT / "coordinator", folder / "coordinator")
    apply_patch(read_patch(patch), folder)
    program = folder / "run.py"
    program.write_text(
        "import runpy, sys\n"
        "sys.argv[1:] = ['--stdio']\n"
        "runpy.run_module('coordinator', run_name='__main__', alter_sys=True)\n"
    )
    return f"stdio:{sys.executable} {program}"


def faulty(fault: str) -> str:
    """The name of a target that has one of the faults of faulty_target.py."""
    return f"stdio:{sys.executable} {Path(__file__).parent / 'faulty_target.py'} {fault}"


def operation(row: Row) -> Row:
    """The operation that a row of `steps` sends."""
    sent: Row = json.loads(row["operation"])
    return sent
