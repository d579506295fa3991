"""Playing seeds and schedules of whole groups for `conform simulate`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.cli.console import running, write_json
from harness.cli.options import ALL_PROCESSORS, SPARK_MEMORY
from harness.errors import NOT_CONFORMANT, USAGE, ConformError
from harness.files import output_folder, write_text
from harness.forms import Form
from harness.kept import Kept, tried
from harness.kinds.scenarios import scenario_from_ops
from harness.pipeline import need_spark
from harness.simulate.groups.operations import Noted, operations_of
from harness.simulate.groups.report import explain, file_name, summary, to_json
from harness.simulate.groups.run import (
    Outcome,
    Simulated,
    SimulatedViolation,
    SimulationOptions,
    play,
    run_seed,
    shown,
    shrunk,
    summed,
)
from harness.simulate.groups.schedule import read_schedule, schedule_of, write_schedule
from harness.simulate.groups.schedule import to_json as to_json_schedule
from harness.simulate.groups.story import Counts, Story
from harness.targets.base import Json
from harness.targets.groups.parts import parts_of
from harness.targets.recording import opened_log


class Assumption(StrEnum):
    """Assumptions that can be taken away; then the simulation must find a violation."""

    r9 = "r9"
    exemption = "exemption"


@dataclass(frozen=True, slots=True)
class Place:
    """The place where seeds are played, and the place for results."""

    out: Path
    json_file: Path | None = None
    master: str = ALL_PROCESSORS
    spark_memory: str = SPARK_MEMORY
    package: Path | None = None
    conf: Sequence[str] = ()
    record: Path | None = None
    """The file for the coordinator's requests and answers."""
    kept: Path | None = None
    """The folder for failures, which the next run tries first."""


def simulate_groups(options: SimulationOptions, place: Place) -> None:
    """Play seeds, and write down their violations. ConformError (exit 11) if there are any."""
    parts = parts_of(options.kind)
    output_folder(place.out)
    kept = Kept(place.kept, "simulate", "python", _assumptions(options))
    before = [_kept(one, kept.path or place.out) for one in kept.read_as(_Entry)]
    still = {violation.kind: violation for one in before if (violation := shown(parts, one))}
    if before:
        print(tried("schedule", len(before), len(still), "nothing else was tried"))
    if still:
        result = Simulated(options, 0, Counts.none(), "", list(still.values()))
    else:
        started = time.monotonic()
        result = summed(options, _outcomes(parts, options, place))
        result.seconds = time.monotonic() - started
        for line in summary(result):
            print(line)
        result.violations = _shrunk(parts, result)
    if not_kept := kept.write(_entry(violation) for violation in result.violations):
        print(not_kept)
    files, scenarios = [], []
    for violation in result.violations:
        path = place.out / file_name(violation)
        write_schedule(violation.schedule, path)
        files.append(path)
        scenarios.append(_scenario(parts, violation, path))
        for line in explain(violation, path, scenarios[-1]):
            print(line)
    write_json(place.json_file, to_json(result, files, scenarios))
    if result.violations:
        violated = ", ".join(f"{one.requirement} {one.invariant}" for one in result.violations)
        raise ConformError(f"Violated: {violated}.", NOT_CONFORMANT)


def _assumptions(options: SimulationOptions) -> str:
    """The dialect, the kind of the groups where it is not the default one, and the assumptions that are taken
    away: other assumptions give other schedules."""
    gone = [name for name in ("r9", "exemption") if not getattr(options, name)]
    kind = () if options.kind == SimulationOptions().kind else (options.kind,)
    return " without ".join((" ".join(("kip-848", *kind)), *gone))


def _entry(violation: SimulatedViolation) -> Json:
    """A violation in its kept form."""
    return {
        "seed": violation.seed,
        "settling": violation.settling,
        "schedule": to_json_schedule(violation.schedule),
    }


class _Entry(Form):
    """A kept violation, as `_entry` writes it."""

    schedule: Json
    seed: int = 0
    settling: bool = False


def _kept(entry: _Entry, path: Path) -> SimulatedViolation:
    """A kept violation, before its schedule is played."""
    schedule = schedule_of(entry.schedule, path)
    return SimulatedViolation(entry.seed, len(schedule.events), "", "", "", schedule, entry.settling)


def _outcomes(parts: Any, options: SimulationOptions, place: Place) -> list[Outcome]:
    """Play one seed here, several as tasks of Spark."""
    with running("simulating whole groups") as progress:
        if options.seeds == 1:
            with _recorded(parts, place.record) as noted:
                return [run_seed(noted, options, options.seed, lambda done: progress(f"{done:,} events"))]
        need_spark("To simulate several seeds")
        # imported here, so that one seed does not wait for the import of Spark
        from harness.pipeline.session import Cluster, settings_of
        from harness.pipeline.simulating import simulate_seeds

        cluster = Cluster(place.master, place.spark_memory, place.package, settings_of(place.conf))
        with tempfile.TemporaryDirectory(prefix="conform-") as folder:
            return simulate_seeds(options, cluster, Path(folder) / "spark.log", progress)


@contextmanager
def _recorded(parts: Any, record: Path | None) -> Iterator[Any]:
    """The parts, with a log for `conform validate` if one is wanted."""
    if record is None:
        yield parts
        return
    with opened_log(record) as note:
        yield Noted(parts, note)


def _shrunk(parts: Any, result: Simulated) -> list[SimulatedViolation]:
    shorter = []
    for one in result.violations:
        with running(f"shrinking the schedule of {one.requirement} {one.invariant}"):
            shorter.append(shrunk(parts, one))
    return shorter


def _scenario(parts: Any, violation: SimulatedViolation, path: Path) -> Path | None:
    """Write the requests of a schedule as a golden scenario beside it. None where a scenario cannot express
    them: another kind of group, several groups, a log that refuses records, a coordinator that is down."""
    if violation.schedule.settings.kind != SimulationOptions().kind:
        return None
    if (
        violation.settling
        or len({event["group"] for event in violation.schedule.events if "group" in event}) > 1
    ):
        return None
    if any(event["do"] in ("log", "down") for event in violation.schedule.events):
        return None
    name = f"{violation.requirement} {violation.invariant}, seed {violation.seed}"
    text = scenario_from_ops(operations_of(parts, violation.schedule), name)
    if "# left out: " in text:
        return None
    beside = path.with_suffix(".yaml")
    write_text(beside, text)
    return beside


def check_record(record: Path | None, kind: str) -> None:
    """ConformError (exit 2) where a run of groups of this kind is to be recorded, and cannot be."""
    if record is not None and kind != SimulationOptions().kind:
        raise ConformError(f"--record takes no run of {kind} groups: leave it out.", USAGE)


def replay_groups(path: Path, record: Path | None = None) -> None:
    """Play a schedule again, and report the result; `record` is a log of the coordinator's requests and
    answers. ConformError (exit 11) for a violation."""
    schedule = read_schedule(path)
    check_record(record, schedule.settings.kind)
    story = Story()
    with _recorded(parts_of(schedule.settings.kind), record) as parts:
        failed = play(parts, schedule.settings, schedule.events, story=story)
    for line in story.lines():
        print(line)
    if failed is None:
        print(f"{len(schedule.events)} events, and the groups came to rest: no violation")
        return
    violation = failed.violation
    raise ConformError(f"{path}, after event {failed.after}: {violation}.", NOT_CONFORMANT)
