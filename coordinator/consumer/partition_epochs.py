"""PartitionEpochs (O2): the member epoch at which a member was given each partition that it holds.

A commit with an older member epoch is accepted if the member was given all partitions of the commit at that
epoch or before. Only some dialects have this: the others keep and record nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from coordinator.consumer.model import AWAY, NOTHING, Given, Member, Partition, Partitions
from coordinator.core import fields, wire
from coordinator.core.dialect import Dialect
from coordinator.core.fields import Json

NOTHING_GIVEN: Final[Given] = ()


def given_at(
    dialect: Dialect, member: Member | None, epoch: int, assigned: Partitions, revoking: Partitions
) -> Given:
    """GivenAt: partitions that the member keeps keep their epoch, new ones get `epoch`; a partition that was
    given up and is given again at once is new, too. A static member that leaves for a while (S1) has held its
    partitions since 0."""
    if not dialect.PartitionEpochs:
        return NOTHING_GIVEN
    held = assigned | revoking
    if epoch == AWAY:
        return ((0, held),) if held else NOTHING_GIVEN
    keeps = held & (member.assigned | revoking) if member else NOTHING
    given = member.given if member else NOTHING_GIVEN
    kept = {at: still for at, partitions in given if (still := partitions & keeps)}
    added = held.difference(*kept.values())
    if added:
        kept[epoch] = kept.get(epoch, NOTHING) | added
    return tuple(sorted(kept.items()))


def held_since(member: Member, epoch: int, partitions: Iterable[Partition]) -> bool:
    """CommitErrorOf: does the member hold all of the partitions, and was it given them at `epoch` or
    before?"""
    since = {partition for at, given in member.given if at <= epoch for partition in given}
    return epoch < member.epoch and since.issuperset(partitions)


def to_wire(given: Given) -> Json:
    """{"assignmentEpochs": [{"assignmentEpoch", "topicPartitions"}]} by epoch, for the member's record."""
    listed = [{"assignmentEpoch": epoch, "topicPartitions": wire.to_wire(held)} for epoch, held in given]
    return {"assignmentEpochs": listed} if listed else {}


def from_wire(value: Mapping[str, object], where: str) -> Given:
    """The partition epochs of a record; none where it has none. Raises BadInput."""
    if "assignmentEpochs" not in value:
        return NOTHING_GIVEN
    given = []
    for entry in fields.items(value, "assignmentEpochs", where):
        one = fields.as_object(entry, f"an entry of assignmentEpochs of {where}")
        epoch = fields.integer(one, "assignmentEpoch", where, bits=32)
        given.append((epoch, wire.from_wire(one.get("topicPartitions"), where)))
    return tuple(given)
