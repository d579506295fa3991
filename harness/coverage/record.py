"""Recorded coverage: `Coverage.json` beside the evidence of the models.

The record has each definition with arms, by its text: an edited definition counts as not measured until
`conform coverage --record-evidence` measures the definition anew. Comments do not count, but the lines of a
definition do, since the record has the places of its arms.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from harness.coverage.arms import Arm, Extent
from harness.coverage.measure import Reached
from harness.engines.tlc import VERSION
from harness.errors import ConformError
from harness.files import read_text, write_text
from harness.modules import strip_comments

NAME: Final = "Coverage.json"


@dataclass(frozen=True)
class Recorded:
    """Coverage with the conditions of its measurement.

    `reached` has the definitions of today's text. `models` are all models of the measurement, also those that
    added nothing; `changed` are definitions (module, name) whose text has changed since, `edited` the modules
    that have changed since, comments apart.
    """

    version: str
    date: str
    reached: Reached
    changed: tuple[tuple[str, str], ...] = ()
    edited: frozenset[str] = frozenset()


def write_record(path: Path, reached: Reached, specification: Path) -> None:
    """Write the record of a specification's folder."""
    numbers = {name: number for number, name in enumerate([*reached.models, *reached.begun])}
    modules: dict[str, dict[str, Any]] = {}
    for extent in sorted(reached.extents):
        lines = _lines(specification / f"{extent.module}.tla")
        modules.setdefault(extent.module, {})[extent.name] = {
            "text": _hash(lines[extent.first - 1 : extent.last]),
            "lines": extent.last - extent.first + 1,
            "arms": [_arm_json(arm, extent.first, numbers, reached) for arm in extent.arms],
        }
    data = {
        "engine": "tlc",
        "version": VERSION,
        "recorded": date.today().isoformat(),
        "models": reached.models,
        "begun": reached.begun,
        "idle": reached.idle,
        "followed": reached.followed,
        "files": {module: _code(specification / f"{module}.tla") for module in modules},
        "modules": modules,
    }
    text = json.dumps(data, indent=1)
    # one definition a line: a change of one is a change of its line
    text = re.sub(r"\s*\n {4,}\s*|\n {3}(?=[\]}])", " ", text)
    write_text(path, text + "\n")


def read_record(path: Path, specification: Path) -> Recorded:
    """Read a record for the specification as it is now. ConformError if the file is missing or malformed."""
    if not path.is_file():
        raise ConformError(
            f"There is no {path}: conform coverage --record-evidence measures all models, and makes it."
        )
    try:
        data = json.loads(read_text(path, "The record of coverage"))
        reached = Reached(
            models=list(data["models"]),
            begun=dict(data.get("begun", {})),
            idle=list(data["idle"]),
            followed=dict(data.get("followed", {})),
        )
        ran = [*reached.models, *reached.begun]
        changed = []
        for module, definitions in data["modules"].items():
            lines = _lines(specification / f"{module}.tla")
            for name, recorded in definitions.items():
                first = _find(lines, name, recorded["lines"], recorded["text"])
                if first is None:
                    changed.append((module, name))
                    continue
                arms = [_arm(module, name, first, *arm[:5]) for arm in recorded["arms"]]
                reached.extents.add(Extent(module, first, first + recorded["lines"] - 1, name, tuple(arms)))
                pairs = zip(arms, recorded["arms"], strict=True)
                reached.by |= {arm: ran[raw[5]] for arm, raw in pairs if raw[5] >= 0}
        edited = {
            name for name, code in data["files"].items() if _code(specification / f"{name}.tla") != code
        }
        return Recorded(data["version"], data["recorded"], reached, tuple(changed), frozenset(edited))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ConformError(f"{path} is not a record of coverage ({error!r}): make it anew.") from None


def _arm_json(arm: Arm, first: int, numbers: dict[str, int], reached: Reached) -> list[int | str]:
    """Lines from the definition's first, columns, the word for the arm, the number of the model or -1."""
    number = numbers[reached.by[arm]] if arm in reached.by else -1
    return [arm.begin[0] - first, arm.begin[1], arm.end[0] - first, arm.end[1], arm.what, number]


def _arm(module: str, name: str, first: int, *raw: Any) -> Arm:
    line, column, last, end, what = raw
    return Arm(module, (first + line, column), (first + last, end), name, what)


def _find(lines: Sequence[str], name: str, length: int, text: str) -> int | None:
    """The line on which the definition begins; None if its text is not there any more."""
    begins = re.compile(rf"(?:LOCAL\s+)?{re.escape(name)}\b")
    return next(
        (
            number
            for number, line in enumerate(lines, start=1)
            if begins.match(line) and _hash(lines[number - 1 : number - 1 + length]) == text
        ),
        None,
    )


def _code(module: Path) -> str:
    """The hash of a module without comments and layout; "" where there is none."""
    text = " ".join(_lines(module))
    return _hash(text.split()) if text else ""


def _lines(module: Path) -> list[str]:
    """The lines of a module without comments; none where there is no module."""
    text = strip_comments(read_text(module, "The module")) if module.is_file() else ""
    return [line.rstrip() for line in text.splitlines()]


def _hash(lines: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
