"""Mutants of the specification on the kit's own checks: golden scenarios and small models.

Each mutant is put into a copy of spec/. A model must give exactly the figures of the manifest, and generate
as many states as its record in spec/evidence/, if that is valid: a lost or added step changes that number,
also where it leads to a state that other steps lead to. A scenario must be a behaviour as it is written, and
the same, state by state, as without the mutant. A model none of whose definitions has changed, in its
dialect, is not run: it cannot notice.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from harness.check import compare
from harness.definitions import definitions
from harness.engines.base import EngineError, Failure, Limits, Outcome
from harness.engines.tlc import Tlc
from harness.errors import USAGE, ConformError
from harness.evidence import verify
from harness.itf import Trace, read_trace
from harness.kinds.scenarios import Scenario, play, scenario_of_trace
from harness.manifest import Entry, Manifest, read_manifest
from harness.modules import dependencies
from harness.mutate.journal import Needed, files, of_model
from harness.mutate.mutant import KILLED, SURVIVED, TIMED_OUT, UNVIABLE, Mutant, Verdict
from harness.scenario.files import explain, load_file, scenario_files

FOLDER: Final = "spec"
MOST: Final = 6_000
"""The most states of a model that judges mutants, by default."""
SCENARIOS: Final = "scenarios"
SCRIPTS: Final = ("traces/golden", "traces/corpus")
PLAYED_BY: Final = ("harness/scenario", "harness/kinds/consumer/scenario")
FIRST: Final = (
    "MCTour",
    "MCKafka42GivesUp",
    "MCKafka40GivesUp",
    "MCKafka44Full",
    "MCRefused",
    "MCStaticTour",
    SCENARIOS,
    "MCKafka42Full",
    "MCKafka42Tour",
    "MCKafka44Tour",
    "MCUniform",
    "MCKafka42Gone",
)
"""Checks of mutants of the specification that come first, because they notice most in a processor second."""
LAST: Final = ("MCLiteral", "MCKafka42")
"""Larger models that notice mutants that no other model does; left out where fewer states than MOST are
requested."""
STEPS: Final = "generated_states"
FIGURES: Final = ("length", "distinct_states", "depth", STEPS)
"""The facts of a model that no property states."""
SLOWER: Final = 10.0
AT_LEAST_S: Final = 60.0
"""The factor of a model's running time in the manifest, and the least seconds, that TLC has for a mutant: a
mutant may make far more states, and other work uses the processor, too."""
_NOT_THERE: Final = frozenset({Failure.PARSE, Failure.TYPE, Failure.CONFIGURATION})


@dataclass(frozen=True, slots=True)
class Checks:
    """The checks that judge a mutant of a module: scripts with the behaviours that the original makes of them
    (none before it has), and names of checks (SCENARIOS, or a model's) in their order, by the modules on
    which they depend."""

    root: Path
    scenarios: Sequence[Scenario]
    names: Sequence[tuple[str, frozenset[str]]]
    limit_s: float
    behaviours: Sequence[Trace] = ()

    def of(self, module: str) -> list[str]:
        """The checks that depend on a module, by its file name."""
        return [name for name, needs in self.names if module in needs]

    def checks_of(self, mutant: Mutant) -> Needed:
        """The checks that depend on the module of a mutant, each with the scripts or models on which it
        rests."""
        names = self.of(Path(mutant.path).name)
        return {name: SCRIPTS if name == SCENARIOS else (name,) for name in names}


def read_checks(root: Path, limit_s: float, states: int = MOST) -> Checks:
    """Golden scenarios of consumer groups, committed traces that can be written as scenarios, and models:
    those of at most so many `states`, and LAST.

    ConformError as of reading them.
    """
    golden, corpus = (root / name for name in SCRIPTS)
    scenarios = [one for one in map(load_file, scenario_files([golden])) if isinstance(one, Scenario)]
    for path in sorted(corpus.glob("*.itf.json")):
        trace = read_trace(path)
        if not trace.meta.get("constants") and "log" not in trace.variables:
            scenarios.append(scenario_of_trace(trace, path.stem, str(path)))
    entries = [
        entry
        for entry in read_manifest(root / FOLDER / "manifest.json").entries
        if entry.engine == "tlc"
        and (
            0 < int(entry.expected().get("distinct_states", 0)) <= states
            or (entry.name in LAST and states >= MOST)
        )
    ]
    entries.sort(key=lambda entry: entry.seconds)
    modules = {SCENARIOS: root / FOLDER / "Golden.tla"}
    modules |= {entry.name: entry.model().module for entry in entries}
    order = sorted(modules, key=_place)
    names = [(name, frozenset(path.name for path in dependencies(modules[name]))) for name in order]
    return Checks(root, scenarios, names, limit_s)


def _place(name: str) -> int:
    """A check's place in the order: FIRST in its order, then all others, then LAST."""
    if name in FIRST:
        return FIRST.index(name)
    return len(FIRST) + (name in LAST)


def with_behaviours(checks: Checks) -> Checks:
    """The checks, with the behaviours that the original makes of the scripts. ConformError where a script of
    the original differs from its file."""
    played = play(checks.scenarios, checks.root / FOLDER, Limits("1g", checks.limit_s, 1))
    for one in played:
        if not one.holds:
            raise ConformError(
                f"Without a mutant the specification is not as expected: {next(explain(one))}."
            )
    return replace(checks, behaviours=[one.trace for one in played])


def reads(root: Path, manifest: Manifest, name: str) -> list[Path | str]:
    """Files that a judgement by a model reads, or by scenarios: then Golden, and the modules that play
    them."""
    if (root / name).exists():
        played = dependencies(root / FOLDER / "Golden.tla")
        players = [file for folder in PLAYED_BY for file in files(root / folder)]
        return [*played, *players, *files(root / name)]
    model = of_model(manifest, name)
    return [*model, f"{STEPS} {_steps(manifest.entry(name))}"] if model else []


def judge(task: tuple[Mutant, Sequence[str]], checks: Checks) -> Verdict:
    """The verdict on a mutant by some of the checks."""
    mutant, names = task
    with tempfile.TemporaryDirectory(prefix="conform-mutate-") as name:
        folder = Path(name) / FOLDER
        shutil.copytree(checks.root / FOLDER, folder, ignore=shutil.ignore_patterns("evidence"))
        (Path(name) / mutant.path).write_text(mutant.text, encoding="utf-8")
        return verdict(folder, names, checks)


def verdict(folder: Path, names: Sequence[str], checks: Checks) -> Verdict:
    """The verdict of some checks on the specification in a folder."""
    limits = Limits("1g", checks.limit_s, 1)
    manifest = read_manifest(folder / "manifest.json")
    originals = read_manifest(checks.root / FOLDER / "manifest.json")
    for name in names:
        on = SCRIPTS if name == SCENARIOS else (name,)
        try:
            if name == SCENARIOS:
                fault = _not_played(checks, folder, limits)
            elif _defines(manifest.entry(name)) == _defines(originals.entry(name)):
                continue
            else:
                entry, steps = manifest.entry(name), _steps(originals.entry(name))
                limit_s = min(checks.limit_s, max(AT_LEAST_S, SLOWER * entry.seconds))
                fault = _not_as_expected(entry, steps, folder / "tlc.log", replace(limits, timeout=limit_s))
        except EngineError as error:
            return Verdict(*_no_answer(error, name), on)
        except ConformError as error:
            if error.exit_code != USAGE:
                raise
            fault = error.message
        if fault:
            return Verdict(KILLED, f"{name}: {fault}", on)
    return Verdict(SURVIVED, ", ".join(names))


def _not_played(checks: Checks, folder: Path, limits: Limits) -> str:
    """The first scenario that is no behaviour as it is written, or differs from that of the original, whose
    states have more than a document prints; "" if there is none."""
    played = play(checks.scenarios, folder, limits)
    if wrong := [one for one in played if not one.holds]:
        return next(explain(wrong[0]))
    for one, original in zip(played, checks.behaviours, strict=bool(checks.behaviours)):
        for number, states in enumerate(zip(one.trace.states, original.states, strict=True)):
            if states[0] != states[1]:
                return f"{one.scenario.file}, step {number}: another state"
    return ""


def _defines(entry: Entry) -> dict[str, str]:
    """The definitions that a model depends on, in its dialect."""
    return definitions(entry.module, entry.model().configuration, entry.args.values())


def _steps(entry: Entry) -> int | None:
    """The number of states that a whole search generates, from the valid committed record; None without one,
    or if the model must fail."""
    known = verify(entry, entry.module.parent).result if entry.outcome is Outcome.HOLDS else None
    return known.generated_states if known else None


def _not_as_expected(entry: Entry, steps: int | None, log: Path, limits: Limits) -> str:
    """The property that a model violates although it should not, or the first fact that differs from the
    manifest's; then a number of generated states other than `steps`. "" if there is none."""
    expected = entry.expected()
    result = Tlc().check(entry.model(), log, limits)
    differ = compare(expected, result.facts())
    if result.violated and result.violated != expected.get("property"):
        return f"property {result.violated} violated"
    if not differ and steps not in (None, result.generated_states):
        return f"{STEPS} {result.generated_states}, not {steps}"
    return next((f"{one.what} {one.got}, not {one.expected}" for one in differ), "")


def by_figure(by: str) -> bool:
    """Tell if only a figure of a model noticed a mutant, which no property states."""
    return by.partition(": ")[2].startswith(FIGURES)


def _no_answer(error: EngineError, reason: str) -> tuple[str, str]:
    if error.failure is Failure.MISSING:
        raise error
    lines = error.message.splitlines()
    if error.failure in _NOT_THERE:
        return UNVIABLE, f"{reason}: {' '.join(lines[:2])}"
    if error.failure in (Failure.TIME_OUT, Failure.MEMORY):
        return TIMED_OUT, f"{reason}: {error.failure.value}"
    return KILLED, f"{reason}: {error.failure.value}, {' '.join(lines[1:2])}"
