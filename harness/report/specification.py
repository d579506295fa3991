"""The page of coverage: each module's source, with marks on the arms that no model reaches."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harness.coverage.arms import Arm, Extent
from harness.coverage.measure import Reached
from harness.coverage.record import Recorded
from harness.files import read_text
from harness.manifest import Entry
from harness.modules import dependencies
from harness.pages import template

_HERE: Final = Path(__file__).parent


@dataclass(frozen=True)
class Part:
    """A piece of a source line: `unreached` text is marked, and `hint` has the reason."""

    text: str
    unreached: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Module:
    """A module with its counts; `lines` are its source, `gaps` its unreached arms without those in others."""

    name: str
    arms: int
    reached: int
    gaps: Sequence[Arm]
    lines: Sequence[Sequence[Part]]


def outermost(arms: Iterable[Arm]) -> list[Arm]:
    """The arms that lie in no other of these, in the order of the text."""
    kept: list[Arm] = []
    for arm in sorted(arms, key=lambda one: (one.module, one.begin, tuple(-place for place in one.end))):
        around = kept[-1] if kept else None
        if around is None or around.module != arm.module or arm.end > around.end:
            kept.append(arm)
    return kept


def gaps(recorded: Recorded) -> list[Arm]:
    """The arms that no model reaches, without those inside another such arm."""
    return outermost(recorded.reached.open_arms(sorted(recorded.reached.extents)))


def module_names(entry: Entry) -> set[str]:
    """The modules that a model uses, and its own."""
    return {path.stem for path in dependencies(entry.model().module)}


def modules_of_others(entries: Iterable[Entry], reached: Reached) -> frozenset[str]:
    """The modules of models that did not run to their end: an expression there may still be reached."""
    done = {*reached.models, *reached.idle}
    return frozenset(name for one in entries if one.name not in done for name in module_names(one))


def modules(recorded: Recorded, specification: Path) -> list[Module]:
    """Each measured module, those with most unreached arms first."""
    by_module: dict[str, list[Extent]] = {}
    for extent in sorted(recorded.reached.extents):
        by_module.setdefault(extent.module, []).append(extent)
    listed = []
    for name, extents in by_module.items():
        arms = [arm for extent in extents for arm in extent.arms]
        missing = outermost(recorded.reached.open_arms(extents))
        lines = read_text(specification / f"{name}.tla", "The module").splitlines()
        reached = sum(arm in recorded.reached.by for arm in arms)
        listed.append(Module(name, len(arms), reached, missing, _drawn(lines, missing) if missing else ()))
    return sorted(listed, key=lambda one: (-len(one.gaps), one.name))


def _drawn(lines: Sequence[str], missing: Sequence[Arm]) -> list[list[Part]]:
    """The source, cut where an unreached arm begins or ends."""
    drawn = [[Part(line)] for line in lines]
    for arm in reversed(missing):
        for number in range(arm.begin[0], arm.end[0] + 1):
            whole, rest = drawn[number - 1][0].text, drawn[number - 1][1:]
            indent = len(whole) - len(whole.lstrip())
            begin = arm.begin[1] - 1 if number == arm.begin[0] else indent
            end = arm.end[1] if number == arm.end[0] else len(whole)
            marked = Part(whole[begin:end], True, f"{arm.definition}: {arm.what} is never evaluated")
            drawn[number - 1] = [Part(whole[:begin]), marked, Part(whole[end:]), *rest]
    return [[part for part in line if part.text] for line in drawn]


@dataclass(frozen=True)
class Sums:
    """The counts of all modules together: arms, those reached, expressions that no model reaches."""

    arms: int
    reached: int
    gaps: int


def sums(recorded: Recorded) -> Sums:
    """Count all modules together."""
    arms = sum(len(extent.arms) for extent in recorded.reached.extents)
    return Sums(arms, len(recorded.reached.by), len(gaps(recorded)))


def page(recorded: Recorded, specification: Path, models: int, unsure: Collection[str] = ()) -> str:
    """The page, which needs no other file.

    `models` is the number of TLC's models in the manifest, `unsure` are the modules in which a model that did
    not run to its end may still reach more.
    """
    listed = modules(recorded, specification)
    return template(_HERE, "specification.html.j2").render(
        vars(sums(recorded)), recorded=recorded, modules=listed, models=models, unsure=unsure
    )
