"""Step 3 of the heartbeat, Reconcile: one member towards its target (R1-R3, R5, R6).

    revoking  acknowledged  surplus   what happens                       named in the specification
    yes       no            -         keeps revoking, perhaps more       NarrowRevocation
    no, or acknowledged     yes       told to give the surplus up        Revoke
    no, or acknowledged     no        to the target epoch, gets what     Assign
                                      of its target nobody else holds

The surplus is what the member is assigned and its target does not have. What was told to be given up stays
so until it is acknowledged, even when the target has it back: no response revokes and assigns (R5).
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.dialect import Dialect
from coordinator.model import NOTHING, Group, Member, Partitions, held_by_others


class Reconciled(NamedTuple):
    """A member's epochs and partitions after the step."""

    epoch: int
    previous_epoch: int
    assigned: Partitions
    revoking: Partitions


def reconcile(
    dialect: Dialect,
    group: Group,
    member_id: str,
    member: Member,
    target: Partitions,
    assignment_epoch: int,
    acknowledges: bool,
    place_of: str | None = None,
) -> Reconciled:
    """Reconcile `member` (which may not be in the group yet) with its target. Others are only read (R6).

    `place_of` is a member that was away and whose place this one takes (S1): what it held is free.
    """
    if member.revoking and not acknowledges:
        return narrow_revocation(dialect, member, target)
    surplus = member.assigned - target
    if surplus:
        return revoke(dialect, member, member.assigned & target, surplus)
    own = (member_id, place_of or member_id)
    available = target if target == member.assigned else target - held_by_others(group, target, own)
    return assign(member, assignment_epoch, available)


def narrow_revocation(dialect: Dialect, member: Member, target: Partitions) -> Reconciled:
    """NarrowRevocation (R1): the target may have changed before the revocation was acknowledged."""
    if dialect.RevocationRestart == "narrow":
        return revoke(dialect, member, member.assigned & target, member.revoking | (member.assigned - target))
    if dialect.RevocationRestart == "restore":
        return revoke(dialect, member, member.held & target, member.held - target)
    return Reconciled(member.epoch, member.previous_epoch, member.assigned, member.revoking)


def revoke(dialect: Dialect, member: Member, keeps: Partitions, gives: Partitions) -> Reconciled:
    """Revoke (R1): keeps its epoch until it has acknowledged what it gives up."""
    previous_epoch = member.epoch if dialect.RevokingResetsPreviousEpoch else member.previous_epoch
    return Reconciled(member.epoch, previous_epoch, keeps, gives)


def assign(member: Member, assignment_epoch: int, available: Partitions) -> Reconciled:
    """Assign (R2, R3): moves to the target epoch; what others hold of its target stays pending."""
    previous_epoch = member.previous_epoch if member.epoch == assignment_epoch else member.epoch
    return Reconciled(assignment_epoch, previous_epoch, available, NOTHING)
