"""The records that a step of a classic group must write (P1): GroupMetadata, and committed offsets.

A new group is written before it has members; then each generation when it begins (C2), its assignment, and a
static member's return. One record has the whole group.
"""

from __future__ import annotations

from typing import Final

from harness.kinds.classic import wire as classic
from harness.kinds.classic.state import ClassicState, Saved
from harness.kinds.consumer.records import committed_record, offset_records
from harness.replay import wire
from harness.targets.base import Json

_CREATED = Saved(0, "", "", "", {})


def written(before: ClassicState, after: ClassicState, now_ms: int) -> list[Json]:
    """The records of a step at `now_ms`, without their own offsets."""
    records = list(offset_records(before, after, now_ms))
    if not after.group.exists:
        deleted = [_record(None, now_ms)] if before.group.exists and after.step.action != "FailOver" else []
        return [*records, *deleted]
    if not before.group.exists:
        records.append(_record(_CREATED, now_ms))
    if _saves(before, after):
        records.append(_record(after.group.saved, now_ms))
    return records


def _saves(before: ClassicState, after: ClassicState) -> bool:
    """Tell if the group is written: for a generation, an assignment, a return, even if its content is
    unchanged."""
    step = after.step
    if step.action == "FailOver":
        return False
    accepted = step.response.error == "NONE" and step.branch in ("leader", "return")
    begun = after.group.generation != before.group.generation
    saved = after.group.saved
    return accepted or (begun and saved is not None and saved.generation == after.group.generation)


def whole(state: ClassicState) -> list[Json]:
    """The records of a state as one log that was never written step by step: the input of `load`."""
    offsets = [committed_record(partition, offset, 0) for partition, offset in sorted(state.offsets.items())]
    return [*offsets, *group_at(state, 0)]


def group_at(state: ClassicState, now_ms: int) -> list[Json]:
    """The record of a group as if written at that time."""
    return [] if state.group.saved is None else [_record(state.group.saved, now_ms)]


def _record(saved: Saved | None, now_ms: int) -> Json:
    key = {"type": "GroupMetadata", "group": wire.GROUP}
    if saved is None:
        return {"key": key, "value": None}
    members = [
        {
            "memberId": name,
            "groupInstanceId": member.instance or None,
            "clientId": wire.client_id(name),
            "clientHost": wire.CLIENT_HOST,
            "rebalanceTimeout": wire.REBALANCE_TIMEOUT_MS,
            "sessionTimeout": wire.SESSION_TIMEOUT_MS,
            "subscription": classic.subscription(member.subscription),
            "assignment": classic.assignment(member.assignment),
        }
        for name, member in saved.members.items()
    ]
    value = {
        "protocolType": saved.type,
        "generation": saved.generation,
        "protocol": saved.protocol or None,
        "leader": saved.leader or None,
        "currentStateTimestamp": now_ms,
        "members": members,
    }
    return {"key": key, "value": value}


TOMBSTONE: Final = _record(None, 0)
"""The record that ends a classic group."""
