"""Measure the arms that models reach: TLC checks a copy of each model whose arms report themselves."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from harness.check import compare
from harness.coverage.arms import Arm, Extent, extents
from harness.coverage.instrument import FIRST, FIRST_TEXT, MODULE, REACHED, TEXT, as_root, instrumented
from harness.engines.base import EngineError, Failure, Limits, Model, Progress, Result
from harness.engines.registry import ENGINES
from harness.files import read_text
from harness.manifest import Entry
from harness.modules import dependencies

_FIRST_S: Final = 10.0


@dataclass
class Reached:
    """The known arms of a specification, and the first model that reached each.

    `models` are the models that ran to their end; `begun` those that were stopped, with their seconds: the
    arms that they reached count, and the rest is not known. `idle` are models that did not have to run,
    because each of their arms had been reached before. `followed` are begun models that went on from the
    states of their traces, with the number of traces.
    """

    extents: set[Extent] = field(default_factory=set)
    by: dict[Arm, str] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    begun: dict[str, float] = field(default_factory=dict)
    idle: list[str] = field(default_factory=list)
    followed: dict[str, int] = field(default_factory=dict)

    def add(self, extents: Sequence[Extent]) -> None:
        """Add definitions. A definition may have arms in some models only: in the others constants use it."""
        known = {(one.module, one.first): one for one in self.extents}
        for extent in extents:
            before = known.get((extent.module, extent.first))
            if before and before != extent:
                self.extents.discard(before)
                extent = replace(extent, arms=tuple(sorted({*before.arms, *extent.arms})))
            self.extents.add(extent)

    def forget(self, models: Collection[str]) -> None:
        """Remove all arms that these models have reached, so that the models are measured again."""
        self.by = {arm: name for arm, name in self.by.items() if name not in models}
        self.models = [name for name in self.models if name not in models]
        self.begun = {name: seconds for name, seconds in self.begun.items() if name not in models}
        self.idle = [name for name in self.idle if name not in models]
        self.followed = {name: count for name, count in self.followed.items() if name not in models}

    def open_arms(self, extents: Sequence[Extent]) -> list[Arm]:
        """The arms of these definitions that no model has reached."""
        return [arm for extent in extents for arm in extent.arms if arm not in self.by]


def measure(entry: Entry, reached: Reached, limits: Limits, progress: Progress) -> int:
    """Add the arms that a model reaches; the number of arms that it is the first to reach.

    A model whose arms have all been reached does not run. A model that does not end in the limit's seconds is
    a begun one. EngineError if TLC or SANY fails, or if the copy gives other figures than the manifest has,
    which would be a fault of this program.
    """
    model = entry.model()
    progress("reading its expressions")
    all_extents = extents(model.module, limits, model.libraries)
    reached.add(all_extents)
    reached.begun.pop(entry.name, None)
    reached.followed.pop(entry.name, None)
    wanted = reached.open_arms(all_extents)
    if not wanted:
        reached.idle.append(entry.name)
        return 0
    new, ended = _new(entry, model, wanted, limits, progress)
    reached.by.update(dict.fromkeys(new, entry.name))
    if ended:
        reached.models.append(entry.name)
    else:
        reached.begun[entry.name] = limits.timeout or 0.0
    return len(new)


def _new(
    entry: Entry, model: Model, wanted: Sequence[Arm], limits: Limits, progress: Progress
) -> tuple[list[Arm], bool]:
    """The arms that the model reaches, of the wanted ones; and True if the model ran to its end.

    To count an arm costs time at each evaluation. A first run of a few seconds finds most of the arms that
    are evaluated often; the whole run counts only the others.
    """
    brief = min(_FIRST_S, limits.timeout or _FIRST_S)
    first, result = _run(model, wanted, replace(limits, timeout=brief), progress)
    others = [arm for arm in wanted if arm not in first]
    if result is None and (limits.timeout is None or limits.timeout > brief):
        arms, result = _run(model, others, limits, progress)
        first |= arms
    if result and (different := compare(entry.expected(), result.facts())):
        figures = ", ".join(f"{one.what} {one.got}, expected {one.expected}" for one in different)
        raise EngineError(Failure.CRASH, f"The copy of {entry.name} with counted arms gives {figures}.")
    return [arm for arm in wanted if arm in first], result is not None


def _run(
    model: Model, wanted: Sequence[Arm], limits: Limits, progress: Progress
) -> tuple[set[Arm], Result | None]:
    """The reached arms, and the result; None if the time ran out."""
    with tempfile.TemporaryDirectory(prefix="conform-coverage-") as name:
        folder = Path(name)
        copy = write_copy(model, dict(enumerate(wanted, start=1)), folder)
        return run_copy(copy, wanted, folder, limits, progress)


def run_copy(
    copy: Model, wanted: Sequence[Arm], folder: Path, limits: Limits, progress: Progress
) -> tuple[set[Arm], Result | None]:
    """Check a copy: the arms that were reached of those that it counts, and the result; None if the time ran
    out."""
    log = folder / "tlc.log"
    result = None
    try:  # one worker, as each has registers of its own
        result = ENGINES["tlc"].check(copy, log, replace(limits, workers=1), progress)
    except EngineError as error:
        if error.failure is not Failure.TIME_OUT:
            raise
    numbers = {int(match[1]) for match in REACHED.finditer(read_text(log, "The log"))}
    return {arm for number, arm in enumerate(wanted, start=1) if number in numbers}, result


def write_copy(model: Model, numbered: Mapping[int, Arm], folder: Path) -> Model:
    """Write the model into a folder of its own, with all modules that it uses, whose arms report their
    numbers."""
    numbers: dict[str, dict[Arm, int]] = {}
    for number, arm in numbered.items():
        numbers.setdefault(arm.module, {})[arm] = number
    for path in dependencies(model.module):
        text = read_text(path, "The module")
        arms = numbers.get(path.stem, {})
        if arms or path == model.module:
            text = instrumented(text, arms)
        if path == model.module:
            text = as_root(text)
        (folder / path.name).write_text(text, encoding="utf-8")
    (folder / f"{MODULE}.tla").write_text(TEXT, encoding="utf-8")
    (folder / f"{FIRST}.tla").write_text(FIRST_TEXT % len(numbered), encoding="utf-8")
    config = model.configuration
    (folder / config.name).write_text(read_text(config, "The configuration"), encoding="utf-8")
    return replace(model, module=folder / model.module.name, config=folder / config.name)
