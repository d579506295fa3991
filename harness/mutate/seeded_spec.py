"""TLC's verdict on a specification with a seeded bug: computed now, or recorded for the same question.

A record is one of `harness.evidence`: its key holds every definition of the specification with the bug in it,
the configuration, and the engine with its options. The committed records are beside the patches, in
`evidence/`. As the gate does (`harness.gate.again`), a run computes anew each record that a change adds or
alters, and of the others the tenth whose turn it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.engines.base import Limits, Outcome, Result
from harness.engines.tlc import Tlc
from harness.errors import ConformError
from harness.evidence import Records, evidence_file
from harness.files import read_text
from harness.gate.again import TURNS, change_of
from harness.manifest import Entry, read_manifest
from harness.mutate.patches import FOLDER
from harness.scenario.files import explain, play_files

STORE: Final = Path("build") / "store" / "seeded"
"""The folder in which this machine keeps its own results."""
_MODEL: Final = re.compile(r"(\w+)(?: with (\w+) = (\S+))?")
_TIMEOUT_S: Final = 240.0


@dataclass(frozen=True)
class Verdicts:
    """Folder of the records of seeded bugs, and the names of those that are not taken."""

    records: Records
    anew: frozenset[str]


def verdicts(root: Path, names: Iterable[str], fresh: bool = False) -> Verdicts:
    """The records of a checkout, for checks of these names (`record_name`). With `fresh` no record is
    taken."""
    records = Records(root / FOLDER / "spec", root / STORE)
    if fresh:
        return Verdicts(records, frozenset(names))
    change = change_of(records.folder)
    files = {path.name for path in change.altered or ()}
    own = sorted(names)
    turns = {name for place, name in enumerate(own) if place % TURNS == change.commits % TURNS}
    altered = {name for name in own if change.altered is None or {f"{name}.json", f"{name}.log"} & files}
    return Verdicts(records, frozenset(turns | altered))


def record_name(check: str, patch: Path | None) -> str:
    """The name of a record: that of the patch, or of a check without a bug."""
    return patch.stem if patch else "without-" + re.sub(r"\W+", "-", check).strip("-")


def renamed(entry: Entry, name: str) -> Entry:
    """An entry whose record has this name."""
    return replace(entry, name=name)


def failing(root: Path, folder: Path, check: str, patch: Path | None, known: Verdicts) -> str:
    """The property that a model violates, or the difference between a golden scenario and the specification
    in `folder`; "" for none. A run with a bug in it is likely to find something soon."""
    if check.endswith(".yaml"):
        return _otherwise(root, folder, check)
    entry = renamed(entry_of(folder / "spec", check), record_name(check, patch))
    result = _recorded(entry, known) or _computed(entry, folder, known, brief=patch is not None)
    if result.outcome is Outcome.HOLDS:
        return ""
    what = f"property {result.violated}" if result.violated else result.outcome.value
    return f"{what} of {check}, after {result.length} steps"


def _otherwise(root: Path, folder: Path, check: str) -> str:
    played = play_files([root / check], folder / "spec")[0]
    return next((line.removeprefix(f"{root}/") for line in explain(played)), "")


def _recorded(entry: Entry, known: Verdicts) -> Result | None:
    """The valid record; None where there is none, or where the result is computed anew."""
    return None if entry.name in known.anew else known.records.find(entry).result


def _computed(entry: Entry, folder: Path, known: Verdicts, brief: bool) -> Result:
    """Run TLC, and keep its result."""
    limits = Limits(memory="1g", timeout=_TIMEOUT_S, workers=1, brief=brief)
    result = Tlc().check(entry.model(), folder / "tlc.log", limits)
    known.records.keep(entry, result)
    if evidence_file(entry, known.records.folder).is_file():
        _compare(entry, result, known.records)
    return result


def _compare(entry: Entry, result: Result, records: Records) -> None:
    """ConformError if the valid committed record has another result."""
    committed, facts = replace(records, store=None).find(entry), result.facts()
    if committed.counts and committed.facts != facts:
        path = evidence_file(entry, records.folder)
        raise ConformError(f"{path} says {committed.facts}, a new computation says {facts}.")


def entry_of(spec: Path, check: str) -> Entry:
    """The model that a check names, with the constant that the check gives. ConformError if there is no such
    model."""
    match = _MODEL.fullmatch(check)
    if match is None:
        raise ConformError(f"The check {check!r} is not 'MODEL' or 'MODEL with CONSTANT = VALUE'.")
    name, constant, value = match.groups()
    entry = read_manifest(spec / "manifest.json").entry(name)
    if constant is None:
        return entry
    config = entry.model().configuration
    setting = re.compile(rf"^ *{constant} (?:=|<-) .*$", re.MULTILINE)
    text, count = setting.subn(lambda _: f"  {constant} = {value}", read_text(config, "The configuration"))
    if count != 1:
        raise ConformError(f"The configuration {config.name} of {name} does not say what {constant} is.")
    smaller = spec / "smaller.cfg"
    smaller.write_text(text, encoding="utf-8")
    return replace(entry, config=smaller, args={})
