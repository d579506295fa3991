"""The results of a run, read from the JSON that the other verbs write.

In the build folder: `check*.json`, `replay*.json`, `exhaust*.json` and `generate*.json` in `results`;
`mutants.json`, `graphs/*.svg`. What is not there is listed in `Results.missing`, never passed over.
`measured*.json` in `results` is what replays found of implementations that are not judged, if anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from harness.check import from_evidence
from harness.dialects import (
    TEXT_MODULE,
    Checked,
    Departure,
    Measured,
    departures,
    models_of_dialects,
    read_measured,
)
from harness.errors import ConformError
from harness.files import read_text
from harness.manifest import Manifest
from harness.replay.compare import Difference
from harness.replay.run import Failure

T = TypeVar("T")


@dataclass(frozen=True)
class ModelResult:
    """One model (`conform check --json`). `facts` are those of `harness.engines.base.Result`."""

    name: str
    purpose: str
    bounds: str
    engine: str
    version: str
    facts: Mapping[str, Any]
    seconds: float
    as_expected: bool
    differences: Sequence[Mapping[str, Any]]
    evidence: str
    reasons: Sequence[str]
    error: str
    spec_hash: str

    @property
    def outcome(self) -> str:
        """What the engine said: "holds", "violated NeverBoth", "" for no answer."""
        return f"{self.facts['outcome'] or ''} {self.facts['property'] or ''}".strip()

    @property
    def from_evidence(self) -> bool:
        """Whether the result was recorded earlier and still counts."""
        return self.evidence == "accepted"

    @property
    def without_record(self) -> bool:
        """Whether there is neither a check nor a record that still counts."""
        return self.evidence not in ("", "accepted")


@dataclass(frozen=True)
class Replay:
    """One `conform replay --json`; `source` is what its file is called."""

    source: str
    target: str
    dialect: str
    traces: int
    steps: int
    target_steps: int
    not_judged: int
    differences: int
    left_out: Sequence[str]
    coverage: Mapping[str, Any]
    failures: Sequence[Failure]


@dataclass(frozen=True)
class Exhaust:
    """One `conform exhaust --json`: `steps` of the model's state graph, `trace_steps` of tours and traces."""

    model: str
    target: str
    dialect: str
    spec_hash: str
    states: int
    steps: int
    trace_steps: int
    failed: int
    not_judged: int
    quarantined: int


@dataclass(frozen=True)
class Generation:
    """One `conform generate --json`; `unreached` are goals that no behaviour reaches."""

    source: str
    model: str
    traces: int
    steps: int
    unreached: Sequence[str]


@dataclass(frozen=True)
class Mutant:
    """A seeded bug and what caught it ("" if nothing did); `real_bug` is one that implementations had."""

    name: str
    target: str
    bug: str
    requirement: str
    real_bug: int | None
    caught_by: str


@dataclass(frozen=True)
class Results:
    """Everything that was found; `missing` says in sentences what should be there and is not."""

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


def read_results(build: Path, manifest: Manifest | None) -> Results:
    """Read the build folder, and for models of the manifest that no check was made of their evidence.

    ConformError (exit 2) if it is not there or a file is not what it should be.
    """
    if not build.is_dir():
        raise ConformError(f"There is no folder {build} with results: run make, or name it with --results.")
    missing: list[str] = []

    def read(kind: str, verb: str, read_one: Callable[[_Json], T]) -> list[T]:
        files = sorted((build / "results").glob(f"{kind}*.json"))
        if not files:
            missing.append(f"There is no result of `conform {verb}` ({build}/results/{kind}*.json).")
        return [read_one(_Json.of(file)) for file in files]

    models = [model for group in read("check", "check", _models) for model in group]
    if manifest:
        checked = {model.name for model in models}
        others = [
            from_evidence(entry, manifest.folder) for entry in manifest.entries if entry.name not in checked
        ]
        models += [_model(_Json(json.loads(json.dumps(one.to_json())), one.name, "")) for one in others]
    replays = read("replay", "replay", _replay)
    exhausts = read("exhaust", "exhaust", _exhaust)
    generations = read("generate", "generate", _generation)
    mutants: list[Mutant] = []
    if (build / "mutants.json").is_file():
        mutants = [_mutant(one) for one in _Json.list_of(build / "mutants.json")]
    graphs = sorted((build / "graphs").glob("*.svg"))
    if not graphs:
        missing.append(f"There is no picture of `conform graph` ({build}/graphs/*.svg).")
    models.sort(key=lambda model: bool(model.evidence))
    measured = [read_measured(file) for file in sorted((build / "results").glob("measured*.json"))]
    table: list[Departure] = []
    if manifest and (manifest.folder / TEXT_MODULE).is_file():
        table = [one for one in departures(manifest.folder) if one.differs]
    dialects = models_of_dialects(manifest) if manifest else []
    return Results(
        models, replays, exhausts, generations, mutants, graphs, missing, table, dialects, measured
    )


