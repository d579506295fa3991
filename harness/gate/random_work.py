"""Random work for the gate: a seed in, a verdict out. It is what a budget cuts."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.engines.base import Limits, Progress
from harness.errors import HOLDS, NOT_CONFORMANT, USAGE, ConformError
from harness.files import output_folder
from harness.gate.steps import RANDOM_MODEL, Asked
from harness.generate import simulate as behaviours
from harness.itf import write_trace
from harness.simulate.generate import left_out
from harness.simulate.pair import Pair
from harness.simulate.report import Asked as Schedules
from harness.simulate.report import explain_found, file_name, to_json
from harness.simulate.run import simulate
from harness.simulate.schedule import write_schedule
from harness.targets import open_target
from harness.waivers import Waivers

BEHAVIOURS: Final = 20
DEPTH: Final = 60
"""Random behaviours of a seed, and their steps."""
STEPS: Final = 1_000
LENGTH: Final = 200
"""Steps of a seed's random schedules, and of each of them."""
REFERENCE: Final = "python"


@dataclass(frozen=True)
class Verdict:
    """What a seed showed. `lacking` says why the target cannot be judged so, and nothing was."""

    exit_code: int
    message: str
    details: dict[str, Any]
    lacking: str = ""


def random_traces(asked: Asked, seed: int, limits: Limits, progress: Progress) -> Path:
    """A folder of behaviours of a model, drawn by TLC from a seed."""
    name = f"{RANDOM_MODEL}-{seed}"
    folder, log = output_folder(asked.out / "random" / name), asked.out.resolve() / f"{name}.log"
    model = asked.manifest.entry(RANDOM_MODEL).model()
    traces = behaviours(
        model, number=BEHAVIOURS, depth=DEPTH, seed=seed, limits=limits, log=log, progress=progress
    )
    for number, trace in enumerate(traces, start=1):
        write_trace(folder / f"{name}-{number:04}.itf.json", trace)
    return folder


def simulated(asked: Asked, seed: int, waivers: Waivers, progress: Progress) -> Verdict:
    """Random schedules on the target and on the coordinator in Python, which holds on the models.

    ConformError (exit 3) if the target fails.
    """
    schedules = Schedules(REFERENCE, asked.target, asked.dialect, asked.dialect, seed, STEPS, LENGTH)
    with (
        closing(open_target(REFERENCE, asked.dialect)) as reference,
        closing(open_target(asked.target, asked.dialect)) as target,
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
    message = f"{result.steps:,} random steps on {asked.target} and {REFERENCE}"
    message += f", {len(result.found)} kinds of differences"
    folder = output_folder(asked.out / "simulate") if result.found else asked.out
    files = [folder / file_name(one.signature, seed) for one in result.found]
    for one, path in zip(result.found, files, strict=True):
        write_schedule(one.schedule, path)
        message += "\n" + "\n".join(explain_found(schedules, one, path))
    details = to_json(schedules, result, pair.hidden, omitted, waivers, files)
    exit_code = NOT_CONFORMANT if result.found else HOLDS
    return Verdict(exit_code, message, {"name": f"seed {seed}", **details})
