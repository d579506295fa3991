"""An agent judged: many schedules at a time; each finding is repeated before it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from harness.clients.agent import AgentFailed
from harness.clients.judge import Judged
from harness.clients.run import BrokenRule, Result
from harness.clients.schedules import Schedule
from harness.clients.timeline import Setup
from harness.clients.wired import Serve, WiredRun
from harness.simulate.shrink import shrink
from harness.targets.base import Json

TIMES: Final = 5
"""The number of repetitions in which a finding must appear, with the times of the schedule and with all times
doubled."""
_SHRINK_TIMES: Final = 3
_CERTAIN_TRIES: Final = 4
_CANDIDATES: Final = 3
"""The number of schedules that are tried for one rule until one breaks it every time."""


@dataclass(frozen=True, slots=True)
class Play:
    """One run: `times` multiplies all times; with `wanted` the run ends when this rule is broken."""

    setup: Setup
    steps: Sequence[Json]
    times: float = 1.0
    wanted: str | None = None


@dataclass
class Sockets:
    """Runs of the agent `command`, at most `jobs` at a time."""

    serve: Serve
    command: Sequence[str]
    jobs: int = 4

    def together(self, plays: Iterable[Play], done: Callable[[], None] = lambda: None) -> list[Judged]:
        """Judge runs; `done` is called after each. AgentFailed."""
        return asyncio.run(self._together(list(plays), done))

    async def _together(self, plays: list[Play], done: Callable[[], None]) -> list[Judged]:
        places = asyncio.Semaphore(self.jobs)

        async def one(play: Play) -> Judged:
            async with places:
                run = WiredRun(self.serve, self.command, play.setup, play.times, play.wanted)
                judged = await run.run(play.steps)
                done()
                return judged

        tasks = [asyncio.create_task(one(play)) for play in plays]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def always(self, play: Play, times: int) -> bool:
        """Tell if the rule breaks in each of so many runs."""
        return all(play.wanted in judged.broken() for judged in self.together([play] * times))


def judge_agent(sockets: Sockets, schedules: Sequence[Schedule], say: Callable[[str], None]) -> Result:
    """Judge an agent under each schedule. A rule counts as broken only where one schedule breaks it `TIMES`
    times of `TIMES`, and as often with all times doubled; the other breaches are in `unsure`."""
    result, ended = Result(), 0

    def done() -> None:
        nonlocal ended
        ended += 1
        say(f"{ended} of {len(schedules)} schedules")

    candidates: dict[str, list[BrokenRule]] = {}
    for (origin, setup, steps), judged in zip(
        schedules, sockets.together((Play(one.setup, one.steps) for one in schedules), done), strict=True
    ):
        result.schedules += 1
        result.counts.update(judged.counts)
        result.missing |= judged.missing
        for breach in {one.rule: one for one in reversed(judged.breaches)}.values():
            broken = BrokenRule(origin, breach, setup, steps, judged.timeline)
            candidates.setdefault(breach.rule, []).append(broken)
    for rule, founds in sorted(candidates.items()):
        say(f"looking at {rule} again")
        founds.sort(key=lambda broken: len(broken.steps))
        shown = next((broken for broken in founds[:_CANDIDATES] if is_certain(sockets, broken)), None)
        if shown is None:
            result.unsure[rule] = founds[0]
        else:
            result.broken[rule] = shown
    return result


def is_certain(sockets: Sockets, broken: BrokenRule) -> bool:
    """Tell if the finding appears every time, and every time with all times doubled."""
    play = Play(broken.setup, broken.steps, wanted=broken.breach.rule)
    doubled = Play(broken.setup, broken.steps, 2.0, broken.breach.rule)
    return sockets.always(play, TIMES) and sockets.always(doubled, TIMES)


def shortest_on_wire(sockets: Sockets, broken: BrokenRule, say: Callable[[str], None]) -> BrokenRule:
    """A finding with a schedule of which no step can be left out. Each step of shrinking shows the breach 3
    times of 3. The result must be as certain as the finding: until it is, the last steps of shrinking are
    taken back."""
    rule, tries = broken.breach.rule, 0
    failing: list[tuple[Json, ...]] = []

    def fails(steps: Sequence[Json]) -> bool:
        nonlocal tries
        if not steps or steps[0]["do"] != "start":
            return False
        tries += 1
        say(f"{rule}: {len(steps)} steps, {tries} tried")
        try:
            shows = sockets.always(Play(broken.setup, steps, wanted=rule), _SHRINK_TIMES)
        except AgentFailed:
            return False
        if shows:
            failing.append(tuple(steps))
        return shows

    shrink(broken.steps, fails)
    for steps in reversed(failing[-_CERTAIN_TRIES:]):  # each is shorter than the one before it
        shorter = BrokenRule(broken.origin, broken.breach, broken.setup, steps)
        if is_certain(sockets, shorter):
            return _shown_again(sockets, shorter)
    return broken


def _shown_again(sockets: Sockets, broken: BrokenRule) -> BrokenRule:
    """The finding with the sentence and the time of a run of its own schedule."""
    rule = broken.breach.rule
    [judged] = sockets.together([Play(broken.setup, broken.steps, wanted=rule)])
    shown = next((one for one in judged.breaches if one.rule == rule), broken.breach)
    return BrokenRule(broken.origin, shown, broken.setup, broken.steps, judged.timeline)
