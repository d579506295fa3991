"""Client-side assignors of the specification (spec/ClientTypes.tla), as typed records (A1, A5-A10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from frozendict import frozendict

from harness.kinds.fields import BadField, Fields, Partition, read_function, typed
from harness.kinds.rows import Form, Owners, Row, Sizes, no_literal, record_of


class Offer(NamedTuple):
    """A client-side assignor that a member offers (H10)."""

    name: str
    least: Annotated[int, Row(spec="min")]
    most: Annotated[int, Row(spec="max")]
    version: int
    reason: int
    metadata: str


class UserData(NamedTuple):
    """User data that an assignor gives a member beside its partitions (H9)."""

    error: int = 0
    version: int = 0
    metadata: str = ""


class Prepared(NamedTuple):
    """A member in PrepareAssignment's answer."""

    epoch: int
    instance: str
    topics: frozenset[str]
    offer: Offer


_NOT_PREPARED: Final = -1
"""The epoch in NotPrepared. A member that is away (S1) is in the group, with epoch -2."""


def _read_prepared(raw: Any, path: str) -> dict[str, Prepared]:
    """The members that were in the group."""
    every = sorted(read_function(raw, path).items())
    read = {name: record_of(Prepared).read(Fields(one, f"{path}[{name}]")) for name, one in every}
    return {name: one for name, one in read.items() if one.epoch != _NOT_PREPARED}


@dataclass(frozen=True, slots=True)
class Base:
    """The response to PrepareAssignment (A6); `members` has only those that were in the group."""

    epoch: int
    assignor: str
    members: Annotated[Mapping[str, Prepared], Form("prepared members", _read_prepared, no_literal)]
    metadata: Sizes
    targets: Annotated[Owners, Row(spec="target")]


@dataclass(frozen=True, slots=True)
class Computation:
    """The member that computes the due target ("": none), and its input (None: it has not prepared)."""

    chosen: str = ""
    notified: bool = False
    base: Base | None = None
    tried: frozenset[str] = frozenset()


NOBODY = Computation()
NOTHING_TOLD = UserData()


def _read_pairs(raw: Any, path: str) -> frozenset[tuple[str, Partition]]:
    return typed(raw, frozenset, path)


PAIRS: Final = Form("pairs", _read_pairs, no_literal)


class ClientStep(NamedTuple):
    """The variable `clientStep`: the assignor data in a heartbeat's answer, the content of an install."""

    compute: bool
    told: UserData
    group_epoch: int
    error: int
    assignment: Annotated[frozenset[tuple[str, Partition]], PAIRS]
    metadata: str


def offers_of(raw: Any, path: str) -> tuple[Offer, ...]:
    """A list of offers; an empty one may look like an empty function."""
    if not isinstance(raw, tuple) and raw != frozendict():
        raise BadField(f"{path} must be a list, not {raw!r}")
    return tuple(record_of(Offer).read(Fields(entry, path)) for entry in raw or ())


def computation_of(fields: Fields) -> Computation:
    """The member that computes the target, and its input."""
    return Computation(
        chosen=fields.get("chosen", str),
        notified=fields.get("notified", bool),
        base=record_of(Base).read(fields.record("base")) if fields.get("prepared", bool) else None,
        tried=fields.names("tried"),
    )


def client_step(fields: Fields) -> tuple[tuple[Offer, ...] | None, ClientStep]:
    """The assignors in the step's request (None: not given), and the rest of the step."""
    raw = next(iter(fields.get("offers", frozenset)), None)
    offers = None if raw is None else offers_of(raw, f"{fields.path}.offers")
    return offers, record_of(ClientStep).read(fields)
