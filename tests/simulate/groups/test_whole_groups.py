"""Whole groups under random faults: the requirements hold, the faults do occur, and a run can be repeated."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.simulate.groups.draw import Draw, drawn_settings
from harness.simulate.groups.parts import Partition
from harness.simulate.groups.run import Outcome, SimulationOptions, play, run_seed, shrunk, summed
from harness.simulate.groups.scene import FAULTS
from harness.simulate.groups.schedule import EVENTS, Schedule, read_schedule, write_schedule
from harness.simulate.groups.settle import settle, unsettled
from harness.simulate.groups.world import World
from harness.targets.base import Json
from harness.targets.groups.python import PythonParts

ROOT = Path(__file__).parents[3]
PARTS = PythonParts()


@pytest.fixture(scope="module")
def default() -> Outcome:
    """The outcome of `conform simulate` without options."""
    return run_seed(PARTS, SimulationOptions(), SimulationOptions().seed)


def drawn(seed: int, events: int) -> tuple[World, list[Json]]:
    """A world after a drawn schedule, and that."""
    rng = random.Random(seed)
    world = World(PARTS, drawn_settings(rng))
    draw, done = Draw(world, rng), list[Json]()
    while world.counts.events < events:
        event = draw.next()
        assert event is not None
        happened = world.apply(event)
        draw.saw(event, happened)
        done += [event] if happened else []
    return world, done


def test_the_default_run_holds_and_has_every_fault(default: Outcome) -> None:
    """G8: no requirement is broken, though all kinds of faults occur."""
    counts = default.counts
    assert default.violation is None and counts.events >= SimulationOptions().events
    assert set(counts.faults) == set(FAULTS)
    assert not [fault for fault, count in counts.faults.items() if not count]
    assert not [event for event in EVENTS if event != "wait" and not counts.kinds[event]]
    assert counts.kinds["session timeout"] and counts.kinds["rebalance timeout"]
    assert {"Stable", "Reconciling", "Empty", "Dead"} <= counts.states.keys()
    assert counts.rebalances > 5 and counts.zombie_owners > 0
    assert counts.answers["commit accepted"] and counts.answers["commit refused"]
    refused = {0, 14, 15, 16, 25, 111}
    assert {f"heartbeat {code}" for code in refused} <= counts.answers.keys()


def test_other_seeds_hold(default: Outcome) -> None:
    others = [run_seed(PARTS, SimulationOptions(events=1_500), seed) for seed in range(6)]
    assert not [one.violation for one in others if one.violation]
    assert len({one.digest for one in [default, *others]}) == 7


def test_a_seed_reproduces_everything_whatever_python_hashes() -> None:
    """As sets of strings are in another order in every process."""
    program = (
        "from harness.simulate.groups.run import SimulationOptions, run_seed\n"
        "from harness.targets.groups.python import PythonParts\n"
        "print([run_seed(PythonParts(), SimulationOptions(events=800), seed).digest for seed in (1, 2, 3)])"
    )
    given = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hashes, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hashes in ("1", "2")
    }
    here = [run_seed(PARTS, SimulationOptions(events=800), seed).digest for seed in (1, 2, 3)]
    assert given == {f"{here}\n"}


def test_a_schedule_is_what_happened_whoever_plays_it(tmp_path: Path) -> None:
    world, events = drawn(5, 700)
    path = tmp_path / "schedule.json"
    write_schedule(Schedule(world.settings, tuple(events)), path)
    read = read_schedule(path)
    assert read.events == tuple(events) and read.settings == world.settings
    again = World(PARTS, read.settings)
    assert all(again.apply(event) for event in read.events)
    assert again.counts == world.counts
    for group in world.settings.groups:
        assert again.cluster.durable(group) == world.cluster.durable(group)


@pytest.mark.parametrize("seed", range(12))
def test_events_can_be_left_out_of_a_schedule(seed: int) -> None:
    """The rest of a schedule is a behaviour, too: no error without a requirement, and no rule is broken."""
    world, events = drawn(seed % 3, 500)
    rng = random.Random(seed)
    part = [event for event in events if rng.random() < (0.9, 0.5)[seed % 2]]
    assert play(PARTS, world.settings, part) is None


@pytest.mark.parametrize("seed", [3, 4])
def test_the_state_kept_between_steps_is_the_coordinators(seed: int) -> None:
    """The invariants cost what changed; so what they compare with must never drift."""
    world, _ = drawn(seed, 900)
    seen = 0
    for name, watch in world.watches.items():
        group = world.cluster.group(name)
        held: dict[Partition, int] = {}
        for member_id, member in (group.members if group else {}).items():
            known = watch.members.pop(member_id)
            assert (known.epoch, known.held, known.revoking) == (member.epoch, member.held, member.revoking)
            held |= dict.fromkeys(member.held, known.incarnation)
        assert held == watch.holder and not watch.members
        seen += len(held)
    assert seen


def test_without_the_exemption_of_zombies_it_fails(tmp_path: Path) -> None:
    """R7, as the model MCNoExemption: a removed member that does not know of its removal may own a partition
    of another member."""
    result = next(
        outcome.violation
        for seed in (4, 6, 9)
        if (outcome := run_seed(PARTS, SimulationOptions(exemption=False), seed)).violation
    )
    short = shrunk(PARTS, result)
    assert short.kind == ("R7", "NoDoubleOwnership") and len(short.schedule.events) <= 15
    path = tmp_path / "short.json"
    write_schedule(short.schedule, path)
    failed = play(PARTS, read_schedule(path).settings, read_schedule(path).events)
    assert failed is not None and failed.after == len(short.schedule.events)
    assert failed.violation.message == short.message
    arrows = [one for one in short.story if one["kind"] == "request"]
    assert len(arrows) >= 2 and all(one["to"] == "coordinator" and one["label"] for one in arrows)
    # the shortest: without any one event of it there is no violation
    settings, events = short.schedule.settings, list(short.schedule.events)
    for index in range(len(events)):
        assert play(PARTS, settings, [*events[:index], *events[index + 1 :]], settles=False) is None
    # callbacks that fail without need are made plain ones
    raising = tuple({**one, "raises": True} if one["do"] == "poll" else one for one in events)
    again = shrunk(PARTS, replace(short, schedule=replace(short.schedule, events=raising)))
    assert raising != tuple(events) and not any("raises" in one for one in again.schedule.events)


def test_without_r9_it_fails() -> None:
    """R9, as the models MCNoR9 and MCHandOverNoR9: an abandoned request arrives after later ones."""
    request = SimulationOptions(events=3_000, r9=False)
    result = next(
        outcome.violation for seed in range(60) if (outcome := run_seed(PARTS, request, seed)).violation
    )
    assert result.requirement in ("R7", "O2", "O3")


def test_a_group_that_cannot_settle_fails() -> None:
    """R8: with a member's process held back, the group is not STABLE within the recovery time."""
    world, _ = drawn(1, 400)
    settle(world)
    assert unsettled(world) == ""
    process = next(iter(world.processes.values()))
    process.subscription = frozenset({"never told"}), None
    assert process.name in unsettled(world)


