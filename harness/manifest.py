"""The manifest of models: what each is for, and exactly what its check must give.

`manifest.json` is `{"models": [entry, …]}`; `Entry` says what the fields of an entry are. Every field must be
there except those with a default. Files are named relative to the manifest.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from harness.engines.apalache import OPTIONS as APALACHE_OPTIONS
from harness.engines.base import Model, Outcome
from harness.errors import ConformError
from harness.files import read_text

TIERS: Final = ("small", "soak")
ARGUMENTS: Final[dict[str, dict[str, tuple[type, ...]]]] = {
    "tlc": {"deadlock": (bool,), "workers": (int,), "simulate": (dict,)},
    "apalache": {"deadlock": (bool,), "command": (str,)} | {name: (str, int) for name in APALACHE_OPTIONS},
}
"""Engine -> arguments that an entry may give it, and their types."""

_BRIEF_S: Final = 5
_FIELDS: Final[dict[str, tuple[type, ...]]] = {
    "name": (str,),
    "module": (str,),
    "config": (str, type(None)),
    "engine": (str,),
    "purpose": (str,),
    "bounds": (str,),
    "args": (dict,),
    "expect": (dict,),
    "distinct_states": (int, type(None)),
    "depth": (int, type(None)),
    "seconds": (int, float),
    "tier": (str,),
    "tour": (str,),
    "slow": (str,),
}
_EXPECT: Final[dict[str, tuple[type, ...]]] = {"outcome": (str,), "property": (str,), "length": (int,)}
_SIMULATE: Final[dict[str, tuple[type, ...]]] = {"num": (int,), "depth": (int,), "seed": (int,)}
_OPTIONAL: Final = frozenset({"config", "args", "distinct_states", "depth", "tour", "slow"})
_KINDS: Final = {str: "a text", int: "a number", float: "a number", dict: "an object", bool: "true or false"}


@dataclass(frozen=True)
class Entry:
    """One model.

    `expect` is {"outcome": "holds" | "violated" | "deadlock", "property": name, "length": steps of the
    counterexample}; the last two belong to "violated" and "deadlock". `distinct_states` and `depth` are the
    engine's figures (Apalache has no states; its depth is the number of steps that it looked ahead).
    `args` are the engine's (`ARGUMENTS`), `seconds` a rough running time, `bounds` a sentence for readers.
    `tour` is the closed model whose long paths go with an open one in `conform exhaust`, or "". `slow` says
    why a model takes 10 s of processor or more for fewer than 10,000 states; "" for the others.
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

    def model(self) -> Model:
        """The model as an engine takes it. One worker for a model that must fail: more may find a longer way
        to it."""
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
        """The entry of this name. ConformError that names the most similar one, or all, if there is none."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        names = [entry.name for entry in self.entries]
        place = self.folder / "manifest.json"
        if like := get_close_matches(name, names, 1):
            raise ConformError(f"There is no model {name} in {place}. Did you mean {like[0]}?")
        raise ConformError(f"There is no model {name} in {place}; it has: {', '.join(names)}.")


def read_manifest(path: Path) -> Manifest:
    """Read and validate. ConformError (exit 2) that names the entry and the field for the first mistake."""
    text = read_text(path, "The manifest")
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConformError(
            f"The manifest {path} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from None
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
    _validate(raw, _FIELDS, place, _OPTIONAL)
    _validate(raw["expect"], _EXPECT, f"{place} expect:", {"property", "length"})
    _choice(raw["engine"], tuple(ARGUMENTS), "engine", place)
    _choice(raw["tier"], TIERS, "tier", place)
    _choice(raw["expect"]["outcome"], ("holds", "violated", "deadlock"), "outcome", place)
    args = raw.get("args", {})
    known = ARGUMENTS[raw["engine"]]
    _validate(args, known, f"{place} args:", known)
    if "simulate" in args:
        _validate(args["simulate"], _SIMULATE, f"{place} args: simulate:")
    _validate_expectation(raw, args, place)
    return Entry(
        name=raw["name"],
        module=_file(path.parent, raw["module"], place),
        config=_file(path.parent, raw["config"], place) if raw.get("config") else None,
        engine=raw["engine"],
        purpose=raw["purpose"],
        bounds=raw["bounds"],
        args=args,
        outcome=Outcome(raw["expect"]["outcome"]),
        property=raw["expect"].get("property"),
        length=raw["expect"].get("length"),
        distinct_states=raw.get("distinct_states"),
        depth=raw.get("depth"),
        seconds=float(raw["seconds"]),
        tier=raw["tier"],
        tour=raw.get("tour", ""),
        slow=raw.get("slow", ""),
    )


def _validate(
    raw: Any, fields: Mapping[str, tuple[type, ...]], place: str, optional: Container[str] = ()
) -> None:
    if not isinstance(raw, dict):
        raise ConformError(f"{place} must be an object.")
    for name, kinds in fields.items():
        if name in raw:
            # bool is a subclass of int: true is no number of states
            fits = isinstance(raw[name], kinds) and (not isinstance(raw[name], bool) or bool in kinds)
            if not fits:
                raise ConformError(
                    f'{place} the field "{name}" must be {_KINDS[kinds[0]]}, not {raw[name]!r}.'
                )
        elif name not in optional:
            raise ConformError(f'{place} the field "{name}" is missing.')
    if unknown := sorted(set(raw) - set(fields)):
        raise ConformError(f'{place} the field "{unknown[0]}" is not known; known are {", ".join(fields)}.')


def _choice(value: str, choices: tuple[str, ...], name: str, place: str) -> None:
    if value not in choices:
        raise ConformError(f'{place} the field "{name}" must be one of {", ".join(choices)}, not {value!r}.')


def _validate_expectation(raw: dict[str, Any], args: dict[str, Any], place: str) -> None:
    """Everything that the engine says must be expected, so that nothing can change unseen."""
    expect, holds = raw["expect"], raw["expect"]["outcome"] == "holds"
    if holds and not expect.keys() <= {"outcome"}:
        raise ConformError(f'{place} expect: a model that holds has no "property" or "length".')
    if expect["outcome"] == "violated" and not {"property", "length"} <= expect.keys():
        raise ConformError(f'{place} expect: a model that must fail needs "property" and "length".')
    if raw["engine"] == "tlc" and holds and "simulate" not in args:
        for name in ("distinct_states", "depth"):
            if raw.get(name) is None:
                raise ConformError(f'{place} the field "{name}" is missing: an exhaustive check gives it.')
    if raw["engine"] == "apalache" and raw.get("distinct_states") is not None:
        raise ConformError(f'{place} Apalache does not count states: leave "distinct_states" out.')


def _file(folder: Path, name: str, place: str) -> Path:
    if not (folder / name).is_file():
        raise ConformError(f"{place} the file {folder / name} does not exist.")
    return folder / name
