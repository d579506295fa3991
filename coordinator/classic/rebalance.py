"""Rebalancing a classic group (C1): the barrier, the next generation, its assignment.

The functions have the names of spec/ClassicCoordinator.tla. They work on an unfinished step: the group after
the step, the records, the answers to requests that waited, and the timers that start anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from coordinator.classic.model import (
    ClassicGroup,
    ClassicMember,
    RequestId,
    all_joined,
    joining,
    select_protocol,
)
from coordinator.classic.records import ClassicRecord, saved
from coordinator.classic.response import join_error, join_response, sync_error, sync_response
from coordinator.core.config import Config
from coordinator.core.dialect import Dialect
from coordinator.core.errors import ErrorCode
from coordinator.core.fields import Json


@dataclass(slots=True)
class ClassicStep:
    """An unfinished step. `timers` are (timer, member id or "") -> deadline. Nothing of the step is visible
    before the log has taken the records (P3)."""

    group: ClassicGroup
    now_ms: int
    config: Config
    dialect: Dialect
    records: list[ClassicRecord] = field(default_factory=list)
    answers: list[tuple[RequestId, Json]] = field(default_factory=list)
    timers: dict[tuple[str, str], int] = field(default_factory=dict)

    def save(self) -> None:
        """Save (P1): write the group as it is to the log."""
        self.records.append(saved(self.group, self.now_ms))

    def become(self, **changes: Any) -> None:
        """Change the group."""
        self.group = replace(self.group, **changes)

    def change(self, member_id: str, **changes: Any) -> None:
        """Change a member."""
        member = replace(self.group.members[member_id], **changes)
        self.become(members={**self.group.members, member_id: member})

    def answer(self, request: RequestId | None, body: Json) -> None:
        """Answer a request that waited, if there is such a request."""
        if request is not None:
            self.answers.append((request, body))

    def arm(self, timer: str, member_id: str, ms: int) -> None:
        """Arm a timer that runs out so many milliseconds from now."""
        self.timers[timer, member_id] = self.now_ms + ms

    def arm_session(self, member_id: str) -> None:
        """H8: a member's session starts anew."""
        self.arm("session", member_id, self.group.members[member_id].session_timeout_ms)


def without(step: ClassicStep, gone: Iterable[str]) -> None:
    """Without (C1): remove some member ids; if the leader is among them, the first member becomes the
    leader."""
    group, removed = step.group, set(gone)
    members = {name: member for name, member in group.members.items() if name not in removed}
    leader = group.leader if group.leader in members else min(members, default=None)
    step.become(members=members, pending=group.pending - removed, leader=leader)


def unanswered(step: ClassicStep, member_id: str, answered_id: str, code: ErrorCode) -> None:
    """Unanswered: answer the waiting requests of a member with an error."""
    member = step.group.members[member_id]
    step.answer(member.joining, join_error(answered_id, code))
    step.answer(member.syncing, sync_error(code))


def rebalance(step: ClassicStep) -> None:
    """Rebalance (C1): begin a rebalance, or check if the present rebalance can go on."""
    if step.group.state == "PreparingRebalance":
        maybe_complete(step)
    else:
        prepare(step)


def prepare(step: ClassicStep) -> None:
    """Prepare (C1): everyone must rejoin; members that wait for an assignment are told at once."""
    group, config = step.group, step.config
    for name, member in sorted(group.members.items()):
        if member.syncing is not None:
            step.answer(member.syncing, sync_error(ErrorCode.REBALANCE_IN_PROGRESS))
            step.arm_session(name)
    members = {
        name: replace(member, assignment="", syncing=None, owes_sync=False)
        for name, member in group.members.items()
    }
    remaining_ms, delay_ms = None, group.rebalance_timeout_ms()
    if group.state == "Empty":
        delay_ms = config.initial_delay_ms
        remaining_ms = max(group.rebalance_timeout_ms() - delay_ms, 0)
    step.become(state="PreparingRebalance", members=members, remaining_ms=remaining_ms, new_member=False)
    step.arm("join", "", delay_ms)
    maybe_complete(step)


def maybe_complete(step: ClassicStep) -> None:
    """MaybeComplete (C1): the barrier opens when all have joined, and never before the initial delay has
    ended."""
    group = step.group
    if group.state == "PreparingRebalance" and not group.initial and all_joined(group):
        complete_join(step)


def complete_join(step: ClassicStep) -> None:
    """CompleteJoin (C1): the barrier opens. Members that have not rejoined are removed, unless they are
    static.

    If none of the remaining members has rejoined, no member can lead: the group waits on, at least until
    their sessions have ended. A shorter time-out would run out again without effect.
    """
    members = step.group.members.items()
    without(step, [name for name, one in members if one.joining is None and one.instance_id is None])
    if not step.group.members:
        become_empty(step)
    elif joined := joining(step.group):
        next_generation(step, joined)
    else:
        step.arm("join", "", max(step.group.rebalance_timeout_ms(), step.group.session_timeout_ms(), 1))


def become_empty(step: ClassicStep) -> None:
    """BecomeEmpty (C1, E5): the group has no members left."""
    generation = step.group.generation + 1
    step.become(state="Empty", generation=generation, protocol=None, remaining_ms=None, new_member=False)
    step.arm("group", "", step.config.empty_retention_ms)
    step.save()


def next_generation(step: ClassicStep, joined: list[str]) -> None:
    """NextGeneration (C1): all waiting members are told of the generation, which is in the log first (C2)."""
    group = step.group
    waiting = {name: group.members[name].joining for name in joined}
    leader = group.leader if group.leader in waiting else joined[0]
    members = {
        name: replace(member, fresh=False, joining=None, owes_sync=True)
        for name, member in group.members.items()
    }
    step.become(
        state="CompletingRebalance",
        generation=group.generation + 1,
        protocol=select_protocol(group, leader),
        leader=leader,
        remaining_ms=None,
        new_member=False,
        members=members,
    )
    for name in sorted(members):
        step.arm_session(name)
    for name, request in waiting.items():
        step.answer(request, join_response(step.group, name))
    step.arm("sync", "", step.group.rebalance_timeout_ms())
    step.save()


def synchronise(step: ClassicStep, assignments: Mapping[str, str]) -> None:
    """Synchronise (C1): the leader's assignment is in the log, and all waiting members get their parts."""
    group = step.group
    waiting = {name: member.syncing for name, member in sorted(group.members.items())}
    members = {
        name: replace(member, assignment=assignments.get(name, ""), syncing=None)
        for name, member in group.members.items()
    }
    step.become(state="Stable", members=members)
    for name, request in waiting.items():
        if request is not None:
            step.answer(request, sync_response(step.group, name))
            step.arm_session(name)
    step.save()


def remove_member(step: ClassicStep, member_id: str) -> None:
    """RemoveClassic, RemovePending (C1, H8): remove a member id."""
    if member_id in step.group.pending:
        without(step, [member_id])
        maybe_complete(step)
        return
    unanswered(step, member_id, "", ErrorCode.UNKNOWN_MEMBER_ID)
    without(step, [member_id])
    rebalance(step)


def add_member(step: ClassicStep, member_id: str, member: ClassicMember, protocol_type: str) -> None:
    """AddMember (C1): no client may know the new member id if the answer is lost, so a time-out of its own
    bounds the first join."""
    group = step.group
    step.become(
        members={**group.members, member_id: member},
        pending=group.pending - {member_id},
        protocol_type=group.protocol_type if group.members else protocol_type,
        leader=group.leader or member_id,
        new_member=group.initial,
    )
    step.arm("session", member_id, step.config.new_member_timeout_ms)
    rebalance(step)
