"""Step 2 of the heartbeat, UpdateTarget: the target assignment of the group (E2, A1-A4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from coordinator.assignors import (
    BUILT_IN,
    AssignmentSpec,
    GroupAssignment,
    MemberSubscription,
    PartitionAssignor,
    PartitionAssignorError,
    checked,
)
from coordinator.computing.model import IDLE
from coordinator.computing.select import by_member, settle
from coordinator.consumer.model import NO_TARGET, MemberMetadata, Target
from coordinator.consumer.records import TARGET_MEMBER, TARGET_METADATA, AssignmentEpoch
from coordinator.consumer.subscription import topics_of
from coordinator.core.step import Step

ASSIGNOR_FAILED: Final = 1
"""Assignment.Error of a target that was kept because the assignor failed (KIP-848, "Assignment Error")."""


def update_target(step: Step) -> None:
    """UpdateTarget (E2): compute the target if the group epoch has moved on, and write the difference (P1).

    Where a member must compute the target, a member is chosen instead (A5).

    An assignor that fails leaves the target as it is. The assignment epoch advances all the same, and
    Assignment.Error tells the members (errata, KIP-848 427). Where members compute the target, the target
    comes later.
    """
    if step.env.client_side:
        return
    waits = by_member(step)
    if step.epoch == step.assignment_epoch or _lags(step) or waits:
        if waits:
            _write_first(step)
        if waits or step.computation != IDLE:
            settle(step)
        if step.place_of is not None and step.replaced is not None:
            step.write(TARGET_MEMBER, step.replaced, step.targets.get(step.replaced, NO_TARGET))
        return
    members = step.metadata_of_members()
    try:
        assignment = _assign(step, members)
        targets = {
            member_id: Target(assignment.get(member_id, frozenset()), 0) for member_id in sorted(members)
        }
    except PartitionAssignorError:
        targets = {
            member_id: step.targets.get(member_id, NO_TARGET)._replace(error=ASSIGNOR_FAILED)
            for member_id in sorted(members)
        }
    for member_id, target in targets.items():
        if target != step.targets.get(member_id) or member_id == step.replaced:
            step.write(TARGET_MEMBER, member_id, target)
    step.write(TARGET_METADATA, None, AssignmentEpoch(step.epoch))
    step.targets = targets
    step.assignment_epoch = step.epoch
    step.result.target_computed_ms = step.now_ms
    settle(step)


def _write_first(step: Step) -> None:
    """The empty first target of a group whose members compute its targets (E3: errata)."""
    if not step.group.epoch and step.assignment_epoch != step.env.dialect.initial_epoch:
        step.targets = dict.fromkeys(sorted(step.metadata_of_members()), NO_TARGET)
        for member_id, target in step.targets.items():
            step.write(TARGET_MEMBER, member_id, target)
        step.write(TARGET_METADATA, None, AssignmentEpoch(step.assignment_epoch))


def _lags(step: Step) -> bool:
    """TargetMayLag: was the last target computed less than an interval ago?"""
    computed_ms = step.group.target_computed_ms
    if not step.env.dialect.TargetMayLag or computed_ms is None:
        return False
    return step.now_ms < computed_ms + step.env.config.assignment_interval_ms


def _assign(step: Step, members: Mapping[str, MemberMetadata]) -> GroupAssignment:
    """The scripted assignment, or that of the selected assignor (A3); PartitionAssignorError if the assignor
    fails."""
    if not members:
        return {}
    script = step.env.scripts.get(step.group.id)
    if script is not None:
        step.result.script_used = True
        if isinstance(script, str):
            raise PartitionAssignorError(script)
        return script
    topics, names = step.metadata, frozenset(step.metadata)
    ids = {
        subscription: frozenset(topics[name].id for name in topics_of(subscription, names))
        for subscription in step.subscriptions()
    }
    subscriptions = {
        member_id: MemberSubscription(
            ids[member.subscription, member.regex],
            step.targets.get(member_id, NO_TARGET).partitions,
            member.instance_id,
            member.rack_id,
        )
        for member_id, member in sorted(members.items())
    }
    spec = AssignmentSpec(
        subscriptions,
        {image.id: image.partitions for image in topics.values()},
        {image.id: name for name, image in topics.items()},
    )
    assignor = select_assignor(step.env.assignors, members.values())
    return assignor.assign(spec) if isinstance(assignor, BUILT_IN) else checked(assignor, spec)


def select_assignor(
    assignors: Mapping[str, PartitionAssignor], members: Iterable[MemberMetadata]
) -> PartitionAssignor:
    """A1: the assignor that most members name; the first configured one in a tie, or without any vote."""
    votes = Counter(member.server_assignor for member in members)
    return max(assignors.values(), key=lambda assignor: votes[assignor.name])
