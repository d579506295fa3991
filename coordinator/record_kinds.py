"""The records of all kinds of groups, by their types. A new kind takes a line here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple, TypeAlias, cast

from coordinator.classic.records import GROUP_METADATA as CLASSIC_METADATA
from coordinator.classic.records import ClassicRecord, classic_from_wire, classic_to_wire
from coordinator.connect.records import KINDS as CONNECT_TYPES
from coordinator.connect.records import ConnectRecord, connect_from_wire, connect_to_wire
from coordinator.consumer.records import TYPES, Record, consumer_from_wire, consumer_to_wire
from coordinator.core import fields
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json
from coordinator.core.plain_records import plain_to_wire, value_bytes
from coordinator.offsets.records import OFFSET_COMMIT, OffsetRecord, offset_from_wire, offset_to_wire
from coordinator.share.records import TYPES as SHARE_TYPES
from coordinator.share.records import ShareRecord, share_from_wire


class Codec(NamedTuple):
    """The records of one kind: `types` in their keys; `read` makes a record of class `made` from JSON
    (BadInput where it is malformed); `write` makes JSON of it, with an offset. `value_bytes` measures a value
    in Kafka's form (P4); None where `record_size.py` does."""

    types: Collection[str]
    made: type
    read: Callable[[Mapping[str, object]], Any]
    write: Callable[[Any, int], Json]
    value_bytes: Callable[[Any], int] | None = None


AnyRecord: TypeAlias = Record | OffsetRecord | ClassicRecord | ConnectRecord | ShareRecord

CODECS: Final[tuple[Codec, ...]] = (
    Codec(TYPES, Record, consumer_from_wire, consumer_to_wire),
    Codec((OFFSET_COMMIT,), OffsetRecord, offset_from_wire, offset_to_wire),
    Codec((CLASSIC_METADATA,), ClassicRecord, classic_from_wire, classic_to_wire),
    Codec(SHARE_TYPES, ShareRecord, share_from_wire, plain_to_wire, value_bytes),
    Codec(CONNECT_TYPES, ConnectRecord, connect_from_wire, connect_to_wire),
)
BY_TYPE: Final = {name: codec for codec in CODECS for name in codec.types}
BY_CLASS: Final = {codec.made: codec for codec in CODECS}


def to_wire(record: AnyRecord, offset: int) -> Json:
    """The record as JSON, with its offset in the log."""
    return BY_CLASS[type(record)].write(record, offset)


def from_wire(value: object) -> AnyRecord:
    """The record in the JSON; its offset is ignored. BadInput where it is malformed."""
    source = fields.as_object(value, "a record")
    fields.known(source, ("offset", "key", "value"), "a record")
    kind = fields.text(fields.mapping(source, "key", "a record"), "type", "a record's key")
    if kind not in BY_TYPE:
        raise BadInput(f"there is no record type {kind!r}; there are {', '.join(sorted(BY_TYPE))}")
    return cast("AnyRecord", BY_TYPE[kind].read(source))
