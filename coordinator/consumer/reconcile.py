"""Step 3 of the heartbeat, Reconcile: one member towards its target (R1-R3, R5, R6).

    revoking  acknowledged  surplus   what happens                       named in the specification
    yes       no            -         keeps revoking, perhaps more       NarrowRevocation
    no, or acknowledged     yes       told to give the surplus up        Revoke (AsksToRevoke)
    no, or acknowledged     no        to the target epoch, gets what     Assign
                                      of its target nobody else holds

The surplus is what the member is assigned and its target does not have. A partition that a member was told
to revoke stays pending until the member acknowledges, even when the target has it back: no response revokes
and assigns (R5).
"""

from __future__ import annotations

from typing import NamedTuple

from coordinator.consumer.model import NO_TARGET, NOTHING, Group, Member, Partitions, Target, held_by_others
from coordinator.consumer.partition_epochs import given_at
from coordinator.consumer.records import CURRENT_ASSIGNMENT, CurrentAssignment
from coordinator.consumer.subscription import topics_of
from coordinator.core.dialect import Dialect
from coordinator.core.step import Step


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
    owned: Partitions | None = None,
    unsubscribed: Partitions = NOTHING,
    place_of: str | None = None,
) -> Reconciled:
    """Reconcile `member` (which may not be in the group yet) with its target. Other members are only read
    (R6).

    `owned` are the partitions that the request reports, `unsubscribed` the assigned ones of topics that the
    request gives up. `place_of` is a member that was away and whose place this member takes (S1): its
    partitions count as free.
    """
    if member.revoking and not acknowledges:
        return narrow_revocation(dialect, member, target, unsubscribed)
    surplus = member.assigned - target
    if surplus and asks_to_revoke(dialect, surplus, owned):
        revoking = revoke(dialect, member, member.assigned & target, surplus)
        advances = member.revoking and dialect.AcknowledgedEpoch == "next"
        return revoking._replace(epoch=member.epoch + 1) if advances else revoking
    own = (member_id, place_of or member_id)
    available = target if target == member.assigned else target - held_by_others(group, target, own)
    return assign(dialect, member, assignment_epoch, target, available)


def asks_to_revoke(dialect: Dialect, surplus: Partitions, owned: Partitions | None) -> bool:
    """AsksToRevoke (R1): must the response tell the member to revoke its surplus?"""
    return dialect.RevocationAsked == "always" or owned is None or bool(owned & surplus)


def narrow_revocation(
    dialect: Dialect, member: Member, target: Partitions, unsubscribed: Partitions
) -> Reconciled:
    """NarrowRevocation (R1): the target may have changed before the revocation was acknowledged."""
    if dialect.RevocationRestart == "narrow":
        return revoke(dialect, member, member.assigned & target, member.revoking | (member.assigned - target))
    if dialect.RevocationRestart == "restore":
        return revoke(dialect, member, member.held & target, member.held - target)
    if unsubscribed and dialect.RevocationRestart == "unsubscribed":
        return revoke(dialect, member, member.assigned - unsubscribed, member.revoking | unsubscribed)
    return Reconciled(member.epoch, member.previous_epoch, member.assigned, member.revoking)


def revoke(dialect: Dialect, member: Member, keeps: Partitions, gives: Partitions) -> Reconciled:
    """Revoke (R1): the member keeps its epoch until it has acknowledged that it gave the partitions up."""
    resets = dialect.PreviousEpochReset == "reconciliation"
    return Reconciled(member.epoch, member.epoch if resets else member.previous_epoch, keeps, gives)


def assign(
    dialect: Dialect, member: Member, assignment_epoch: int, target: Partitions, available: Partitions
) -> Reconciled:
    """Assign (R2, R3): the member moves to the target epoch; partitions of its target that others hold stay
    pending."""
    there = member.epoch == assignment_epoch
    reconciled = there and not member.revoking and member.assigned == target
    keeps = reconciled if dialect.PreviousEpochReset == "reconciliation" else there
    previous_epoch = member.previous_epoch if keeps else member.epoch
    return Reconciled(assignment_epoch, previous_epoch, available, NOTHING)


def gave_up(step: Step, member_id: str, member: Member) -> Partitions:
    """The assigned partitions of topics that this request unsubscribes the member from."""
    metadata = (step.members or {}).get(member_id, member.metadata)
    subscription = metadata.subscription, metadata.regex
    if not member.assigned or subscription == (member.metadata.subscription, member.metadata.regex):
        return NOTHING
    kept = {step.env.topics[name].id for name in topics_of(subscription, step.env.topic_names)}
    return frozenset(partition for partition in member.assigned if partition[0] not in kept)


def record_changes(dialect: Dialect, member: Member, new: Reconciled) -> bool:
    """Tell if the step changes the member's record (P1)."""
    if new.epoch != member.epoch or new.assigned | new.revoking != member.held:
        return True
    if not dialect.RevocationRecorded:
        return False
    return (new.previous_epoch, new.revoking) != (member.previous_epoch, member.revoking)


def write_current(step: Step, member_id: str, new: Reconciled, target: Target = NO_TARGET) -> None:
    """Write the record of a member's partitions (P1), with those to revoke where the dialect records them,
    and with the data of the assignor that computed its target."""
    held = new.assigned | new.revoking if new.revoking else new.assigned
    value = CurrentAssignment(new.epoch, held, assignor_data=target._replace(partitions=NOTHING))
    if step.env.dialect.RevocationRecorded:
        member = step.group.members.get(step.place_of or member_id)
        given = given_at(step.env.dialect, member, new.epoch, new.assigned, new.revoking)
        value = CurrentAssignment(new.epoch, held, new.previous_epoch, new.revoking, given=given)
    step.write(CURRENT_ASSIGNMENT, member_id, value)
