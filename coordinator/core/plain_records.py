"""Records whose value is plain JSON in its normal form: for kinds of groups that need no more.

A kind has a subclass of `PlainRecord`, and a table of its types: each field of a value, and its reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from coordinator.core import fields, wire
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

Tables: TypeAlias = Mapping[str, Mapping[str, Callable[[Json, str, str], Any]]]
"""By record type: each field of its value, and its reader (arguments: the value, the field's name, and the
place for messages)."""


class PlainRecord(NamedTuple):
    """A record; `member_id` is None where the key names no member, `value` for a tombstone."""

    type: str
    group_id: str
    member_id: str | None
    value: Json | None


R = TypeVar("R", bound=PlainRecord)


def plain_to_wire(record: PlainRecord, offset: int) -> Json:
    """The record as JSON, with its offset in the log."""
    key = {"type": record.type, "groupId": record.group_id}
    if record.member_id is not None:
        key["memberId"] = record.member_id
    return {"offset": offset, "key": key, "value": record.value}


def plain_from_wire(
    made: Callable[..., R], tables: Tables, of_members: frozenset[str], source: Mapping[str, object]
) -> R:
    """The record in the JSON; the keys of some types name a member. BadInput where the JSON is no such
    record."""
    key = fields.mapping(source, "key", "a record")
    kind = fields.text(key, "type", "a record's key")
    where, table = f"a {kind} record", tables[kind]
    names = ("groupId", "memberId") if kind in of_members else ("groupId",)
    fields.known(key, ("type", *names), f"the key of {where}")
    group_id, member_id = [*(fields.text(key, name, f"the key of {where}") for name in names), None][:2]
    if "value" not in source:
        raise BadInput(f"{where} needs the field 'value', null for a tombstone")
    if source["value"] is None:
        return made(kind, group_id, member_id, None)
    value = fields.mapping(source, "value", where)
    fields.known(value, table, where)
    return made(kind, group_id, member_id, {name: read(value, name, where) for name, read in table.items()})


epoch: Final = partial(fields.integer, least=1, bits=32)
"""The epoch of something that exists."""
epoch_before: Final = partial(fields.integer, bits=32)
"""A previous epoch; 0 where there was none."""


def partitions(value: Json, name: str, where: str) -> list[Json]:
    """Partitions in their normal form."""
    return wire.to_wire(wire.from_wire(value.get(name), where))


_UUID: Final = 36
"""The length of a topic id as text; Kafka's value has 16 bytes for the id."""


def value_bytes(value: Any) -> int:
    """The number of bytes of Kafka's form of a value (P4): flexible, with a version of 2 bytes; a state is an
    int8."""
    if value is None or isinstance(value, str):
        text = value or ""
        return 16 if len(text) == _UUID and text.count("-") == 4 else 2 + len(text.encode())
    if isinstance(value, dict):
        return sum(1 if name == "state" else value_bytes(one) for name, one in value.items())
    if isinstance(value, list):
        return 2 + sum(value_bytes(one) + isinstance(one, dict) for one in value)
    return 4
