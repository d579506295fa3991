"""Mutants of the specification on the kit's own checks: golden scenarios, then small models.

Each is put into a copy of spec/. What the manifest says of a model must come out exactly; a scenario must be
a behaviour as it is written.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.check import compare
from harness.engines.base import EngineError, Failure, Limits
from harness.engines.tlc import Tlc
from harness.errors import USAGE, ConformError
from harness.itf import read_trace
from harness.manifest import Entry, read_manifest
from harness.modules import dependencies
from harness.mutate.mutant import KILLED, SURVIVED, TIMED_OUT, UNVIABLE, Mutant
from harness.scenario.files import explain, load_file, scenario_files
from harness.scenario.from_trace import scenario_of_trace
from harness.scenario.model import Scenario
from harness.scenario.run import play

FOLDER: Final = "spec"
MOST: Final = 6_000
"""States of a model that judges mutants."""
FIRST: Final = ("MCTour", "MCKafka44Full", "MCKafka42Tour", "MCStaticTour", "MCRefused")
"""What finds most comes first."""
SCENARIOS: Final = "scenarios"
_NOT_THERE: Final = frozenset({Failure.PARSE, Failure.TYPE, Failure.CONFIGURATION})


@dataclass(frozen=True, slots=True)
class Checks:
    """All that judges a mutant of a module: scripts, and models by the modules that they depend on."""

    root: Path
    scenarios: Sequence[Scenario]
    models: Sequence[tuple[Entry, frozenset[str]]]
    limit_s: float

    def of(self, module: str) -> list[Entry]:
        """The models that depend on a module, by its file name."""
        return [entry for entry, needs in self.models if module in needs]


def read_checks(root: Path, limit_s: float) -> Checks:
    """Golden scenarios of consumer groups, the committed traces that can be said as such, and models of at
    most MOST states.

    ConformError as of reading them.
    """
    files = map(load_file, scenario_files([root / "traces" / "golden"]))
    scenarios = [one for one in files if isinstance(one, Scenario)]
    for path in sorted((root / "traces" / "corpus").glob("*.itf.json")):
        trace = read_trace(path)
        if not trace.meta.get("constants") and "log" not in trace.variables:
            scenarios.append(scenario_of_trace(trace, path.stem, str(path)))
    entries = [
        entry
        for entry in read_manifest(root / FOLDER / "manifest.json").entries
        if entry.engine == "tlc" and 0 < int(entry.expected().get("distinct_states", 0)) <= MOST
    ]
    order = {name: place for place, name in enumerate(FIRST)}
    entries.sort(
        key=lambda entry: (order.get(entry.name, len(order)), int(entry.expected()["distinct_states"]))
    )
    models = [
        (entry, frozenset(path.name for path in dependencies(entry.model().module))) for entry in entries
    ]
    return Checks(root, scenarios, models, limit_s)


def judge(mutant: Mutant, checks: Checks) -> tuple[str, str]:
    """The outcome for a mutant, and what said so."""
    with tempfile.TemporaryDirectory(prefix="conform-mutate-") as name:
        folder = Path(name) / FOLDER
        shutil.copytree(checks.root / FOLDER, folder, ignore=shutil.ignore_patterns("evidence"))
        (Path(name) / mutant.path).write_text(mutant.text, encoding="utf-8")
        return verdict(folder, Path(mutant.path).name, checks)


def verdict(folder: Path, module: str, checks: Checks) -> tuple[str, str]:
    """The outcome for the specification in a folder, as far as a module of it goes."""
    limits = Limits("1g", checks.limit_s, 1)
    said = SCENARIOS
    try:
        if module in {path.name for path in dependencies(folder / "Golden.tla")}:
            for played in play(checks.scenarios, folder, limits):
                if not played.holds:
                    return KILLED, next(explain(played))
        manifest = read_manifest(folder / "manifest.json")
        models = checks.of(module)
        for model in models:
            said = model.name
            entry = manifest.entry(said)
            result = Tlc().check(entry.model(), folder / "tlc.log", limits)
            for one in compare(entry.expected(), result.facts()):
                return KILLED, f"{said}: {one.what} {one.got}, not {one.expected}"
    except EngineError as error:
        return _no_answer(error, said)
    except ConformError as error:
        if error.exit_code != USAGE:
            raise
        return KILLED, f"{said}: {error.message}"
    return SURVIVED, ", ".join([SCENARIOS, *(model.name for model in models)])


def _no_answer(error: EngineError, said: str) -> tuple[str, str]:
    if error.failure is Failure.MISSING:
        raise error
    lines = error.message.splitlines()
    if error.failure in _NOT_THERE:
        return UNVIABLE, f"{said}: {' '.join(lines[:2])}"
    if error.failure in (Failure.TIME_OUT, Failure.MEMORY):
        return TIMED_OUT, f"{said}: {error.failure.value}"
    return KILLED, f"{said}: {error.failure.value}, {' '.join(lines[1:2])}"
