"""Random schedules: the members, the times of everything, and the faults, drawn from a seed.

In the calm between storms groups come to rest; otherwise hardly any rebalance would ever end.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Final

from harness.replay import wire
from harness.simulate.groups.process import Process
from harness.simulate.groups.pump import Plan
from harness.simulate.groups.story import Settings
from harness.simulate.groups.weather import Weather
from harness.simulate.groups.world import World
from harness.targets.base import Json

NAMES: Final = ("foo", "bar", "baz")
DISTURBANCES: Final = {
    "crash": 10,
    "close": 4,
    "resubscribe": 8,
    "partition": 5,
    "fail-over": 6,
    "down": 3,
    "log": 3,
    "topic": 14,
    "leap": 4,
    "late": 12,
    "stall": 7,
    "everybody-goes": 4,
}
"""Disturbances of a storm, by weight. The fate of each message is drawn with them."""
ERRORS: Final = (7, 14, 16, 25, 110, 113)
"""Errors that a coordinator with a fault may answer: retriable ones, those that remove the member, and
STALE_MEMBER_EPOCH."""
WRONG: Final = (0.02, 0.005)
"""The share of answers that such an error replaces: in a storm, and in the calm."""
OFFERS: Final = (("spread",), ("spread", "reversed"), ("reversed", "spread"), ("picky", "spread"))
"""Client-side assignors that a process may offer."""


def drawn_settings(rng: random.Random, r9: bool = True, exemption: bool = True) -> Settings:
    """One group, or two that share the topics."""
    return Settings(groups=("g", "h")[: rng.choice((1, 1, 2))], r9=r9, exemption=exemption)


class Draw(Weather[World, Process]):
    """A pump that draws. Only `rng` decides."""

    disturbances = DISTURBANCES
    calm_ms = (20_000, 90_000)

    def __init__(self, world: World, rng: random.Random) -> None:
        super().__init__(world, rng)
        self._topics = 0
        self._slots = self._drawn_slots()
        self._aside = random.Random(str(self._slots))
        """A source of draws for later kinds of events, so that the other draws of a seed stay unchanged."""
        self._faulty = random.Random(f"wrong {self._slots}")
        self._disturb = {
            "crash": lambda: self._to_one({"do": "crash"}),
            "close": self._close,
            "resubscribe": self._resubscribe,
            "partition": self._partition,
            "fail-over": lambda: self._now({"do": "fail-over"}),
            "down": self._down,
            "log": self._log,
            "topic": self._topic,
            "leap": lambda: self._to_one({"do": "leap", "ms": rng.choice((500, 5_000, 20_000, 70_000))}),
            "late": self._late,
            "stall": self._stall,
            "everybody-goes": self._everybody_goes,
        }
        self._begin()

    def _drawn_slots(self) -> list[Json]:
        """The processes of the run; two static ones of a group may have one instance id (S2)."""
        rng, slots = self._rng, []
        for group in self.world.settings.groups:
            for number in range(rng.randint(3, 6)):
                static = rng.random() < 0.3
                slots.append(
                    {
                        "do": "start",
                        "who": f"{group}{number}",
                        "group": group,
                        "instance": f"i{rng.choice((number, number, number, 0))}" if static else None,
                        "ownId": rng.random() < 0.7,
                        "assignor": rng.choice((None, None, "uniform", "range")),
                        "maxPollMs": rng.choice((20_000, 60_000)),
                        "permille": rng.choice((1000, 1000, 1000, 700, 950, 1050, 1500)),
                    }
                )
        return [slot for group in self.world.settings.groups for slot in _with_local(slots, group)]

    def _begin(self) -> None:
        for name in NAMES[: self._rng.randint(1, 3)]:
            self._new_topic(name)
        for slot in self._slots:
            self._start(slot, self._rng.randint(0, 10_000))
        self._change_weather()
        self._next_disturbance()

    def saw(self, event: Json, happened: bool) -> None:
        """Plan the return of a process that is gone; a process that has failed for good is started anew."""
        super().saw(event, happened)
        who = event.get("who")
        process = self.world.processes.get(who or "")
        if process is not None and process.state == "FATAL":
            after_ms = self._rng.choice((1_000, 30_000))
            self.plan(process, "end", ("end",), after_ms, {"do": "crash"})
        if who is not None and who not in self.world.processes and event["do"] != "start" and happened:
            slot = next((one for one in self._slots if one["who"] == who), None)
            if slot is not None and event["do"] != "late":
                self._start(slot, self._rng.choice((10, 1_000, 10_000, 60_000)))

    # Messages

    def plan_request(self, process: Process, plan: Plan) -> None:
        """Let a request arrive, sometimes twice, or be lost, or be late, or let its sender die before."""
        if self._plans.get((process.name, "io")) == plan:
            return
        kind = self._rng.random() * (1 if self._storm else 20)
        if 0.08 < kind < 0.09:
            self._now({"do": "crash", "who": process.name})
        if not self.world.settings.r9 and self._rng.random() < 0.3:
            self._lag(process)
        self.plan(process, "io", plan, self.latency_ms(), {"do": "lose" if kind < 0.05 else "deliver"})
        if 0.05 < kind < 0.08:
            self._now({"do": "duplicate", "who": process.name})
            self.at(self.now_ms + self.latency_ms(), {"do": "deliver-copy", "who": process.name})

    def _lag(self, process: Process) -> None:
        """Without R9: let the process give up a request in flight, which arrives later."""
        self._now({"do": "give-up", "who": process.name, "disconnected": True})
        after_ms = self._rng.choice((300, 1_000, 3_000, 5_000, 8_000))
        self.at(self.now_ms + after_ms, {"do": "late", "who": process.name})

    def plan_answer(self, process: Process, plan: Plan) -> None:
        """Let an answer arrive, sometimes twice, or be lost, or be a wrong error."""
        if self._plans.get((process.name, "io")) == plan:
            return
        kind = self._rng.random() * (1 if self._storm else 20)
        after_ms = self.latency_ms()
        self.plan(process, "io", plan, after_ms, {"do": "lose" if kind < 0.05 else "answer"})
        if self._faulty.random() < WRONG[0 if self._storm else 1]:
            wrong = {"do": "wrong-error", "who": process.name, "error": self._faulty.choice(ERRORS)}
            self.at(self.now_ms + after_ms // 2, wrong)
        if 0.05 < kind < 0.07:
            self.at(self.now_ms + after_ms + 1, {"do": "answer-again", "who": process.name})
        elif 0.07 < kind < 0.1:
            self.at(
                self.now_ms + after_ms // 2,
                {"do": "give-up", "who": process.name, "disconnected": True},
            )

    def latency_ms(self) -> int:
        """A latency: mostly short, and now and then longer than a time-out."""
        if self._storm and self._rng.random() < 0.06:
            return self._rng.choice((1_500, 6_000, 20_000, 50_000))
        return self._rng.randint(1, 50)

    # Applications

    def plan_application(self, process: Process) -> None:
        """Plan the application's polls; an application that is at rest also consumes and commits."""
        super().plan_application(process)
        if process.machine.fetchable:
            self.plan(process, "work", ("work",), self._rng.randint(500, 5_000), self._work())

    def _work(self) -> Json:
        if self._rng.random() < 0.3:
            return {"do": "commit"}
        return {"do": "consume", "records": self._rng.randint(1, 5)}

    def callback_ms(self) -> int:
        """The length of a slow callback, which may be longer than the rebalance time-out (R4)."""
        return self._rng.choice((100, 2_000, 10_000, 90_000))

    def poll(self) -> Json:
        """Poll; some polls stay in a callback for a while."""
        slow = self._rng.random() < (0.15 if self._storm else 0.03)
        raises = self._aside.random() < 0.1
        return {"do": "poll", **({"slow": True} if slow else {}), **({"raises": True} if raises else {})}

    # Disturbances

    def _one(self) -> Process | None:
        processes = self.world.processes
        return processes[self._rng.choice(sorted(processes))] if processes else None

    def _start(self, slot: Json, after_ms: int) -> None:
        self.at(max(self.now_ms + after_ms, self._back_ms), {**slot, **self._subscription()})

    def _subscription(self) -> Json:
        """A subscription: mostly all topics, sometimes some, sometimes those of a regular expression (T1)."""
        kind = self._rng.random()
        if kind < 0.2:
            return {"topics": [], "regex": self._rng.choice(("ba.", ".*", "f.*|baz"))}
        if kind < 0.6:
            return {"topics": list(NAMES)}
        return {"topics": sorted(self._rng.sample(NAMES, self._rng.randint(0 if kind < 0.65 else 1, 2)))}

    def _close(self) -> None:
        """Close, or unsubscribe for a while."""
        if self._aside.random() < 0.7:
            self._to_one({"do": "close"})
        elif process := self._one():
            self._now({"do": "unsubscribe", "who": process.name})
            back_ms = self.now_ms + self._aside.choice((100, 5_000, 20_000))
            self.at(back_ms, {"do": "subscribe", "who": process.name, "topics": list(NAMES)})

    def _resubscribe(self) -> None:
        self._to_one({"do": "subscribe", **self._subscription()})

    def _partition(self) -> None:
        processes = sorted(self.world.processes)
        cut = [name for name in processes if self._rng.random() < 0.5]
        self._now({"do": "partition", "from": cut})
        self.at(self.now_ms + self._rng.choice((3_000, 20_000, 60_000)), {"do": "heal"})

    def _late(self) -> None:
        waiting = sorted(name for name, messages in self.world.late.items() if messages)
        if waiting:
            event: Json = {"do": "late", "who": self._rng.choice(waiting)}
            self._now({**event, "again": True} if self._rng.random() < 0.4 else event)

    def _stall(self) -> None:
        """Let the application not poll for longer than it may (K4)."""
        process = self._one()
        if process is not None and process.running is None:
            after_ms = process.consumer.max_poll_ms * 1_500 // process.permille
            self._plans.pop((process.name, "application"), None)
            self.plan(process, "application", ("idle",), after_ms, {"do": "poll"})

    def _everybody_goes(self) -> None:
        """Let all processes go, so long that the group may be deleted (E5)."""
        self._back_ms = self.now_ms + 80_000
        for name in sorted(self.world.processes):
            self._now({"do": "close", "who": name})
        for group in self.world.settings.groups:
            self.at(self.now_ms + 70_000, {"do": "delete-group", "group": group})

    def _topic(self) -> None:
        name = self._rng.choice(NAMES)
        known = self.world.topics.get(name)
        kind = self._rng.random()
        if known is None or kind < 0.3:
            self._new_topic(name)
        elif kind < 0.7:
            partitions = min(known[1] + self._rng.randint(1, 2), 8)
            self._now({"do": "topic", "name": name, "id": known[0], "partitions": partitions})
        else:
            self._now({"do": "delete-topic", "name": name})

    def _new_topic(self, name: str) -> None:
        """Create a topic (T2): each time under another id."""
        self._topics += 1
        topic = wire.topic_id(f"{name}#{self._topics}")
        self._now({"do": "topic", "name": name, "id": topic, "partitions": self._rng.randint(1, 5)})


def _with_local(slots: Sequence[Json], group: str) -> Iterator[Json]:
    """The processes of a group, which in a quarter of all groups offer client-side assignors, most of them.

    The choice follows from earlier draws: the other draws of a seed do not depend on it.
    """
    own = [slot for slot in slots if slot["group"] == group]
    rng = random.Random(str(own))
    if rng.random() >= 0.25:
        yield from own
        return
    common = rng.choice(OFFERS)
    for slot in own:
        offers = common if rng.random() < 0.8 else rng.choice((*OFFERS, ()))
        yield {**slot, "assignor": None, "local": list(offers)} if offers else slot
