"""The manifest of models: the purpose of each, and the exact result that its check must give.

`manifest.json` is `{"models": [entry, …]}`; `Entry` describes the fields of an entry. Every field must be
there except those with a default. Files are named relative to the manifest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET, UnsetType

from harness.engines.apalache import OPTIONS as APALACHE_OPTIONS
from harness.engines.base import Model, Outcome
from harness.errors import ConformError, meant
from harness.files import read_json
from harness.forms import Form, formed

TIERS: Final = ("small", "soak")
_BRIEF_S: Final = 5
_NAMED: Final = 12
"""The number of models that an error names."""


class _Simulation(Form):
    num: int
    depth: int
    seed: int


class _TlcArguments(Form):
    deadlock: bool = True
    workers: int = 1
    simulate: _Simulation | None = None


_ApalacheArguments: Final = msgspec.defstruct(
    "ApalacheArguments",
    [("deadlock", bool, True), ("command", str, ""), *((name, str | int, "") for name in APALACHE_OPTIONS)],
    bases=(Form,),
)
_ARGUMENTS: Final[dict[str, type[msgspec.Struct]]] = {"tlc": _TlcArguments, "apalache": _ApalacheArguments}
"""Engine -> the arguments that an entry may give it."""


class _Expected(Form):
    outcome: Literal["holds", "violated", "deadlock"]
    property: str | UnsetType = UNSET
    length: int | UnsetType = UNSET


class _Entry(Form):
    """An entry as in the file; `Entry` describes the fields."""

    name: str
    module: str
    engine: Literal["tlc", "apalache"]
    purpose: str
    bounds: str
    expect: _Expected
    seconds: float
    tier: Literal["small", "soak"]
    config: str | None = None
    args: dict[str, Any] = msgspec.field(default_factory=dict)
    distinct_states: int | None = None
    depth: int | None = None
    tour: str = ""
    slow: str = ""
    alone: str = ""


@dataclass(frozen=True)
class Entry:
    """One model.

    `expect` is {"outcome": "holds" | "violated" | "deadlock", "property": name, "length": steps of the
    counterexample}; the last two belong to "violated" and "deadlock". `distinct_states` and `depth` are the
    engine's figures (Apalache has no states; its depth is the number of steps that it looked ahead). `args`
    are the engine's (`_ARGUMENTS`), `seconds` a rough running time, `bounds` a sentence for readers. `tour`
    is the closed model whose long paths go with an open one in `conform exhaust`, or "". `slow` is the reason
    why a model takes 10 s of processor or more for fewer than 10,000 states; "" for the others. `alone` says
    why no implementation may be judged by the model's steps; "" for the others.
    """

    name: str
    module: Path
    config: Path | None
    engine: str
    purpose: str
    bounds: str
    args: Mapping[str, Any]
    outcome: Outcome
    property: str | None
    length: int | None
    distinct_states: int | None
    depth: int | None
    seconds: float
    tier: str
    tour: str
    slow: str
    alone: str

    def model(self) -> Model:
        """The model in the form of an engine. A model that must fail has one worker: several may find a
        longer counterexample."""
        deterministic = {} if self.outcome is Outcome.HOLDS or self.engine != "tlc" else {"workers": 1}
        args = {**deterministic, **self.args}
        return Model(self.name, self.module, self.config, args, brief=self.seconds <= _BRIEF_S)

    def expected(self) -> dict[str, str | int]:
        """The facts that a check must give, by the names of `Result.facts`."""
        facts = {
            "outcome": self.outcome.value,
            "property": self.property,
            "length": self.length,
            "distinct_states": self.distinct_states,
            "depth": self.depth,
        }
        return {name: fact for name, fact in facts.items() if fact is not None}


@dataclass(frozen=True)
class Manifest:
    """The entries, in their order, and the folder that they are relative to."""

    folder: Path
    entries: tuple[Entry, ...]

    def entry(self, name: str) -> Entry:
        """The entry of this name. ConformError that names the most similar one, or some, if there is none."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = [entry.name for entry in self.entries]
        place = self.folder / "manifest.json"
        if hint := meant(name, names):
            raise ConformError(f"There is no model {name} in {place}.{hint}")
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        raise ConformError(f"There is no model {name} in {place}; it has: {', '.join(names[:_NAMED])}{more}.")


def read_manifest(path: Path) -> Manifest:
    """Read and validate. ConformError (exit 2) that names the entry and the field for the first mistake."""
    data = read_json(path, "The manifest")
    if not isinstance(data, dict) or not isinstance(data.get("models"), list) or not data["models"]:
        raise ConformError(f'The manifest {path} must be {{"models": [entries]}} with at least one entry.')
    entries = [_entry(raw, index, path) for index, raw in enumerate(data["models"], start=1)]
    names = [entry.name for entry in entries]
    for name in names:
        if names.count(name) > 1:
            raise ConformError(f"The manifest {path} has {names.count(name)} entries of the name {name}.")
    return Manifest(path.parent, tuple(entries))


def _entry(raw: Any, number: int, path: Path) -> Entry:
    name = raw.get("name") if isinstance(raw, dict) else None
    place = f"The manifest {path}, entry {name if isinstance(name, str) else number}:"
    read = formed(raw, _Entry, place)
    formed(read.args, _ARGUMENTS[read.engine], f"{place} args:")
    _validate_expectation(read, place)
    expect = read.expect
    return Entry(
        name=read.name,
        module=_file(path.parent, read.module, place),
        config=_file(path.parent, read.config, place) if read.config else None,
        engine=read.engine,
        purpose=read.purpose,
        bounds=read.bounds,
        args=read.args,
        outcome=Outcome(expect.outcome),
        property=None if expect.property is UNSET else expect.property,
        length=None if expect.length is UNSET else expect.length,
        distinct_states=read.distinct_states,
        depth=read.depth,
        seconds=read.seconds,
        tier=read.tier,
        tour=read.tour,
        slow=read.slow,
        alone=read.alone,
    )


def _validate_expectation(read: _Entry, place: str) -> None:
    """Check that every figure of the engine has an expected value, so that nothing can change unseen."""
    expect, holds = read.expect, read.expect.outcome == "holds"
    if holds and (expect.property, expect.length) != (UNSET, UNSET):
        raise ConformError(f'{place} expect: a model that holds has no "property" or "length".')
    if expect.outcome == "violated" and UNSET in (expect.property, expect.length):
        raise ConformError(f'{place} expect: a model that must fail needs "property" and "length".')
    if read.engine == "tlc" and holds and "simulate" not in read.args:
        for name in ("distinct_states", "depth"):
            if getattr(read, name) is None:
                raise ConformError(f'{place} the field "{name}" is missing: an exhaustive check gives it.')
    if read.engine == "apalache" and read.distinct_states is not None:
        raise ConformError(f'{place} Apalache does not count states: leave "distinct_states" out.')


def _file(folder: Path, name: str, place: str) -> Path:
    if not (folder / name).is_file():
        raise ConformError(f"{place} the file {folder / name} does not exist.")
    return folder / name
