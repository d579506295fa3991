"""The end of a schedule of classic groups: the faults stop, and every group must become Stable (C2, R8)."""

from __future__ import annotations

from collections.abc import Iterator

from harness.kinds.classic.simulated.draw import ClassicPump
from harness.kinds.classic.simulated.process import Process
from harness.kinds.classic.simulated.world import World
from harness.simulate.groups.parts import Partition, Partitions, shown
from harness.simulate.groups.settle import wait_until_settled
from harness.targets.base import Json


def settle(world: World) -> None:
    """Stop the faults, and let the world go on until all groups have converged. Raises Violation (C2)."""
    for event in _recovery(world):
        world.apply(event)

    def why() -> str:
        if reason := unsettled(world):
            _mend(world)
        return reason

    wait_until_settled(world, ClassicPump(world), why, "C2")


def _recovery(world: World) -> Iterator[Json]:
    """The events that end the faults; a consumer that has failed for good ends, and of two processes with one
    instance id, which would fence each other for ever, the second."""
    at = {"at": world.now_ms}
    yield {**at, "do": "log", "fails": False}
    if world.coordinator != "active":
        yield {**at, "do": "fail-over"}
    instances = set()
    for name, process in sorted(world.processes.items()):
        own = process.consumer.group, process.consumer.instance
        if process.state == "failed" or (own[1] is not None and own in instances):
            yield {**at, "do": "crash", "who": name}
        else:
            instances.add(own)


def _mend(world: World) -> None:
    """End a process that has failed; and let a static leader that returned to a generation ask for the next
    one: it does not know if topics have changed while it was away (S1)."""
    for name, process in sorted(world.processes.items()):
        if process.skips and process.state == "stable":
            process.skips = False
            world.apply({"at": world.now_ms, "do": "enforce", "who": name})
        elif process.state == "failed":
            world.apply({"at": world.now_ms, "do": "crash", "who": name})


def unsettled(world: World) -> str:
    """ClassicConverged: the reason why the groups have not converged, "" if they have: every process that is
    up is in the generation of its group, which is Stable, and owns its assignment; no other member is in the
    group; and every partition with a subscriber has an owner."""
    for name in world.settings.groups:
        up = {
            process.machine.member_id: process
            for process in world.processes.values()
            if process.consumer.group == name
        }
        group = world.cluster.group(name)
        members = {} if group is None else group.members
        state = "Dead" if group is None else group.state
        if strangers := sorted(members.keys() - up):
            return f"the group {name} has the member {strangers[0]}, whose process is gone"
        if state not in (("Stable",) if members else ("Empty", "Dead")):
            return f"the group {name} is {state}"
        for process in up.values():
            assigned = (
                members[process.machine.member_id].assignment
                if process.machine.member_id in members
                else None
            )
            if reason := _behind(world, process, assigned, 0 if group is None else group.generation):
                return reason
        owned = frozenset[Partition]().union(*(one.machine.owned for one in up.values()))
        wanted = frozenset[str]().union(*(one.rules.topics for one in up.values()))
        there = {(topic, n) for topic in wanted for n in range(world.topics.get(topic, 0))}
        if owned != there:
            return f"of the group {name}, {shown(owned ^ there)} has no owner, or is owned and gone"
    return ""


def _behind(world: World, process: Process, assigned: str | None, generation: int) -> str:
    """The reason why one process has not converged."""
    if process.known_topics != world.topics:
        return f"{process.name} does not know the topics"
    if process.state != "stable" or process.running is not None:
        return f"{process.name} is {process.state}"
    if assigned is None or process.machine.generation != generation:
        return f"{process.name} is not in the generation of its group"
    handed: Partitions = world.parts.handed(assigned)
    if not process.machine.owned == process.machine.fetchable == handed:
        return f"{process.name} does not own what it was assigned"
    return ""
