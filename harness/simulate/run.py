"""Runs of a differential simulation, one after the other, and the schedules that show a difference."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from harness.errors import ENGINE_FAILED, ConformError
from harness.simulate.generate import Generator
from harness.simulate.pair import Done, Pair
from harness.simulate.repeat import repeat, shrunk
from harness.simulate.schedule import Schedule
from harness.targets.base import Json


@dataclass(frozen=True, slots=True)
class Divergence:
    """A kind of difference: the shrunk schedule, the result of its last operation, the group before that, and
    its first place: the run (from 1; 0 is an earlier command), and the number of operations."""

    signature: str
    schedule: Schedule
    done: Done
    before: Json
    run: int
    operations: int


@dataclass
class Simulated:
    """The sum of all runs. A step is an operation that both targets did and after which they were compared.

    `ways` counts the steps by action and answer, `states` the first target's group states after them.
    `unscripted` runs ended because a target was computed that was not scripted. `seen` counts the runs that
    ended with each kind of difference; waived ones are only in `seen`.
    """

    runs: int = 0
    steps: int = 0
    unscripted: int = 0
    ways: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    divergences: list[Divergence] = field(default_factory=list)


class RunFailed(ConformError):
    """A target failed, or gave other answers to the same operations: `schedule` has the operations of the run
    until then, and `result` has the differences that were found before."""

    def __init__(self, error: ConformError, schedule: Schedule, result: Simulated) -> None:
        where = f"Run {result.runs}, operation {len(schedule.operations)}"
        super().__init__(f"{where}: {error.message}", error.exit_code)
        self.schedule, self.result = schedule, result


def simulate(
    pair: Pair,
    seed: int,
    steps: int,
    length: int,
    most: int = 1,
    waives: Callable[[str], bool] = lambda _: False,
    progress: Callable[[Simulated], None] = lambda _: None,
) -> Simulated:
    """Compare two targets in a number of steps, in runs of `length` that each start without groups; end early
    with `most` kinds of differences. The first difference of a run ends it. RunFailed (exit 3) if a target
    fails."""
    rng = random.Random(seed)
    result = Simulated()
    while result.steps < steps and len(result.divergences) < most:
        generator = Generator(random.Random(rng.getrandbits(64)), pair.can, pair.dialects)
        done: list[Json] = []
        try:
            _run(pair, generator, min(length, steps - result.steps), done, result, waives, progress)
        except ConformError as error:
            raise RunFailed(error, Schedule(generator.settings, tuple(done)), result) from None
    return result


def simulate_again(
    pair: Pair, schedules: Iterable[Schedule], waives: Callable[[str], bool] = lambda _: False
) -> Simulated:
    """Do schedules of earlier runs again: each kind of difference that still appears, and is not waived."""
    result = Simulated()
    for schedule in schedules:
        result.runs += 1
        end = repeat(pair, schedule)
        result.steps += end.number - end.done.unscripted
        if end.done.unscripted:
            result.unscripted += 1
        if not end.done.differences:
            continue
        signature = end.done.signatures()[0]
        result.seen[signature] += 1
        if not waives(signature) and result.seen[signature] == 1:
            short = Schedule(schedule.settings, schedule.operations[: end.number])
            result.divergences.append(Divergence(signature, short, end.done, end.before, 0, end.number))
    return result


def _run(
    pair: Pair,
    generator: Generator,
    length: int,
    done: list[Json],
    result: Simulated,
    waives: Callable[[str], bool],
    progress: Callable[[Simulated], None],
) -> None:
    """Do one run; `done` takes its operations."""
    result.runs += 1
    pair.start(generator.settings)
    for operation in _operations(generator, length):
        done.append(operation)
        seen = pair.do(operation)
        if seen.unscripted:
            result.unscripted += 1
            return
        result.steps += 1
        result.ways[seen.way] += 1
        if seen.differences:
            signature = seen.signatures()[0]
            known = signature in result.seen
            result.seen[signature] += 1
            if not waives(signature) and not known:
                schedule = Schedule(generator.settings, tuple(done))
                progress(result)
                result.divergences.append(_shortest(pair, schedule, signature, result.runs))
            return
        result.states[(seen.answer.group or {}).get("state", "")] += 1
        generator.saw(operation, seen.answer)
        progress(result)


def _operations(generator: Generator, steps: int) -> Iterator[Json]:
    """Operations with so many steps among them; the next one is drawn when the last one has been done."""
    yield generator.begin()
    for _ in range(steps - 1):
        yield generator.next()


def _shortest(pair: Pair, schedule: Schedule, signature: str, run: int) -> Divergence:
    short = shrunk(pair, schedule, signature)
    again = repeat(pair, short)
    if not again.done.differences:
        raise ConformError(
            f"The difference {signature} is not there again: a target is not deterministic.", ENGINE_FAILED
        )
    return Divergence(signature, short, again.done, again.before, run, len(schedule.operations))
