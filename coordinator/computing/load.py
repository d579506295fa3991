"""The computation of a target by a member in the form of `load` (`volatile`): no record has it."""

from __future__ import annotations

from coordinator.computing.model import IDLE, Computation, Json
from coordinator.computing.prepare import from_body
from coordinator.computing.select import selected
from coordinator.consumer.model import Group
from coordinator.core import fields
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


def restored(given: Json, group: Group, shift_ms: int) -> Computation:
    """The computation in the form above. BadInput where the group cannot have it."""
    where = f"the computation of {group.id!r}"
    fields.known(given, ("chosen", "deadlineMs", "tried", "prepared"), where)
    chosen = fields.text(given, "chosen", where)
    if chosen and chosen not in group.members:
        raise BadInput(f"{where} is by {chosen!r}, which is no member")
    deadline_ms = fields.optional_integer(given, "deadlineMs", where)
    prepared = given.get("prepared")
    try:
        base = None if prepared is None else from_body(fields.as_object(prepared, f"'prepared' of {where}"))
    except (KeyError, TypeError):
        raise BadInput(f"'prepared' of {where} must be an answer of PrepareAssignment") from None
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
