"""The records of the kinds of groups that have types of their own. A new kind takes a line here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, NamedTuple

from coordinator.connect.records import KINDS as CONNECT_TYPES
from coordinator.connect.records import ConnectRecord, connect_from_wire, connect_to_wire
from coordinator.core.fields import Json
from coordinator.core.plain_records import plain_to_wire, value_bytes
from coordinator.share.records import TYPES as SHARE_TYPES
from coordinator.share.records import ShareRecord, share_from_wire


class Codec(NamedTuple):
    """The records of one kind: `types` in their keys, `made` from JSON by `read` (BadInput for what is none),
    `write` with an offset gives JSON. `value_bytes` measures a value, as Kafka would have it (P4); None where
    `record_size.py` does."""

    types: Collection[str]
    made: type
    read: Callable[[Mapping[str, object]], Any]
    write: Callable[[Any, int], Json]
    value_bytes: Callable[[Any], int] | None = None


CODECS: Final[tuple[Codec, ...]] = (
    Codec(SHARE_TYPES, ShareRecord, share_from_wire, plain_to_wire, value_bytes),
    Codec(CONNECT_TYPES, ConnectRecord, connect_from_wire, connect_to_wire),
)
BY_TYPE: Final = {name: codec for codec in CODECS for name in codec.types}
BY_CLASS: Final = {codec.made: codec for codec in CODECS}
