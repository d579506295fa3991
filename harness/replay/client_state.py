"""What the spec has of client-side assignors (spec/ClientTypes.tla), as typed records (A1, A5-A10)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from harness.replay.state import Fields, Group, Partition

ReadFields: TypeAlias = "type[Fields]"


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


def offers_of(raw: Any, path: str, kind: ReadFields) -> tuple[Offer, ...]:
    """A list of them; an empty one may look like an empty function."""
    return tuple(offer_of(kind(entry, path)) for entry in (raw if isinstance(raw, tuple) else ()))


def told_of(fields: Fields) -> Told:
    """What a member is told."""
    return Told(fields.get("error", int), fields.get("version", int), fields.get("metadata", str))


def with_computation(group: Group, fields: Fields, kind: ReadFields) -> Group:
    """The group with what its members offer and are told, and with who computes its target."""
    offers, told = fields.function("offers"), fields.function("told")
    members = {
        name: replace(
            member,
            offers=offers_of(offers[name], f"{fields.path}.offers", kind),
            told=told_of(kind(told[name], f"{fields.path}.told")),
        )
        for name, member in group.members.items()
    }
    computation = Computation(
        chosen=fields.get("chosen", str),
        notified=fields.get("notified", bool),
        base=_base(fields.record("base"), kind) if fields.get("prepared", bool) else None,
        tried=fields.names("tried"),
    )
    return replace(group, members=members, computation=computation)


def _base(fields: Fields, kind: ReadFields) -> Base:
    members = {}
    for name, raw in sorted(fields.function("members").items()):
        member = kind(raw, f"{fields.path}.members[{name}]")
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


def client_step(fields: Fields, kind: ReadFields) -> tuple[tuple[Offer, ...] | None, ClientStep]:
    """What the step's request says of assignors, None for nothing, and the rest of it."""
    said = next(iter(fields.get("offers", frozenset)), None)
    offers = None if said is None else offers_of(said, f"{fields.path}.offers", kind)
    return offers, ClientStep(
        fields.get("compute", bool),
        told_of(fields.record("told")),
        fields.get("groupEpoch", int),
        fields.get("error", int),
        fields.get("assignment", frozenset),
        fields.get("metadata", str),
    )
