"""Edits: of definitions, constants of the dialect and lines of the configuration."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.dialects import KAFKA_MODULE, TEXT_MODULE, departures
from harness.diff.sides import OPERATOR, Side
from harness.engines.base import Model
from harness.engines.tlc_config import read_config
from harness.errors import ConformError
from harness.files import read_text
from harness.modules import dependencies, strip_comments
from harness.replay.dialects import FORMS

_DEFINITION = re.compile(r"^(?:LOCAL +)?(\w+)(?:\([^=]*\)|\[[^=]*\])? *==", re.MULTILINE)
_HEAD: Final = "(declarations)"


@dataclass(frozen=True)
class Edit:
    """A definition of a module that only one version has ("added", "removed"), or that is "changed"."""

    module: str
    definition: str
    change: str
    diff: tuple[str, ...]


@dataclass(frozen=True)
class Constant:
    """A constant of the dialect that the versions choose differently, with the specification's sentence about
    it."""

    name: str
    sentence: str
    a: str
    b: str


@dataclass(frozen=True)
class Edits:
    """All differences between the texts of two versions of the same models. `configuration` are lines of a
    diff."""

    definitions: tuple[Edit, ...]
    constants: tuple[Constant, ...]
    configuration: tuple[str, ...]

    @property
    def any(self) -> bool:
        return bool(self.definitions or self.constants or self.configuration)


def edits(a: Side, b: Side, models: Sequence[tuple[Model, Model]]) -> Edits:
    """The differences of the modules that some models depend on, and of their configurations."""
    modules = dict.fromkeys(
        path.name
        for pair in models
        for model in pair
        for path in dependencies(model.module)
        if not path.stem.startswith(OPERATOR)
    )
    changed = [edit for name in sorted(modules) for edit in _definitions(name, a.folder, b.folder)]
    constants = {one.name: one for pair in models for one in _constants(a, b, *pair)}
    lines = [line for pair in models for line in _configurations(a, b, *pair)]
    return Edits(tuple(changed), tuple(constants.values()), tuple(lines))


def _definitions(module: str, a: Path, b: Path) -> Iterator[Edit]:
    """The edits of a module. A module that a version does not have counts as one without definitions."""
    texts_a, texts_b = (definitions(path) if (path := folder / module).is_file() else {} for folder in (a, b))
    for name in dict.fromkeys([*texts_a, *texts_b]):
        one, other = texts_a.get(name, []), texts_b.get(name, [])
        if [" ".join(line.split()) for line in one] != [" ".join(line.split()) for line in other]:
            change = "added" if name not in texts_a else "removed" if name not in texts_b else "changed"
            lines = list(difflib.unified_diff(one, other, lineterm="", n=2))[2:]
            yield Edit(module, name, change, tuple(line for line in lines if not line.startswith("@@")))


def definitions(module: Path) -> dict[str, list[str]]:
    """The lines of each definition of a module, comments aside; the text before the first one has the name
    "(declarations)"."""
    text = strip_comments(read_text(module, "The module"))
    places = [(match.start(), match[1]) for match in _DEFINITION.finditer(text)]
    ends = [start for start, _ in places[1:]] + [len(text)]
    texts = {_HEAD: text[: places[0][0] if places else len(text)]}
    for (start, name), end in zip(places, ends, strict=True):
        texts[name] = texts.get(name, "") + text[start:end]
    return {
        name: [line.rstrip() for line in part.splitlines() if line.strip(" -=")]
        for name, part in texts.items()
    }


def _constants(a: Side, b: Side, one: Model, other: Model) -> Iterator[Constant]:
    values_a, values_b = _values(a, one), _values(b, other)
    for name, (sentence, before) in values_a.items():
        after = values_b.get(name, (sentence, before))[1]
        if before != after:
            yield Constant(name, sentence, before, after)


def _values(side: Side, model: Model) -> dict[str, tuple[str, str]]:
    """Constant of the model's dialect, if that is known -> its sentence and its value."""
    operator = side.constants(model).get("Dialect")
    if operator not in FORMS or not all(
        (side.folder / name).is_file() for name in (TEXT_MODULE, KAFKA_MODULE)
    ):
        return {}
    try:
        known = departures(side.folder)
    except (ConformError, KeyError):  # an edit of these modules, whose text is shown
        return {}
    values = {one.name: (one.sentence, _tla(one.values[FORMS[operator].name])) for one in known}
    changed = side.dialect.changed if side.dialect else {}
    return values | {name: (values[name][0], value) for name, value in changed.items() if name in values}


def _tla(value: bool | int | str) -> str:
    if isinstance(value, bool):
        return str(value).upper()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _configurations(a: Side, b: Side, one: Model, other: Model) -> Iterator[str]:
    """The lines that differ, without the choice of a dialect where `_constants` shows it."""
    shown = bool(_values(a, one)) and bool(_values(b, other))
    diff = list(difflib.unified_diff(_lines(a, one, shown), _lines(b, other, shown), lineterm="", n=0))[2:]
    changed = [line for line in diff if not line.startswith("@@")]
    if changed:
        yield f"{one.name}.cfg" if one.name == other.name else f"{one.name}.cfg and {other.name}.cfg"
        yield from changed


def _lines(side: Side, model: Model, dialect_shown: bool) -> list[str]:
    assert model.config is not None
    lines = [
        f"{key} {line.strip()}"
        for key, text in read_config(model.config).sections
        for line in text.splitlines()
    ]
    if dialect_shown:
        lines = [line for line in lines if "Dialect <-" not in line]
    own = side.dialect.expression() if side.dialect else ""
    return sorted(line.replace(f"<- {OPERATOR}", f"<- {own}") for line in lines)
