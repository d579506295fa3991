"""The records of toy groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

METADATA: Final = "ToyGroupMetadata"
MEMBER: Final = "ToyGroupMember"
_VALUES: Final = {METADATA: "epoch", MEMBER: "memberEpoch"}


class ToyRecord(NamedTuple):
    """The epoch of a group, or of a member; None for a member that has gone."""

    type: str
    group_id: str
    member_id: str | None
    value: int | None


def toy_to_wire(record: ToyRecord, offset: int) -> Json:
    """The record as JSON."""
    key = {"type": record.type, "groupId": record.group_id}
    if record.member_id is not None:
        key["memberId"] = record.member_id
    value = None if record.value is None else {_VALUES[record.type]: record.value}
    return {"offset": offset, "key": key, "value": value}


def toy_from_wire(source: Mapping[str, object]) -> ToyRecord:
    """The record that the JSON stands for. BadInput where it is none."""
    key = fields.mapping(source, "key", "a toy record")
    kind = fields.text(key, "type", "a toy record's key")
    member = fields.text(key, "memberId", "a toy record's key") if kind == MEMBER else None
    value = None
    if source.get("value") is not None:
        value = fields.integer(fields.mapping(source, "value", kind), _VALUES[kind], kind, least=1)
    elif kind == METADATA:
        raise BadInput(f"a {kind} record needs a value")
    return ToyRecord(kind, fields.text(key, "groupId", "a toy record's key"), member, value)