class _Json:
    """An object in a file; asking for a field that is not there, or of another type, names file and field."""

    def __init__(self, data: Any, place: str, stem: str) -> None:
        if not isinstance(data, dict):
            raise ConformError(f"{place} must be an object.")
        self._data: dict[str, Any] = data
        self._place = place
        self.stem = stem

    @classmethod
    def of(cls, path: Path) -> _Json:
        """The object that a file holds."""
        return cls(_load(path), f"The result {path}", path.stem)

    @classmethod
    def list_of(cls, path: Path) -> list[_Json]:
        """The objects of the list that a file holds."""
        items = _load(path)
        if not isinstance(items, list):
            raise ConformError(f"The result {path} must be a list.")
        return [cls(item, f"The result {path}, {index}", path.stem) for index, item in enumerate(items)]

    def get(self, name: str, kind: type[T]) -> T:
        """A field."""
        value = self._data.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ConformError(f'{self._place}: the field "{name}" is missing or of a wrong type.')
        return value

    def number(self, name: str) -> float:
        """A number, whole or not."""
        value = self._data.get(name)
        return float(value) if isinstance(value, int) else self.get(name, float)

    def text(self, name: str) -> str:
        """A text; null and absent are empty."""
        return "" if self._data.get(name) is None else self.get(name, str)

    def whole(self, name: str) -> int | None:
        """A whole number, or null."""
        return None if self._data.get(name) is None else self.get(name, int)

    def items(self, name: str) -> list[_Json]:
        """A list of objects."""
        return [_Json(item, f"{self._place}, {name}", self.stem) for item in self.get(name, list)]

    def part(self, name: str) -> _Json | None:
        """An object, or null."""
        data = self._data.get(name)
        return None if data is None else _Json(data, f"{self._place}, {name}", self.stem)

    def some(self, names: Sequence[str]) -> dict[str, Any]:
        """These fields, None where they are not there."""
        return {name: self._data.get(name) for name in names}


def _load(path: Path) -> Any:
    try:
        return json.loads(read_text(path, "The result"))
    except json.JSONDecodeError as error:
        raise ConformError(f"The result {path} is not JSON or is cut off: line {error.lineno}.") from None


_FACTS = ("outcome", "property", "length", "distinct_states", "depth")


def _models(data: _Json) -> list[ModelResult]:
    return [_model(one) for one in data.items("models")]


def _model(one: _Json) -> ModelResult:
    evidence = one.part("evidence")
    return ModelResult(
        name=one.get("name", str),
        purpose=one.text("purpose"),
        bounds=one.text("bounds"),
        engine=one.get("engine", str),
        version=one.text("version"),
        facts=one.some(_FACTS),
        seconds=one.number("seconds"),
        as_expected=one.get("as_expected", bool),
        differences=one.get("differences", list),
        evidence=evidence.get("status", str) if evidence else "",
        reasons=evidence.get("reasons", list) if evidence else [],
        error=one.text("error"),
        spec_hash=one.text("spec_hash"),
    )


def _replay(data: _Json) -> Replay:
    coverage = data.get("coverage", dict)
    for name in ("actions", "branches", "errors"):
        if not isinstance(coverage.get(name), dict):
            raise ConformError(f'The result {data.stem}.json has no "{name}" in its "coverage".')
    return Replay(
        source=_source(data.stem, "replay"),
        target=data.get("target", str),
        dialect=data.get("dialect", str),
        traces=data.get("traces", int),
        steps=data.get("steps", int),
        target_steps=data.get("target_steps", int),
        not_judged=data.get("not_judged", int),
        differences=data.get("differences", int),
        left_out=data.get("left_out", list),
        coverage=coverage,
        failures=[_failure(raw, data.stem) for raw in data.get("failures", list)],
    )


def _failure(raw: Any, stem: str) -> Failure:
    try:
        differences = [Difference(one["path"], one["expected"], one["got"]) for one in raw["differences"]]
        return Failure(**{**raw, "differences": differences})
    except (KeyError, TypeError):
        raise ConformError(f"The result {stem}.json has a failure of another form: {raw!r:.80}.") from None


def _exhaust(data: _Json) -> Exhaust:
    counts = ("states", "steps", "trace_steps", "failed", "not_judged", "quarantined")
    return Exhaust(
        model=data.text("model") or "traces",
        target=data.get("target", str),
        dialect=data.get("dialect", str),
        spec_hash=data.text("spec_hash"),
        **{name: data.get(name, int) for name in counts},
    )


def _generation(data: _Json) -> Generation:
    return Generation(
        source=_source(data.stem, "generate"),
        model=data.get("model", str),
        traces=data.get("traces", int),
        steps=data.get("steps", int),
        unreached=data.get("unreached", list),
    )


def _mutant(one: _Json) -> Mutant:
    return Mutant(
        name=one.get("mutant", str),
        target=one.get("target", str),
        bug=one.get("bug", str),
        requirement=one.get("requirement", str),
        real_bug=one.whole("real_bug"),
        caught_by=one.text("caught_by"),
    )


def _source(stem: str, kind: str) -> str:
    return stem.removeprefix(kind).strip("-_.") or "all"
