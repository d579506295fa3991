"""Seeds of whole groups as a check of a mutant, which judges the members as well: most committed traces are
of the coordinator alone."""

from __future__ import annotations

import importlib
from typing import Final

from harness.mutate.mutant import KILLED, Verdict
from harness.simulate.groups.run import SimulationOptions, run_seed

PARTS: Final = "harness.targets.groups.python"
"""Module of the coordinator and the members that are simulated."""
SEEDS: Final = 8
EVENTS: Final = 2_500
"""Events of each seed: three seconds of processor for all seeds, where nothing is noticed."""
NAME: Final = f"simulate, {SEEDS} seeds"
OF: Final = "harness/simulate"
"""Folder that the check rests on."""


class Simulation:
    """The seeds from 0 on, of which the first violation ends the check."""

    name = NAME

    def noticed(self) -> Verdict | None:
        """The first violation; None if the seeds show nothing."""
        options = SimulationOptions(events=EVENTS)
        for seed in range(SEEDS):
            try:
                violation = run_seed(importlib.import_module(PARTS).PythonParts(), options, seed).violation
            except Exception as error:
                return Verdict(KILLED, f"simulate, seed {seed}: {type(error).__name__}: {error}", (OF,))
            if violation:
                what = f"{violation.requirement} {violation.invariant}"
                return Verdict(KILLED, f"simulate, seed {seed}: {what}", (OF,))
        return None
