"""The end of a schedule: the faults stop, and every group must come to rest (R8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from harness.simulate.groups.parts import Partition, Violation
from harness.simulate.groups.process import Process
from harness.simulate.groups.pump import Pump
from harness.simulate.groups.story import ACTIVE
from harness.simulate.groups.world import World
from harness.simulate.stage import Draws, Played
from harness.targets.base import Json

PATIENCE_MS: Final = 300_000
"""A time longer than any timer, also on slow clocks."""
WAIT_MS: Final = 5_000
"""The time to wait at once, where only the coordinator's timers are left."""


def settle(world: World) -> None:
    """Stop the faults, and let the world go on until all groups have converged. Raises Violation (R8)."""
    for event in _recovery(world):
        world.apply(event)
    wait_until_settled(world, Pump[World, Process](world), lambda: unsettled(world), "R8")


def wait_until_settled(world: Played, pump: Draws, why: Callable[[], str], requirement: str) -> None:
    """Let a world go on without faults while `why` gives a reason why it has not converged. Raises Violation
    with the reason where that takes too long."""
    until_ms = world.now_ms + PATIENCE_MS
    while reason := why():
        event = pump.next() or {"at": world.now_ms + WAIT_MS, "do": "wait"}
        if event["at"] > until_ms:
            what = f"{reason}, {PATIENCE_MS // 1000} s after the last fault"
            raise Violation(requirement, "EventuallyConverged", what)
        pump.saw(event, world.apply(event))


def _recovery(world: World) -> Iterator[Json]:
    """The events that end the faults; a consumer that has failed for good ends."""
    at = {"at": world.now_ms}
    yield {**at, "do": "heal"}
    yield {**at, "do": "log", "fails": False}
    if world.coordinator != ACTIVE:
        yield {**at, "do": "fail-over"}
    for name, process in sorted(world.processes.items()):
        if process.state == "FATAL":
            yield {**at, "do": "crash", "who": name}


def unsettled(world: World) -> str:
    """R8: the reason why the groups have not converged, "" if they have: every member that is up is in the
    group, with its subscription, at the group's epoch, with exactly its target; no other member is; and the
    group is STABLE."""
    for process in world.processes.values():
        if reason := _behind(world, process):
            return reason
    for name in world.settings.groups:
        group = world.cluster.group(name)
        members = group.members if group is not None else {}
        up = {
            process.machine.member_id
            for process in world.processes.values()
            if process.consumer.group == name and process.subscribed
        }
        if strangers := sorted(members.keys() - up):
            return f"the group {name} has the member {strangers[0]}, whose process is gone"
        state = world.cluster.group_state(name)
        if state not in (("Stable",) if members else ("Empty", "Dead")):
            return f"the group {name} is {state}"
    return ""


def _behind(world: World, process: Process) -> str:
    """The reason why one process has not converged."""
    machine = process.machine
    if process.state == "FATAL":
        return ""
    if not process.subscribed:
        return "" if process.state == "UNSUBSCRIBED" else f"{process.name} is {process.state}"
    if process.state != "STABLE":
        return f"{process.name} is {process.state}"
    if process.next_request.commits.open:
        return f"the application of {process.name} was not told how its commit ended"
    group = world.cluster.group(process.consumer.group)
    member = group.members.get(machine.member_id) if group is not None else None
    if group is None or member is None:
        return f"{process.name} is not in its group"
    if not machine.epoch == member.epoch == group.epoch:
        return f"{process.name} is at epoch {machine.epoch}, and the group at {group.epoch}"
    part = group.targets.get(machine.member_id)
    target = frozenset[Partition]() if part is None else part.partitions
    kept = part is not None and part.error  # A7: of deleted topics, too, which perhaps no client can fetch
    if machine.owned != target:
        return f"{process.name} does not own its target"
    there = {one for one in target if not kept or one[0] not in world.gone_topics}
    if not there <= machine.fetchable <= target:
        return f"{process.name} does not fetch all that it owns"
    if (frozenset(member.metadata.subscription), member.metadata.regex) != process.subscription:
        return f"the coordinator does not know what {process.name} subscribes to"
    return ""
