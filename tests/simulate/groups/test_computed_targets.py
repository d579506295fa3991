"""Groups in a simulation whose members compute the target themselves (A5 to A7)."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.errors import ConformError
from harness.kinds.consumer.scenario.from_ops import scenario_from_ops
from harness.simulate.groups.computed import Prepared, check_installed, check_kept, check_prepared, illegal
from harness.simulate.groups.operations import operations_of
from harness.simulate.groups.parts import Violation
from harness.simulate.groups.run import SimulationOptions, run_seed
from harness.simulate.groups.schedule import Schedule, read_schedule
from harness.simulate.groups.settle import settle
from harness.simulate.groups.story import Settings
from harness.simulate.groups.world import World
from harness.targets.base import Json
from harness.targets.groups.python import PythonParts

PARTS = PythonParts()
FOO = "00000000-0000-4000-8000-0000000000f0"
A, B = frozenset({(FOO, 0)}), frozenset({(FOO, 1)})
BASE: dict[str, Any] = {
    "groupEpoch": 3,
    "members": [{"memberId": name, "subscribedTopicIds": [FOO]} for name in "ab"],
    "topics": [{"topicId": FOO, "numPartitions": 2}],
}


def world_of(*local: str, processes: int = 3) -> World:
    """Some processes with the same assignors, which have come to rest."""
    world = World(PARTS, Settings())
    world.apply({"at": 0, "do": "topic", "name": "foo", "id": FOO, "partitions": 4})
    for number in range(processes):
        start = {"who": f"p{number}", "group": "g", "topics": ["foo"], "ownId": True, "maxPollMs": 60_000}
        world.apply({"at": 10 * number, "do": "start", **start, "local": list(local)})
    settle(world)
    return world


def test_members_compute_and_the_group_comes_to_rest() -> None:
    """R8 with a target of a client-side assignor."""
    world = world_of("reversed", "spread")
    answers, group = world.counts.answers, world.cluster.group("g")
    assert answers["prepare 0"] and answers["install 0"] and group is not None
    assert sorted(len(target.partitions) for target in group.targets.values()) == [1, 1, 2]


def test_an_assignor_that_fails_leaves_the_target_as_it_is() -> None:
    """A7: no member is given a partition, and yet the group comes to rest at its epoch."""
    group = world_of("picky").cluster.group("g")
    assert group is not None and group.assignment_epoch == group.epoch
    assert {target.error for target in group.targets.values()} == {1}


def test_seeds_with_client_side_assignors_hold() -> None:
    for seed in (2, 9, 12):
        outcome = run_seed(PARTS, SimulationOptions(events=1_500), seed)
        assert outcome.violation is None and outcome.counts.answers["install 0"], seed


def view(epoch: int, **targets: frozenset[tuple[str, int]]) -> Any:
    """A group at the assignment epoch 3."""
    named = {name: SimpleNamespace(partitions=target) for name, target in targets.items()}
    return SimpleNamespace(epoch=epoch, assignment_epoch=3, members=dict.fromkeys(targets), targets=named)


def sent(epoch: int = 3, error: int = 0, **parts: frozenset[tuple[str, int]]) -> dict[str, Any]:
    """The body of an InstallAssignment."""
    members = [
        {"memberId": name, "partitions": [{"topicId": topic, "partitions": [index]} for topic, index in part]}
        for name, part in parts.items()
    ]
    return {"groupEpoch": epoch, "error": error, "members": members}


@pytest.mark.parametrize(
    ("group", "body", "invariant"),
    [
        (view(4, a=A, b=B), sent(a=A, b=B), ""),
        (view(4, a=A, c=frozenset()), sent(a=A, b=B), ""),
        (view(4, a=A, b=B), sent(4, a=A, b=B), "E2 LegalAtInstallation"),
        (view(4, a=A, b=frozenset()), sent(a=A), "A7 InstalledLegally"),
        (view(4, a=A | B, b=B), sent(a=A | B, b=B), "A7 InstalledLegally"),
        (view(4, a=A, c=B), sent(a=A, c=B), "A7 InstalledLegally"),
        (view(4, a=B, b=A), sent(a=A, b=B), "A6 InstalledAsComputed"),
        (view(4, a=A, b=B), sent(error=1), "A6 InstalledAsComputed"),
        (view(4, a=B, b=A), sent(error=1), ""),
    ],
)
def test_the_installed_target_is_the_computed_one(group: Any, body: dict[str, Any], invariant: str) -> None:
    before = view(3, a=B, b=A).targets
    assert violated(lambda: check_installed(group, Prepared.of(BASE), body, before)) == invariant


def test_a_preparing_member_gets_the_group_and_changes_it_by_installing() -> None:
    wanted = {"a": A | B, "b": A | B}
    assert not illegal(wanted, {"a": A, "b": B})
    assert violated(lambda: check_prepared(view(3, a=A), wanted, Prepared.of(BASE))) == ""
    assert (
        violated(lambda: check_prepared(view(4, a=A), wanted, Prepared.of(BASE))) == "A6 PreparedIsTheGroup"
    )
    assert violated(lambda: check_kept(view(4, a=A, d=B).targets, view(3, a=A, b=B).targets)) == ""
    assert violated(lambda: check_kept(view(4, a=B).targets, view(3, a=A, b=B).targets)) == "A5 TargetIsKept"


def violated(check: Any) -> str:
    """The requirement and the invariant that a check finds violated."""
    try:
        check()
    except Violation as violation:
        return f"{violation.requirement} {violation.invariant}"
    return ""


@pytest.mark.parametrize("more", [{"local": ["best"]}, {"local": ["spread"], "assignor": "range"}])
def test_a_schedule_names_assignors_that_there_are(more: dict[str, Any], tmp_path: Path) -> None:
    start = {"do": "start", "who": "A", "group": "g", "topics": ["foo"], "ownId": True, "maxPollMs": 60_000}
    path = tmp_path / "schedule.json"
    path.write_text(json.dumps({"events": [{"at": 0, **start, **more}]}))
    with pytest.raises(ConformError, match=r"event 1: .*local"):
        read_schedule(path)


def test_a_join_of_who_may_compute_is_not_doubled() -> None:
    """A5: until a target is installed, a join of a member that may compute gives the epoch that the id has
    had, so a copy of the join would fence no member; other requests have copies."""
    world = world_of("spread", processes=2)
    start = {"who": "late", "group": "g", "topics": ["foo"], "ownId": True, "maxPollMs": 60_000}
    world.apply({"at": world.now_ms, "do": "start", **start, "local": ["spread"]})
    for does in ("send", "duplicate", "deliver", "answer"):
        world.apply({"at": world.now_ms, "do": does, "who": "late"})
    assert world.counts.faults["request duplicated"] == 0
    for does in ("send", "duplicate", "deliver", "deliver-copy"):
        world.apply({"at": world.now_ms, "do": does, "who": "late"})
    assert world.counts.faults["copy delivered"] == 1
    settle(world)


def test_a_scenario_leaves_out_what_a_member_computes() -> None:
    """Where a scenario has no words for a request, its comment says so, and the scenario goes on."""
    schedule = Schedule(Settings(), tuple(EVENTS_OF_ONE))
    operations = operations_of(PARTS, schedule, settles=True)
    assert {"ConsumerGroupPrepareAssignment", "ConsumerGroupHeartbeat"} <= {
        one["api"] for one in operations if one["op"] == "request"
    }
    assert "ConsumerGroupPrepareAssignment, which a scenario" in scenario_from_ops(operations)


EVENTS_OF_ONE: list[Json] = [
    {"at": 0, "do": "topic", "name": "foo", "id": FOO, "partitions": 1},
    {
        "at": 0,
        "do": "start",
        "who": "p",
        "group": "g",
        "topics": ["foo"],
        "ownId": True,
        "maxPollMs": 60_000,
        "local": ["spread"],
    },
]
