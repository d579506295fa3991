"""The state of groups around an event: the coordinator's state of them, and that of their processes."""

from __future__ import annotations

from collections.abc import Mapping

from harness.replay.report import named
from harness.simulate.groups.parts import Partitions
from harness.simulate.groups.process import Process
from harness.simulate.groups.scene import Scene
from harness.targets.base import Json


def snapshot(scene: Scene) -> dict[str, Json]:
    """Each group in the `describe` form of the line protocol, partitions by the names of their topics, with
    its `processes`. A coordinator that cannot describe a group gives no state of it; the story counts
    that."""
    names = {topic: name for name, (topic, _) in scene.topics.items()}
    groups: dict[str, Json] = {}
    for group in scene.settings.groups:
        try:
            described = scene.cluster.describe(group)
        except Exception as error:  # perhaps this is the bug: the violation is reported all the same
            described = {}
            if scene.story:
                scene.story.undescribed[f"{group}: {type(error).__name__}: {error}"] += 1
        mine = [one for one in scene.processes.values() if one.consumer.group == group]
        groups[group] = {
            **named(described, names),
            "processes": [_process(one, names) for one in sorted(mine, key=lambda one: one.name)],
        }
    return groups


def _process(process: Process, names: Mapping[str, str]) -> Json:
    """A client process: `memberId` is its name in the schedule."""
    machine = process.machine
    return {
        "memberId": process.name,
        "state": process.state,
        "memberEpoch": machine.epoch,
        "owned": _words(machine.owned, names),
        "used": _words(frozenset(process.using), names),
    }


def _words(partitions: Partitions, names: Mapping[str, str]) -> list[str]:
    return [f"{names.get(topic, topic)}-{index}" for topic, index in sorted(partitions)]


def one_group(before: Mapping[str, Json], after: Mapping[str, Json]) -> tuple[Json, Json]:
    """The first group that an event changed, before and after; the first of all groups where none changed."""
    changed = [name for name in after if before.get(name) != after[name]]
    name = next(iter([*changed, *after]), "")
    return before.get(name, {}), after.get(name, {})
