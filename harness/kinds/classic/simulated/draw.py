"""Random schedules of classic groups: the members, the times of everything, and the faults."""

from __future__ import annotations

import random
from typing import Final

from harness.kinds.classic.simulated.process import Process
from harness.kinds.classic.simulated.world import World
from harness.simulate.groups.pump import Plan, Pump
from harness.simulate.groups.story import Settings
from harness.simulate.groups.weather import Weather
from harness.targets.base import Json

NAMES: Final = ("foo", "bar", "baz")
MIXES: Final = {
    "g": (("old",), ("old", "both")),
    "h": (("new",), ("both", "new")),
}
"""Configurations that the consumers of a group may have beside each other (C4); the first group is eager."""
DISTURBANCES: Final = {
    "crash": 10,
    "close": 5,
    "resubscribe": 8,
    "enforce": 4,
    "fail-over": 6,
    "down": 4,
    "log": 3,
    "topic": 10,
    "leap": 4,
    "late": 8,
    "everybody-goes": 3,
}
"""Disturbances of a storm, by weight. The fate of each message is drawn with them."""


def drawn_settings(rng: random.Random, r9: bool = True, exemption: bool = True) -> Settings:
    """Two groups, so that each seed has eager and cooperative members."""
    return Settings(groups=tuple(MIXES), r9=r9, exemption=exemption, kind="classic")


ERRORS: Final = (-1, 14, 15, 16, 22, 25, 27, 27)
"""Errors of a coordinator with a fault: UNKNOWN_SERVER_ERROR, and those of spec/ClassicCoordinator.tla."""


class HearsOfTopics(Pump[World, Process]):
    """A pump in which members learn of topics, and which looks at a process whose request is answered
    late."""

    def look(self, process: Process, least_ms: int = 0) -> None:
        """Plan the next events of a process from its present state."""
        super().look(process, least_ms)
        if process.known_topics != self.world.topics:
            topics = tuple(sorted(self.world.topics.items()))
            self.plan(process, "metadata", ("notice", topics), self.metadata_ms(), {"do": "notice"})

    def saw(self, event: Json, happened: bool) -> None:
        """Plan the events that follow from an event; topics change for all processes."""
        super().saw(event, happened)
        if event["do"] in ("topic", "delete-topic", "fail-over"):
            for name in sorted(self.world.processes):
                self.look(self.world.processes[name])

    def metadata_ms(self) -> int:
        """The time until a change of topics is noticed."""
        return 100


class ClassicPump(HearsOfTopics):
    """A pump without faults."""

    def __init__(self, world: World) -> None:
        world.woken = self.look
        super().__init__(world)


