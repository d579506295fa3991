"""Departures of implementations from KIP-848's text, the models that check each dialect, and the measured
differences.

All of it is read from files: sentences and choices from the specification, models from the manifest, the
behaviour of an implementation from the JSON of `conform replay`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from harness.engines.base import Outcome
from harness.engines.tlc_config import read_config
from harness.errors import ConformError
from harness.files import read_text
from harness.manifest import Manifest
from harness.replay.causes import Cause, from_json
from harness.replay.dialects import FORMS, TEXT

TEXT_MODULE: Final = "Dialects.tla"
KAFKA_MODULE: Final = "KafkaDialects.tla"
SAFE, LIVE, OPEN = "NoDoubleOwnership", "EventuallyConverged", "NoDoubleHolding"
"""The properties that decide the purpose of a model: R7 with members and network, R8, and R7 of the
coordinator under every request."""

_VALUE: Final = r'"[^"]*"|TRUE|FALSE|\d+'
_CONSTANT = re.compile(rf"((?:^  \\\*.*\n)+)^  (\w+) \|-> ({_VALUE}),?$", re.MULTILINE)
_MODELS: Final = "In the models: "
_LISTED = re.compile(r"^\\\* (\w+) \((.*)\) ([A-Z]\d+: .*\n(?:\\\*   .*\n)*)", re.MULTILINE)
_DIALECT = re.compile(r"^(\w+) == *\n? *\[(\w+) EXCEPT([^\]]*)\]|^(\w+) == (\w+)$", re.MULTILINE)
_CHOICE = re.compile(rf"!\.(\w+) = ({_VALUE})")

Value = bool | int | str


@dataclass(frozen=True, slots=True)
class Departure:
    """One constant: its sentence, with its requirement, and the choice of each dialect, KIP-848's text
    first."""

    name: str
    sentence: str
    values: Mapping[str, Value]

    @property
    def differs(self) -> bool:
        """Tell if any dialect departs from another here."""
        return len(set(map(repr, self.values.values()))) > 1

    def runs(self) -> Iterator[tuple[Value, str]]:
        """Each value with the dialects that have it: "kip-848", "kafka-4.0 to 4.3", "since kafka-4.4"."""
        text, *kafka = self.values.items()
        for value, group in groupby([text, *kafka], key=lambda item: item[1]):
            names = [name for name, _ in group]
            versions = [name for name in names if name != TEXT.name]
            of_text = [name for name in names if name == TEXT.name]
            if versions and versions[-1] == kafka[-1][0]:
                of_text.append(f"since {versions[0]}")
            elif versions:
                last = "" if len(versions) == 1 else f" to {versions[-1].removeprefix('kafka-')}"
                of_text.append(versions[0] + last)
            yield value, ", ".join(of_text)


@dataclass(frozen=True, slots=True)
class Listed:
    """A departure without a constant: `versions` as "since kafka-4.3", its sentence, and the reasons why the
    models call it safe and live; empty where no model has it."""

    name: str
    versions: str
    sentence: str
    models: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The models of the manifest that hold for a dialect, with their distinct states."""

    dialect: str
    safe: dict[str, int]
    live: dict[str, int]
    open: dict[str, int]


@dataclass(frozen=True, slots=True)
class Finding:
    """Differences of one signature: their number, and the trace with the fewest steps to the first of
    them."""

    signature: str
    count: int
    trace: str
    step: int


@dataclass(frozen=True, slots=True)
class Measured:
    """Findings of a replay on an implementation, and their causes; `not_judged` steps came after the limit of
    differences."""

    target: str
    dialect: str
    traces: int
    steps: int
    not_judged: int
    findings: Sequence[Finding]
    causes: Sequence[Cause]


