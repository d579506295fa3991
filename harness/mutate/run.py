"""All mutants of some files, each judged until the first check that kills it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from harness.engines.base import Limits
from harness.engines.warm_tlc import WarmTlc
from harness.errors import ConformError
from harness.files import read_text
from harness.manifest import read_manifest
from harness.mutate import coordinator, spec
from harness.mutate.journal import Basis, Journal, Needed
from harness.mutate.mutant import SURVIVED, TIMED_OUT, Judged, Mutant, Only, Verdict
from harness.mutate.pool import Helper, run_all
from harness.mutate.python import python_mutants
from harness.mutate.simulated import SIMULATIONS
from harness.mutate.tla import tla_mutants

MODULES: Final = (
    "Coordinator",
    "Groups",
    "StaticMembers",
    "Validation",
    "Offsets",
    "OpenGroup",
    "ClassicCoordinator",
    "ClientAssignors",
    "OpenClassic",
    "Connect",
    "ShareGroups",
    "Administration",
    "Admission",
)
"""The modules of spec/ that are mutated by default."""
SHELLS: Final = ("coordinator/__main__.py", "coordinator/stdio.py")
"""Programs around the coordinator, which no replay in this process calls."""
TOURS: Final = ("MCTour",)
"""Models whose every step is replayed on mutants of the coordinator."""
SLOWER: Final = 10.0
AT_LEAST_S: Final = 20.0
"""The factor of the original's time, and the least seconds, that a mutant has: other work uses the processor,
too."""
MORE_LIMIT_S: Final = 300.0
"""Additional time for types and for the tests of the coordinator."""
SPEC_LIMIT_S: Final = 600.0
"""The longest time of one run of TLC, with other work beside it; most models have less (`spec.SLOWER`)."""
Show = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Plan:
    """The work to do: number of `jobs` at a time, the end of the time (time.monotonic), the models of tours,
    flags for the simulations and the coordinator's own tests, the most `states` of models; the order of
    unknown mutants follows from `seed`."""

    root: Path
    jobs: int
    until: float | None
    tours: Sequence[str]
    journal: Path
    with_types: bool = False
    with_tests: bool = False
    seed: int = 848
    states: int = spec.MOST
    simulates: bool = True

    @property
    def late(self) -> bool:
        """Tell if the time is up."""
        return self.until is not None and time.monotonic() >= self.until

    @property
    def more(self) -> tuple[str, ...]:
        """The checks besides the replays."""
        return ("types",) * self.with_types + ("tests",) * self.with_tests


def all_mutants(root: Path, only: Sequence[Only]) -> list[Mutant]:
    """The mutants of every requested file, or of all. ConformError if there are none."""
    files = [*sorted((root / "coordinator").rglob("*.py")), *sorted((root / "spec").glob("*.tla"))]
    mutants: list[Mutant] = []
    for file in files:
        path = file.relative_to(root)
        named_here = [one for one in only if one.path in (path, *path.parents)]
        named = any(one.path == path for one in only)
        if (only and not named_here) or not (named or _by_default(path)):
            continue
        source = read_text(file, "The file")
        made = python_mutants(str(path), source) if path.suffix == ".py" else tla_mutants(str(path), source)
        mutants += [mutant for mutant in made if not only or any(one.covers(mutant) for one in named_here)]
    if not mutants:
        raise ConformError(
            "There is nothing to mutate there: name files of coordinator/ or spec/ with --only."
        )
    return mutants


def _by_default(path: Path) -> bool:
    return path.stem in MODULES if path.suffix == ".tla" else str(path) not in SHELLS


def sampled(mutants: Sequence[Mutant], number: int | None, seed: int) -> list[Mutant]:
    """Some of the mutants, the same for the same seed, in their order."""
    if number is None or number >= len(mutants):
        return list(mutants)
    chosen = set(random.Random(seed).sample(range(len(mutants)), number))
    return [mutant for place, mutant in enumerate(mutants) if place in chosen]


def judge_all(mutants: Sequence[Mutant], plan: Plan, show: Show) -> Iterator[Judged]:
    """Judge mutants: first those that are known from the journal, then the others, each written down. They
    come in an order drawn from the seed, so that those for which the time suffices are a sample.

    ConformError if the checks find a fault without a mutant, or cannot be made.
    """
    for folder, prepare in ((coordinator.PACKAGE, _coordinator), (spec.FOLDER, _spec)):
        of_folder = [mutant for mutant in mutants if Path(mutant.path).parts[0] == folder]
        if of_folder:
            yield from _judged(of_folder, prepare(plan, show), plan)


Task = tuple[Mutant, Sequence[str]]
"""A mutant, and the checks that must still judge it."""
Work = Callable[[Task], Verdict]


@dataclass(frozen=True, slots=True)
class Kind:
    """The judgement of the mutants of a folder: the check, the files on which the check rests, and the
    preparation, with the seconds that each may take."""

    checks_of: Callable[[Mutant], Needed]
    basis: Basis
    ready: Callable[[Sequence[Task]], tuple[Work, float]]
    helpers: Sequence[Helper] = ()


def _judged(mutants: Sequence[Mutant], kind: Kind, plan: Plan) -> Iterator[Judged]:
    journal = Journal(plan.journal, kind.basis)
    left: list[Task] = []
    for one in mutants:
        if known := journal.known(one, kind.checks_of(one)):
            yield known
        else:
            left.append((one, journal.left(one, kind.checks_of(one))))
    if not left or plan.late:
        return
    random.Random(plan.seed).shuffle(left)
    work, limit_s = kind.ready(left)
    for done in run_all(left, work, plan.jobs, limit_s, plan.until, kind.helpers):
        mutant, checks = done.task
        needed = {check: names for check, names in kind.checks_of(mutant).items() if check in checks}
        verdict = done.verdict or Verdict(TIMED_OUT, f"no answer in {limit_s:.0f} s")
        yield journal.add(mutant, verdict, done.seconds, needed)


def _coordinator(plan: Plan, show: Show) -> Kind:
    manifest = read_manifest(plan.root / "spec" / "manifest.json")

    def ready(left: Sequence[Task]) -> tuple[Work, float]:
        wanted = {check for _, names in left for check in names}
        show("reading traces")
        checks: list[coordinator.Check] = [*coordinator.committed_checks(plan.root)]
        for name in (one for one in plan.tours if coordinator.tour(one) in wanted):
            show(f"tours of {name}")
            log = plan.journal.parent.resolve() / f"{name}.log"
            model = manifest.entry(name).model()
            checks.append(coordinator.tour_check(model, log, Limits("2g", None, 1), show))
        checks += [simulation for simulation in SIMULATIONS if simulation.name in wanted]
        began = time.monotonic()
        show("the coordinator without a mutant")
        original = coordinator.verdict(checks)
        if original.outcome != SURVIVED:
            raise ConformError(f"Without a mutant the coordinator does not conform: {original.by}.")
        limit_s = max(AT_LEAST_S, SLOWER * (time.monotonic() - began))
        work = partial(coordinator.judge_more, checks=checks, root=plan.root.resolve())
        return work, limit_s + (MORE_LIMIT_S if plan.more else 0)

    return Kind(
        lambda mutant: coordinator.checks_of(
            plan.root, mutant, plan.tours, plan.simulates, plan.with_types, plan.with_tests
        ),
        Basis(plan.root, partial(coordinator.reads, plan.root, manifest)),
        ready,
    )


def _spec(plan: Plan, show: Show) -> Kind:
    checks = spec.read_checks(plan.root, SPEC_LIMIT_S, plan.states)

    def ready(left: Sequence[Task]) -> tuple[Work, float]:
        show("the specification without a mutant: golden scenarios")
        most = max(len(names) for _, names in left)
        return partial(spec.judge, checks=spec.with_behaviours(checks)), SPEC_LIMIT_S * most

    manifest = read_manifest(plan.root / "spec" / "manifest.json")
    warm = [WarmTlc(brief_only=True) for _ in range(plan.jobs)]
    return Kind(checks.checks_of, Basis(plan.root, partial(spec.reads, plan.root, manifest)), ready, warm)