class Draw(HearsOfTopics, Weather[World, Process]):
    """A pump that draws. Only `rng` decides."""

    disturbances = DISTURBANCES
    calm_ms = (20_000, 60_000)

    def __init__(self, world: World, rng: random.Random) -> None:
        world.woken = self.look
        super().__init__(world, rng)
        self._slots = self._drawn_slots()
        self._disturb = {
            "crash": lambda: self._to_one({"do": "crash"}),
            "close": lambda: self._to_one({"do": "close"}),
            "resubscribe": lambda: self._to_one({"do": "subscribe", "topics": self._topics()}),
            "enforce": lambda: self._to_one({"do": "enforce"}),
            "fail-over": lambda: self._now({"do": "fail-over"}),
            "down": self._down,
            "log": self._log,
            "topic": self._topic,
            "leap": lambda: self._to_one({"do": "leap", "ms": rng.choice((500, 5_000, 20_000))}),
            "late": self._late,
            "everybody-goes": self._everybody_goes,
        }
        for name in NAMES[: rng.randint(1, 3)]:
            self._now({"do": "topic", "name": name, "partitions": rng.randint(1, 5)})
        for slot in self._slots:
            self._start(slot, rng.randint(0, 10_000))
        self._change_weather()
        self._next_disturbance()

    def _drawn_slots(self) -> list[Json]:
        """The processes of the run; two static ones of a group may have one instance id (S2)."""
        rng, slots = self._rng, []
        for group in self.world.settings.groups:
            mix = rng.choice(MIXES[group])
            for number in range(rng.randint(2, 5)):
                static = rng.random() < 0.25
                slots.append(
                    {
                        "do": "start",
                        "who": f"{group}{number}",
                        "group": group,
                        "configuration": rng.choice(mix),
                        "instance": f"i{rng.choice((number, number, number, 0))}" if static else None,
                        "permille": rng.choice((1000, 1000, 1000, 950, 1050, 1200)),
                    }
                )
        return slots

    def saw(self, event: Json, happened: bool) -> None:
        """Plan the return of a process that is gone; a process that has failed for good is started anew."""
        super().saw(event, happened)
        who = event.get("who", "")
        process = self.world.processes.get(who)
        if process is not None and process.state == "failed":
            self.plan(process, "end", ("end",), self._rng.choice((1_000, 30_000)), {"do": "crash"})
        if (
            event["do"] == "answer"
            and process is not None
            and process.rules.lost
            and self._rng.random() < 0.2
        ):
            self._now({"do": "close", "who": who})  # before the application learns of it
        if process is None and who and happened and event["do"] not in ("start", "late"):
            slot = next(one for one in self._slots if one["who"] == who)
            self._start(slot, self._rng.choice((10, 1_000, 10_000, 60_000)))

    # Messages and applications

    def plan_request(self, process: Process, plan: Plan) -> None:
        """Let a request arrive, or be lost, or let its sender die before."""
        if self._plans.get((process.name, "io")) == plan:
            return
        kind = self._rng.random() * (1 if self._storm else 20)
        if 0.08 < kind < 0.09:
            self._now({"do": "crash", "who": process.name})
        self.plan(process, "io", plan, self.latency_ms(), {"do": "lose" if kind < 0.04 else "deliver"})

    def plan_answer(self, process: Process, plan: Plan) -> None:
        """Let an answer arrive, sometimes twice, or be lost, or come too late, or be an error."""
        if self._plans.get((process.name, "io")) == plan:
            return
        kind, after_ms = self._rng.random() * (1 if self._storm else 20), self.latency_ms()
        self.plan(process, "io", plan, after_ms, {"do": "lose" if kind < 0.04 else "answer"})
        if 0.05 < kind < 0.08:
            self.at(self.now_ms + after_ms + 1, {"do": "answer-again", "who": process.name})
        elif 0.08 < kind < 0.1:
            self.at(self.now_ms + after_ms // 2, {"do": "give-up", "who": process.name})
        elif 0.1 < kind < 0.14:
            self._now({"do": "wrong-error", "who": process.name, "error": self._rng.choice(ERRORS)})

    def plan_application(self, process: Process) -> None:
        """Plan the application's polls; an application that is at rest also commits."""
        super().plan_application(process)
        if process.machine.fetchable:
            commit = {"do": "commit", "offset": self._rng.randint(1, 1_000)}
            self.plan(process, "work", ("work",), self._rng.randint(500, 8_000), commit)

    def latency_ms(self) -> int:
        """A latency: mostly short, and now and then longer than a time-out."""
        if self._storm and self._rng.random() < 0.06:
            return self._rng.choice((1_500, 6_000, 15_000))
        return self._rng.randint(1, 50)

    def metadata_ms(self) -> int:
        """The time until a change of topics is noticed."""
        return self._rng.choice((10, 1_000, 10_000))

    def callback_ms(self) -> int:
        """The length of a callback, which may be longer than the rebalance time-out."""
        return self._rng.choice((100, 2_000, 8_000, 30_000))

    def poll(self) -> Json:
        """Poll; some polls stay in a callback for a while, some callbacks fail."""
        slow = self._rng.random() < (0.15 if self._storm else 0.03)
        raises = self._rng.random() < 0.05
        return {"do": "poll", **({"slow": True} if slow else {}), **({"raises": True} if raises else {})}

    # Disturbances

    def _start(self, slot: Json, after_ms: int) -> None:
        at_ms = max(self.now_ms + after_ms, self._back_ms)
        self.at(at_ms, {**slot, "topics": self._topics()})

    def _topics(self) -> list[str]:
        """The topics of a subscription: mostly all, sometimes a part."""
        count = self._rng.choice((1, 2, 3, 3, 3))
        return sorted(self._rng.sample(NAMES, count))

    def _late(self) -> None:
        if waiting := sorted(name for name, messages in self.world.late.items() if messages):
            self._now({"do": "late", "who": self._rng.choice(waiting)})

    def _topic(self) -> None:
        name = self._rng.choice(NAMES)
        known = self.world.topics.get(name, 0)
        if known and self._rng.random() < 0.3:
            self._now({"do": "delete-topic", "name": name})
        else:
            partitions = min(known + self._rng.randint(1, 2), 8)
            self._now({"do": "topic", "name": name, "partitions": partitions})

    def _everybody_goes(self) -> None:
        """Let all processes go, for longer than the sessions of static members."""
        self._back_ms = self.now_ms + 30_000
        for name in sorted(self.world.processes):
            self._now({"do": "close", "who": name})
