"""Storms with many faults, and calm, in which groups come to rest, take turns: a pump that draws
disturbances, for any kind of group."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Protocol, TypeVar

from harness.simulate.groups.pump import P, Pump, Pumps
from harness.simulate.groups.story import ACTIVE
from harness.targets.base import Json

STORM_MS: Final = (10_000, 60_000)
"""The shortest storm, and the longest."""


class Disturbed(Pumps, Protocol):
    """A world whose coordinator may be down."""

    @property
    def coordinator(self) -> str: ...


W = TypeVar("W", bound=Disturbed)


class Weather(Pump[W, P]):
    """A pump that draws the times of disturbances; `_disturb` has the events of each disturbance, and
    `disturbances` the weight of each. Only `rng` decides."""

    disturbances: ClassVar[Mapping[str, int]]
    calm_ms: ClassVar[tuple[int, int]]
    """The shortest calm, and the longest."""

    def __init__(self, world: W, rng: random.Random) -> None:
        self._rng = rng
        self._past_ms = 0
        super().__init__(world)
        self._storm = True
        self._back_ms = 0
        """The earliest time at which a process starts again."""
        self._disturb: dict[str, Callable[[], None]] = {}

    def next(self) -> Json | None:
        """The next event; disturbances and changes of the weather plan events, and are none themselves."""
        while (event := super().next()) is not None:
            if event["do"] == "weather":
                self._past_ms = event["at"]
                self._change_weather()
            elif event["do"] == "disturb":
                self._past_ms = event["at"]
                self._next_disturbance()
                if self._storm or self._rng.random() < 0.1:
                    names = list(self.disturbances)
                    self._disturb[self._rng.choices(names, list(self.disturbances.values()))[0]]()
            else:
                return event
        return None

    @property
    def now_ms(self) -> int:
        """The time of the world, or of a disturbance that is being planned."""
        return max(self.world.now_ms, self._past_ms)

    def _change_weather(self) -> None:
        self._storm = not self._storm
        lasts_ms = self._rng.randint(*(STORM_MS if self._storm else self.calm_ms))
        self.at(self.now_ms + lasts_ms, {"do": "weather"})

    def _next_disturbance(self) -> None:
        self.at(self.now_ms + int(self._rng.expovariate(1 / 2_000)), {"do": "disturb"})

    def _now(self, event: Json) -> None:
        self.at(self.now_ms, event)

    def _to_one(self, event: Json) -> None:
        if names := sorted(self.world.processes):
            self._now({"who": self._rng.choice(names), **event})

    def _down(self) -> None:
        if self.world.coordinator == ACTIVE:
            self._now({"do": "down", "how": self._rng.choice(("loading", "moved", "unavailable"))})
            self.at(self.now_ms + self._rng.choice((100, 2_000, 10_000)), {"do": "fail-over"})

    def _log(self) -> None:
        self._now({"do": "log", "fails": True})
        self.at(self.now_ms + self._rng.choice((100, 2_000, 20_000)), {"do": "log", "fails": False})