def test_outcomes_add_up_in_any_order() -> None:
    request = SimulationOptions(events=300, exemption=False)
    outcomes = [run_seed(PARTS, request, seed) for seed in range(8)]
    results = [summed(request, order) for order in (outcomes, outcomes[::-1], outcomes[3:] + outcomes[:3])]
    assert results[0] == results[1] == results[2]
    assert results[0].counts.events == sum(one.counts.events for one in outcomes)
    assert sum(one.seen for one in results[0].violations) == sum(
        one.violation is not None for one in outcomes
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("nothing", "is not JSON"),
        ("{}", "needs a list of events"),
        ('{"events": [{"at": 0, "do": "explode"}]}', "event 1: there is no event 'explode'"),
        ('{"events": [{"at": -1, "do": "heal"}]}', "'at' must be from 0 to 1000000000"),
        ('{"events": [{"at": 1e30, "do": "heal"}]}', "'at' must be a whole number, not 1e"),
        ('{"events": [{"at": 0, "do": "send"}]}', "send needs the field 'who'"),
        ('{"events": [{"at": 0, "do": "send", "who": []}]}', "'who' must be a text, not "),
        ('{"events": [{"at": 0, "do": "partition", "from": [1]}]}', "'from' must be a list of texts"),
        ('{"events": [{"at": 0, "do": "down", "how": "so"}]}', "'how' must be one of"),
        (
            '{"events": [{"at": 0, "do": "poll", "who": "A", "slwo": true}]}',
            "event 1: there is no field 'slwo' in events; there are do, who",
        ),
        (
            '{"setting": {"r9": false}, "events": [{"at": 0, "do": "heal"}]}',
            "has the unknown field 'setting'. Did you mean settings",
        ),
        ('{"settings": {"x": 1}, "events": [{"at": 0, "do": "heal"}]}', "must be some of"),
        ('{"settings": {"session_ms": "5"}, "events": [{"at": 0, "do": "heal"}]}', "be a whole number"),
        ('{"settings": {"session_ms": 0}, "events": [{"at": 0, "do": "heal"}]}', "must be at least 1"),
        ('{"settings": {"heartbeat_ms": -5}, "events": [{"at": 0, "do": "heal"}]}', "must be at least 1"),
        ('{"settings": {"session_ms": 1e30}, "events": [{"at": 0, "do": "heal"}]}', "must be a whole number"),
        (
            '{"settings": {"session_ms": 2000000000}, "events": [{"at": 0, "do": "heal"}]}',
            "at most 1000000000",
        ),
        ('{"settings": {"groups": "g"}, "events": [{"at": 0, "do": "heal"}]}', '"groups" must be a list'),
        ('{"settings": {"groups": []}, "events": [{"at": 0, "do": "heal"}]}', "there must be a group"),
    ],
)
def test_a_file_that_is_no_schedule(text: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "schedule.json"
    path.write_text(text)
    with pytest.raises(ConformError, match=problem) as caught:
        read_schedule(path)
    assert caught.value.exit_code == 2