def departures(folder: Path) -> list[Departure]:
    """Every constant of the modules in a folder, in their order. ConformError if one cannot be read."""
    text = _between(folder / TEXT_MODULE, "KIP848 == [", "\n]")
    by_name = {name: (_sentence(comment), _value(value)) for comment, name, value in _CONSTANT.findall(text)}
    if len(by_name) != text.count("|->"):
        raise ConformError(f"{folder / TEXT_MODULE}: a constant of KIP848 has no comment or no plain value.")
    dialects = {"KIP848": {name: value for name, (_, value) in by_name.items()}}
    for name, base, changes, alias, other in _DIALECT.findall(read_text(folder / KAFKA_MODULE, "The module")):
        changed = {constant: _value(value) for constant, value in _CHOICE.findall(changes)}
        if (base or other) not in dialects or changed.keys() - by_name.keys():
            raise ConformError(f"{folder / KAFKA_MODULE}: the dialect {name or alias} cannot be read.")
        dialects[name or alias] = {**dialects[base or other], **changed}
    return [
        Departure(name, sentence, {FORMS[dialect].name: values[name] for dialect, values in dialects.items()})
        for name, (sentence, _) in by_name.items()
    ]


def listed(folder: Path) -> list[Listed]:
    """The departures of Kafka that its module only lists, in their order."""
    text = read_text(folder / KAFKA_MODULE, "The module")
    rows = ((name, of, *_sentence(comment).partition(_MODELS)) for name, of, comment in _LISTED.findall(text))
    return [Listed(name, of, sentence.strip(), models) for name, of, sentence, _, models in rows]


def models_of_dialects(manifest: Manifest) -> list[Checked]:
    """The models of each dialect that hold, by the property that they check."""
    by_name = {
        name: Checked(name, {}, {}, {}) for name in dict.fromkeys(form.name for form in FORMS.values())
    }
    for entry in manifest.entries:
        if entry.config is None or entry.outcome is not Outcome.HOLDS or entry.distinct_states is None:
            continue
        config = read_config(entry.config)
        operator = config.constants().get("Dialect")
        if entry.engine != "tlc" or not isinstance(operator, str) or operator not in FORMS:
            continue
        checks = {*config.names("INVARIANT"), *config.names("PROPERTY")}
        dialect = by_name[FORMS[operator].name]
        for check, kind in ((LIVE, dialect.live), (SAFE, dialect.safe), (OPEN, dialect.open)):
            if check in checks:
                kind[entry.name] = entry.distinct_states
                break
    return list(by_name.values())


def read_measured(path: Path) -> Measured:
    """The findings that `conform replay --json` wrote. ConformError (exit 2) for a file of another form."""
    try:
        result = json.loads(read_text(path, "The result"))
        return Measured(
            result["target"],
            result["dialect"],
            int(result["traces"]),
            int(result["target_steps"]),
            int(result["not_judged"]),
            findings(result["failures"]),
            from_json(result.get("causes", [])),
        )
    except (KeyError, TypeError, ValueError, RecursionError):
        raise ConformError(f"{path} is not what `conform replay --json` writes.") from None


def findings(failures: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """The failures of a replay, equal ones together, the most frequent first."""
    alike: dict[str, list[tuple[int, str]]] = {}
    for failure in failures:
        for difference in failure["differences"]:
            alike.setdefault(difference["signature"], []).append((failure["index"], failure["trace"]))
    sorted_findings = [
        Finding(name, len(places), min(places)[1], min(places)[0]) for name, places in alike.items()
    ]
    return sorted(sorted_findings, key=lambda one: (-one.count, one.signature))


def shown(value: Value) -> str:
    """A value as the table has it."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _between(path: Path, start: str, end: str) -> str:
    text = read_text(path, "The module")
    _, separator, rest = text.partition(start)
    if not separator or end not in rest:
        raise ConformError(f"{path} has no {start!r}.")
    return rest[: rest.index(end)]


def _sentence(comment: str) -> str:
    return " ".join(line.strip().removeprefix("\\*").strip() for line in comment.splitlines())


def _value(text: str) -> Value:
    if text in ("TRUE", "FALSE"):
        return text == "TRUE"
    return text[1:-1] if text.startswith('"') else int(text)
