"""What the spec has of client-side assignors (spec/ClientTypes.tla), as typed records (A1, A5-A10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from harness.kinds.fields import Fields, Partition


class Offer(NamedTuple):
    """A client-side assignor that a member offers (H10)."""

    name: str
    least: int
    most: int
    version: int
    reason: int
    metadata: str


class Told(NamedTuple):
    """What an assignor tells a member beside its partitions (H9)."""

    error: int = 0
    version: int = 0
    metadata: str = ""


class Prepared(NamedTuple):
    """A member as PrepareAssignment shows it."""

    epoch: int
    instance: str
    topics: frozenset[str]
    offer: Offer


@dataclass(frozen=True, slots=True)
class Base:
    """What PrepareAssignment returned (A6); `members` has only those that were in the group."""

    epoch: int
    assignor: str
    members: Mapping[str, Prepared]
    metadata: Mapping[str, int]
    targets: Mapping[str, frozenset[Partition]]


@dataclass(frozen=True, slots=True)
class Computation:
    """Who computes the target that is due ("": nobody), and from what (None: it has not prepared)."""

    chosen: str = ""
    notified: bool = False
    base: Base | None = None
    tried: frozenset[str] = frozenset()


NOBODY = Computation()
NOTHING_TOLD = Told()


class ClientStep(NamedTuple):
    """The variable `clientStep`: what a heartbeat was answered of assignors, what an install carries."""

    compute: bool
    told: Told
    group_epoch: int
    error: int
    assignment: frozenset[tuple[str, Partition]]
    metadata: str


def offer_of(fields: Fields) -> Offer:
    """One offer."""
    return Offer(
        fields.get("name", str),
        fields.get("min", int),
        fields.get("max", int),
        fields.get("version", int),
        fields.get("reason", int),
        fields.get("metadata", str),
    )


def offers_of(raw: Any, path: str) -> tuple[Offer, ...]:
    """A list of them; an empty one may look like an empty function."""
    return tuple(offer_of(Fields(entry, path)) for entry in (raw if isinstance(raw, tuple) else ()))


def told_of(fields: Fields) -> Told:
    """What a member is told."""
    return Told(fields.get("error", int), fields.get("version", int), fields.get("metadata", str))


def computation_of(fields: Fields) -> Computation:
    """Who computes the target, and from what."""
    return Computation(
        chosen=fields.get("chosen", str),
        notified=fields.get("notified", bool),
        base=_base(fields.record("base")) if fields.get("prepared", bool) else None,
        tried=fields.names("tried"),
    )


def _base(fields: Fields) -> Base:
    members = {}
    for name, raw in sorted(fields.function("members").items()):
        member = Fields(raw, f"{fields.path}.members[{name}]")
        if (epoch := member.get("epoch", int)) >= 0:
            offer = offer_of(member.record("offer"))
            members[name] = Prepared(epoch, member.get("instance", str), member.names("topics"), offer)
    targets: dict[str, set[Any]] = {}
    for partition, owner in fields.function("target").items():
        targets.setdefault(str(owner), set()).add(partition)
    return Base(
        epoch=fields.get("epoch", int),
        assignor=fields.get("assignor", str),
        members=members,
        metadata=fields.metadata("metadata"),
        targets={name: frozenset(partitions) for name, partitions in targets.items()},
    )


def client_step(fields: Fields) -> tuple[tuple[Offer, ...] | None, ClientStep]:
    """What the step's request says of assignors, None for nothing, and the rest of it."""
    said = next(iter(fields.get("offers", frozenset)), None)
    offers = None if said is None else offers_of(said, f"{fields.path}.offers")
    return offers, ClientStep(
        fields.get("compute", bool),
        told_of(fields.record("told")),
        fields.get("groupEpoch", int),
        fields.get("error", int),
        fields.get("assignment", frozenset),
        fields.get("metadata", str),
    )
