"""The records that a step of a Connect group must write (P1), from the specification's states before and
after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.kinds.connect import wire as connect
from harness.kinds.connect.state import ConnectState
from harness.kinds.consumer.state import Member
from harness.replay import wire
from harness.targets.base import Json

GROUP: Final = "ConnectGroupMetadata"
CONNECTORS: Final = "ConnectGroupConnectorsTasksMetadata"
MEMBER: Final = "ConnectGroupMemberMetadata"
TARGET: Final = "ConnectGroupTargetAssignmentMetadata"
TARGET_MEMBER: Final = "ConnectGroupTargetAssignmentMember"
CURRENT: Final = "ConnectGroupCurrentMemberAssignment"
LOST: Final = "ConnectGroupLostAssignment"


def written(before: ConnectState, after: ConnectState) -> list[Json]:
    """The records of a step, without their offsets."""
    if before.group.exists and not after.group.exists:
        return [_record(kind, None, None) for kind in (TARGET, CONNECTORS, GROUP)]
    gone = [name for name in before.group.members if name not in after.group.members]
    removed = [_record(kind, name, None) for name in gone for kind in (CURRENT, TARGET_MEMBER, MEMBER)]
    return [
        *removed,
        *_group(before, after),
        *_lost(before, after),
        *_target(before, after),
        *_current(before, after),
    ]


def whole(state: ConnectState) -> list[Json]:
    """The records of a state as one log that was never written step by step: the input of `load`."""
    group, work = state.group, state.work
    if not group.exists:
        return []
    members = [_record(MEMBER, name, _metadata(state, name)) for name in group.members]
    epoch = [_record(CONNECTORS, None, _connectors(state)), _record(GROUP, None, {"epoch": group.epoch})]
    named = [_record(TARGET_MEMBER, name, _part(state, name)) for name in sorted(work.named)]
    lost = [_record(LOST, name, _lost_by(state, name)) for name in work.lost]
    target = [_record(TARGET, None, {"assignmentEpoch": group.assignment_epoch})]
    there = [_record(CURRENT, name, _held(member)) for name, member in group.members.items() if member.epoch]
    return [*members, *epoch, *named, *lost, *target, *there]


def _record(kind: str, member: str | None, value: Json | None) -> Json:
    key: Json = {"type": kind, "groupId": wire.GROUP}
    if member is not None:
        key["memberId"] = member
    return {"key": key, "value": value}


def _rejoins(after: ConnectState) -> str | None:
    """The worker that a new incarnation replaces: all of its records are written anew."""
    step = after.step
    return step.member if step.action == "Rejoin" and step.response.error == "NONE" else None


def _group(before: ConnectState, after: ConnectState) -> Iterator[Json]:
    for name in after.group.members:
        same = connect.assignors_of(before, name) == connect.assignors_of(after, name)
        if name not in before.group.members or not same or name == _rejoins(after):
            yield _record(MEMBER, name, _metadata(after, name))
    bumped = after.group.epoch != before.group.epoch
    if bumped and (after.group.metadata != before.group.metadata or not before.group.exists):
        yield _record(CONNECTORS, None, _connectors(after))
    if bumped:
        yield _record(GROUP, None, {"epoch": after.group.epoch})


def _target(before: ConnectState, after: ConnectState) -> Iterator[Json]:
    epoch = after.group.assignment_epoch
    if epoch == before.group.assignment_epoch:
        return
    for name in sorted(after.work.named):
        if name not in before.work.named or after.group.target(name) != before.group.target(name):
            yield _record(TARGET_MEMBER, name, _part(after, name))
    yield _record(TARGET, None, {"assignmentEpoch": epoch})


def _lost(before: ConnectState, after: ConnectState) -> Iterator[Json]:
    for name in sorted({*before.work.lost, *after.work.lost}):
        if before.work.lost.get(name) != after.work.lost.get(name):
            yield _record(LOST, name, _lost_by(after, name) if name in after.work.lost else None)


def _current(before: ConnectState, after: ConnectState) -> Iterator[Json]:
    for name, member in after.group.members.items():
        old = before.group.members.get(name)
        same = old is not None and _held(old) == _held(member)
        if member.epoch and (not same or name == _rejoins(after)):
            yield _record(CURRENT, name, _held(member))


def _metadata(state: ConnectState, name: str) -> Json:
    return {
        "groupEpoch": state.group.epoch,
        "instanceId": None,
        "clientId": wire.client_id(name),
        "clientHost": wire.CLIENT_HOST,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "assignors": connect.assignors_of(state, name),
    }


def _connectors(state: ConnectState) -> Json:
    return {"epoch": state.group.epoch, "connectors": connect.connectors(state.group.metadata)}


def _part(state: ConnectState, name: str) -> Json:
    return _assignment_json(connect.resources(state.group.target(name)))


def _held(member: Member) -> Json:
    return {"memberEpoch": member.epoch, **_assignment_json(connect.resources(member.held))}


def _assignment_json(resources: list[Json]) -> Json:
    """The assignor's data in JSON: no assignor of a trace fails or has metadata."""
    return {"error": 0, "connectorsAndTasks": resources, "version": 0, "metadata": ""}


def _lost_by(state: ConnectState, name: str) -> Json:
    return {"connectorsAndTasks": connect.resources(state.work.lost[name])}
