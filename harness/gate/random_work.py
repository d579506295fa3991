"""Random work for the gate: a seed in, a verdict out. A time budget cuts this work alone."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.engines.base import Limits, Progress
from harness.errors import HOLDS, NOT_CONFORMANT, USAGE, ConformError
from harness.files import output_folder
from harness.gate.steps import RANDOM_MODEL, GateOptions
from harness.generate import simulate as behaviours
from harness.itf import write_trace
from harness.replay.dialects import TEXT
from harness.simulate.groups import report
from harness.simulate.groups import run as groups
from harness.simulate.groups import schedule as groups_schedule
from harness.simulate.left_out import left_out
from harness.simulate.pair import Pair
from harness.simulate.report import ComparisonOptions as Schedules
from harness.simulate.report import explain_divergence, file_name, to_json
from harness.simulate.run import simulate
from harness.simulate.schedule import write_schedule
from harness.targets import open_target
from harness.targets.groups.python import PythonParts
from harness.waivers import Waivers

BEHAVIOURS: Final = 20
DEPTH: Final = 60
"""The number of random behaviours of a seed, and of their steps."""
STEPS: Final = 1_000
LENGTH: Final = 200
"""The number of steps of a seed's random schedules, and of each schedule."""
EVENTS: Final = 2_000
"""The number of events of a seed's whole groups."""
REFERENCE: Final = "python"


@dataclass(frozen=True)
class Verdict:
    """The result of a seed. `lacking` is the reason why the target could not be judged in this way."""

    exit_code: int
    message: str
    details: dict[str, Any]
    lacking: str = ""


def random_traces(options: GateOptions, seed: int, limits: Limits, progress: Progress) -> Path:
    """A folder of behaviours of a model, drawn by TLC from a seed."""
    name = f"{RANDOM_MODEL}-{seed}"
    folder, log = output_folder(options.out / "random" / name), options.out.resolve() / f"{name}.log"
    model = options.manifest.entry(RANDOM_MODEL).model()
    traces = behaviours(
        model, number=BEHAVIOURS, depth=DEPTH, seed=seed, limits=limits, log=log, progress=progress
    )
    for number, trace in enumerate(traces, start=1):
        write_trace(folder / f"{name}-{number:04}.itf.json", trace)
    return folder


def simulated(options: GateOptions, seed: int, waivers: Waivers, progress: Progress) -> Verdict:
    """Whole groups around the coordinator in Python, with every invariant after every event; another target
    on random schedules beside it, compared after every step.

    ConformError (exit 3) if the target fails.
    """
    if options.target == REFERENCE:
        return _groups(options, seed)
    return _compared(options, seed, waivers, progress)


def _groups(options: GateOptions, seed: int) -> Verdict:
    if options.dialect != TEXT.name:
        reason = f"whole groups speak {TEXT.name}, not {options.dialect}"
        return Verdict(HOLDS, reason, {"name": f"seed {seed}"}, lacking=reason)
    question, parts = groups.SimulationOptions(seed=seed, events=EVENTS), PythonParts()
    result = groups.summed(question, [groups.run_seed(parts, question, seed)])
    result.violations = [groups.shrunk(parts, one) for one in result.violations]
    folder = output_folder(options.out / "simulate") if result.violations else options.out
    files = [folder / report.file_name(one) for one in result.violations]
    message = f"{result.counts.events:,} events of whole groups on {REFERENCE}, {len(files)} violations"
    for one, path in zip(result.violations, files, strict=True):
        groups_schedule.write_schedule(one.schedule, path)
        message += "\n" + "\n".join(report.explain(one, path, None))
    details = {"name": f"seed {seed}", **report.to_json(result, files, [None] * len(files))}
    return Verdict(NOT_CONFORMANT if files else HOLDS, message, details)


def _compared(options: GateOptions, seed: int, waivers: Waivers, progress: Progress) -> Verdict:
    schedules = Schedules(REFERENCE, options.target, options.dialect, options.dialect, seed, STEPS, LENGTH)
    with (
        closing(open_target(REFERENCE, options.dialect)) as reference,
        closing(open_target(options.target, options.dialect)) as target,
    ):
        try:
            pair = Pair(reference, target)
        except ConformError as error:
            if error.exit_code != USAGE:
                raise
            return Verdict(HOLDS, error.message, {"name": f"seed {seed}"}, lacking=error.message)
        result = simulate(
            pair,
            seed,
            STEPS,
            LENGTH,
            waives=waivers.covers,
            progress=lambda so_far: progress(f"{so_far.steps:,} steps"),
        )
        omitted = left_out(pair.dialects, pair.can)
    message = f"{result.steps:,} random steps on {options.target} and {REFERENCE}"
    message += f", {len(result.divergences)} kinds of differences"
    folder = output_folder(options.out / "simulate") if result.divergences else options.out
    files = [folder / file_name(one.signature, seed) for one in result.divergences]
    for one, path in zip(result.divergences, files, strict=True):
        write_schedule(one.schedule, path)
        message += "\n" + "\n".join(explain_divergence(schedules, one, path))
    details = to_json(schedules, result, pair.hidden, omitted, waivers, files)
    details["waiver_problems"] = []  # a waiver may cover a difference of another step
    exit_code = NOT_CONFORMANT if result.divergences else HOLDS
    return Verdict(exit_code, message, {"name": f"seed {seed}", **details})
