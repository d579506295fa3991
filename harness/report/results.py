"""The results of a run, read from the JSON that the other verbs write.

In the build folder: `check*.json`, `replay*.json`, `exhaust*.json`, `generate*.json` and, if there are any,
`graph*.json`, `simulate*.json`, `client*.json`, `mutate*.json`, `diff*.json` and `bench*.json` in `results`;
`mutants.json`, `graphs/*.svg`. Missing results are listed in `Results.missing`, never passed over.
`measured*.json` in `results` are the findings of replays on implementations that are not judged, if there are
any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeGuard, TypeVar

from harness.check import from_evidence
from harness.dialects import (
    TEXT_MODULE,
    Checked,
    Departure,
    Listed,
    Measured,
    departures,
    listed,
    models_of_dialects,
    read_measured,
)
from harness.engines.tlc_config import read_config
from harness.errors import USAGE, ConformError
from harness.manifest import Entry, Manifest
from harness.report.citations import Requirement, requirements
from harness.report.readers.bench import Benchmark, Rebalance
from harness.report.readers.check import ModelResult, Models
from harness.report.readers.client import REFERENCE, Client
from harness.report.readers.diff import Diff
from harness.report.readers.exhaust import Exhaust
from harness.report.readers.form import read, result_of
from harness.report.readers.generate import Generation
from harness.report.readers.graph import Graph
from harness.report.readers.mutants import Mutant
from harness.report.readers.mutate import Mutation
from harness.report.readers.replay import Replay
from harness.report.readers.simulate import Simulation, simulation

T = TypeVar("T")
VERBS: Final = (
    "check",
    "replay",
    "exhaust",
    "generate",
    "graph",
    "simulate",
    "client",
    "mutate",
    "diff",
    "bench",
    "measured",
)
"""The first words of the names of results."""
OWN: Final = "python"
"""The name of the kit's own coordinator as a target."""


@dataclass(frozen=True)
class Results:
    """All results; `missing` has sentences about missing ones.

    `requirements` are those of REQUIREMENTS.md, where it is beside the specification; `checks` has for each
    model of the manifest the properties that it checks.
    """

    models: Sequence[ModelResult]
    replays: Sequence[Replay]
    exhausts: Sequence[Exhaust]
    generations: Sequence[Generation]
    mutants: Sequence[Mutant]
    graphs: Sequence[Path]
    missing: Sequence[str]
    departures: Sequence[Departure] = ()
    dialects: Sequence[Checked] = ()
    measured: Sequence[Measured] = ()
    listed: Sequence[Listed] = ()
    state_graphs: Sequence[Graph] = ()
    requirements: Sequence[Requirement] = ()
    checks: Mapping[str, Set[str]] = field(default_factory=dict)
    simulations: Sequence[Simulation] = ()
    mutations: Sequence[Mutation] = ()
    diffs: Sequence[Diff] = ()
    rebalances: Sequence[Rebalance] = ()
    clients: Sequence[Client] = ()

    @property
    def of_others(self) -> list[str]:
        """The implementations that were judged, if none of them is the kit's own; else none."""
        targets = {one.target for one in self.replays}
        consumers = {one.name for one in self.clients if not one.note}
        return [] if OWN in targets or REFERENCE in consumers else sorted(targets | consumers)


def read_results(build: Path, manifest: Manifest | None, known: Sequence[Client] = ()) -> Results:
    """Read the build folder, and the evidence of models of the manifest that were not checked. `known` are
    clients whose records count where the folder has no result of them.

    ConformError (exit 2) if the folder is missing, is its own folder `results`, or a file is malformed.
    """
    if not build.is_dir():
        raise ConformError(
            f"There is no folder {build} with results: name it with --results. conform replay, check, "
            f"exhaust, generate and others write results with --json {build}/results/VERB.json, and so does "
            "make in a checkout."
        )
    if _is_inside(build):
        raise ConformError(
            f"The folder {build} has the results themselves; --results takes the build folder around it, "
            f"which may have graphs/, too: conform report --results {build.parent}",
            USAGE,
        )
    missing: list[str] = []

    def files(verb: str, needed: bool = False) -> list[Path]:
        there = sorted((build / "results").glob(f"{verb}*.json"))
        if needed and not there:
            missing.append(f"There is no result of `conform {verb}` ({build}/results/{verb}*.json).")
        return there

    def all_of(verb: str, form: type[T], needed: bool = False) -> list[T]:
        return [result_of(file, form) for file in files(verb, needed)]

    checked = _with_evidence(
        [one for group in all_of("check", Models, needed=True) for one in group.models], manifest
    )
    pictures = sorted((build / "graphs").glob("*.svg"))
    results = Results(
        models=sorted(checked, key=lambda one: one.record is not None),
        replays=all_of("replay", Replay, needed=True),
        exhausts=all_of("exhaust", Exhaust, needed=True),
        generations=all_of("generate", Generation, needed=True),
        mutants=_mutants(build / "mutants.json"),
        graphs=pictures,
        missing=missing,
        departures=_departures(manifest),
        dialects=models_of_dialects(manifest) if manifest else [],
        measured=[read_measured(file) for file in files("measured")],
        state_graphs=[one for one in all_of("graph", Graph) if one.depths],
        simulations=[simulation(file) for file in files("simulate")],
        mutations=all_of("mutate", Mutation),
        diffs=all_of("diff", Diff),
        rebalances=[one for each in all_of("bench", Benchmark) for one in each.rebalances],
        clients=_with_records(all_of("client", Client), known),
        listed=listed(manifest.folder) if _has_dialects(manifest) else [],
        requirements=requirements(manifest.folder.parent) if manifest else [],
        checks={entry.name: _checked(entry) for entry in manifest.entries} if manifest else {},
    )
    if not pictures:
        missing.append(f"There is no picture of `conform graph` ({build}/graphs/*.svg).")
    return results


def _is_inside(build: Path) -> bool:
    """Tell if this is the folder `results` of a build folder, which has the files of the verbs."""
    of_verbs = (f"{verb}*.json" for verb in VERBS)
    return not (build / "results").is_dir() and any(next(build.glob(one), None) for one in of_verbs)


def _with_evidence(checked: list[ModelResult], manifest: Manifest | None) -> list[ModelResult]:
    """The results of checked models, and the records of the others."""
    known = {one.name for one in checked}
    others = [entry for entry in manifest.entries if entry.name not in known] if manifest else []
    recorded = [from_evidence(entry, manifest.folder).to_json() for entry in others] if manifest else []
    return checked + [read(one, ModelResult, f"The record of {one['name']}:") for one in recorded]


def _with_records(judged: list[Client], known: Sequence[Client]) -> list[Client]:
    names = {one.name for one in judged}
    return [*judged, *(one for one in known if one.name not in names)]


def _checked(entry: Entry) -> Set[str]:
    """The names of the properties that a model checks; Apalache's invariant is an argument."""
    named = {str(entry.args["inv"])} if "inv" in entry.args else set()
    if entry.config is None or not entry.config.is_file():
        return named
    config = read_config(entry.config)
    return {*named, *config.names("INVARIANT"), *config.names("PROPERTY")}


def _mutants(file: Path) -> list[Mutant]:
    return result_of(file, list[Mutant]) if file.is_file() else []


def _departures(manifest: Manifest | None) -> list[Departure]:
    return [one for one in departures(manifest.folder) if one.differs] if _has_dialects(manifest) else []


def _has_dialects(manifest: Manifest | None) -> TypeGuard[Manifest]:
    return manifest is not None and (manifest.folder / TEXT_MODULE).is_file()
