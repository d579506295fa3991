"""Simulations as checks of a mutant: seeds of whole groups, and of one client that is judged by the rules of
`conform client`. Most committed traces exercise only the coordinator, so few of them notice a mutant of a
member."""

from __future__ import annotations

import importlib
from typing import Final

from harness.clients.schedules import drawn
from harness.clients.simulated import simulate
from harness.mutate.mutant import KILLED, Verdict
from harness.simulate.groups.run import SimulationOptions, run_seed
from harness.simulate.stage import stages

PARTS: Final = "harness.targets.groups.parts"
"""Module of the coordinator and the members that are simulated."""
GROUP_SEEDS: Final = 8
EVENTS: Final = 2_500
"""Events of each seed: three seconds of processor for all seeds of an equivalent mutant."""
CLIENT_SEEDS: Final = 60
"""Schedules of one client: two seconds of processor."""


class Client:
    """Schedules of one client; the first broken rule ends the check."""

    name = f"client, {CLIENT_SEEDS} seeds"
    of = "harness/clients"

    def noticed(self) -> Verdict | None:
        """The first broken rule; None if the client keeps them all."""
        parts = importlib.import_module(PARTS).parts_of(SimulationOptions().kind)
        for seed, schedule in enumerate(drawn(range(CLIENT_SEEDS))):
            try:
                judged, _ = simulate(parts, parts.member, schedule.setup, schedule.steps)
            except Exception as error:
                return Verdict(KILLED, f"client, seed {seed}: {type(error).__name__}: {error}", (self.of,))
            if judged.breaches:
                rules = sorted({breach.rule for breach in judged.breaches})
                return Verdict(KILLED, f"client, seed {seed}: {', '.join(rules)}", (self.of,))
        return None


class Groups:
    """Seeds of whole groups of a kind; the first violation ends the check."""

    of = "harness/simulate"

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.name = f"simulate {kind} groups, {GROUP_SEEDS} seeds"

    def noticed(self) -> Verdict | None:
        """The first violation; None if the seeds have none."""
        parts = importlib.import_module(PARTS).parts_of(self._kind)
        options = SimulationOptions(events=EVENTS, kind=self._kind)
        for seed in range(GROUP_SEEDS):
            try:
                violation = run_seed(parts, options, seed).violation
            except Exception as error:
                return Verdict(KILLED, f"{self.name}: {type(error).__name__}: {error}", (self.of,))
            if violation:
                what = f"{violation.requirement} {violation.invariant}"
                return Verdict(KILLED, f"{self.name}, seed {seed}: {what}", (self.of,))
        return None


SIMULATIONS: Final[tuple[Client | Groups, ...]] = (Client(), *map(Groups, stages()))
"""The simulations, the cheapest first."""
