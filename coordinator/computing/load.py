"""The computation of a target by a member in the form of `load` (`volatile`): no record has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from coordinator.computing.model import IDLE, Base, Computation, Json
from coordinator.computing.select import selected
from coordinator.consumer.model import Group
from coordinator.core import fields, wire
from coordinator.core.errors import BadInput


def volatile_computation(computation: Computation) -> Json:
    """{"computation": {"chosen", "deadlineMs", "tried", "prepared"}}, or nothing where no member computes."""
    if computation == IDLE:
        return {}
    shown = {
        "chosen": computation.chosen,
        "deadlineMs": computation.deadline_ms,
        "tried": sorted(computation.tried),
        "prepared": None if computation.base is None else computation.base.body,
    }
    return {"computation": shown}


def check_prepared(group: Group, epoch: int) -> None:
    """BadInput where an assignment was prepared from an epoch that the group cannot have had: an install
    would set the assignment epoch to it."""
    if not group.assignment_epoch <= epoch <= group.epoch:
        raise BadInput(
            f"an assignment of {group.id!r} is prepared from epoch {epoch}, but the assignment epoch is "
            f"{group.assignment_epoch} and the group epoch {group.epoch}"
        )


_ANSWER: Final = (
    "throttleTimeMs",
    "errorCode",
    "errorMessage",
    "groupEpoch",
    "assignorName",
    "members",
    "topics",
)
_MEMBER: Final = (
    *("memberId", "memberEpoch", "instanceId", "rackId"),
    *("subscribedTopicIds", "assignor", "topicPartitions"),
)


def prepared_base(value: object, where: str) -> Base:
    """The base of an answer of PrepareAssignment, which is given again as it is (A6). BadInput where it is
    none; fields that no check of an assignment needs may be left out."""
    body = fields.as_object(value, where)
    fields.known(body, _ANSWER, where)
    for name in ("throttleTimeMs", "errorCode"):
        fields.optional_integer(body, name, where)
    for name in ("errorMessage", "assignorName"):
        fields.optional_text(body, name, where)
    return Base(
        epoch=fields.integer(body, "groupEpoch", where),
        subscribed=dict(_subscribed(one, where) for one in fields.items(body, "members", where)),
        partitions=dict(_partitions(one, where) for one in fields.items(body, "topics", where)),
        body=body,
    )


def _subscribed(entry: object, where: str) -> tuple[str, frozenset[str]]:
    where = f"a member in {where}"
    member = fields.as_object(entry, where)
    fields.known(member, _MEMBER, where)
    for name in ("instanceId", "rackId"):
        fields.optional_text(member, name, where)
    if "memberEpoch" in member:
        fields.integer(member, "memberEpoch", where, None)
    if "assignor" in member:
        _check_assignor(fields.mapping(member, "assignor", where), f"the assignor of {where}")
    if "topicPartitions" in member:
        wire.from_wire(member["topicPartitions"], f"topicPartitions of {where}")
    topics = fields.names(member, "subscribedTopicIds", where)
    return fields.text(member, "memberId", where), frozenset(fields.topic_id(one, where) for one in topics)


def _check_assignor(assignor: Mapping[str, object], where: str) -> None:
    fields.known(assignor, ("reason", "metadataVersion", "metadataBytes"), where)
    for name in ("reason", "metadataVersion"):
        fields.integer(assignor, name, where, None)
    fields.text(assignor, "metadataBytes", where)


def _partitions(entry: object, where: str) -> tuple[str, int]:
    where = f"a topic in {where}"
    topic = fields.as_object(entry, where)
    fields.known(topic, ("topicId", "topicName", "numPartitions"), where)
    fields.optional_text(topic, "topicName", where)
    return fields.topic_id(topic.get("topicId"), where), fields.integer(topic, "numPartitions", where)


def restored(given: Json, group: Group, shift_ms: int) -> Computation:
    """The computation in the form above. BadInput where the group cannot have it."""
    where = f"the computation of {group.id!r}"
    fields.known(given, ("chosen", "deadlineMs", "tried", "prepared"), where)
    chosen = fields.text(given, "chosen", where)
    if chosen and chosen not in group.members:
        raise BadInput(f"{where} is by {chosen!r}, which is no member")
    deadline_ms = fields.optional_integer(given, "deadlineMs", where)
    if not chosen and deadline_ms is not None:
        raise BadInput(f"{where} has a deadline but no member in 'chosen'; name the member, or leave it out")
    prepared = given.get("prepared")
    base = None if prepared is None else prepared_base(prepared, f"'prepared' of {where}")
    metadata = {member_id: member.metadata for member_id, member in group.members.items()}
    if base is not None:
        check_prepared(group, base.epoch)
    if chosen and base is None and not selected(metadata):
        raise BadInput(f"{where} is by {chosen!r}, but no assignor is offered by all members")
    return Computation(
        chosen,
        None if deadline_ms is None else deadline_ms + shift_ms,
        base,
        frozenset(fields.names({"tried": [], **given}, "tried", where)),
    )
