"""Faults of the coordinator that a simulation of whole groups notices, one for each rule on a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from coordinator.consumer import heartbeat, membership, metadata, reconcile, static_members
from coordinator.consumer.model import NOTHING, held_by_others
from coordinator.consumer.response import leave_response
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.step import Step
from harness.simulate.groups.run import SimulationOptions, run_seed
from harness.targets.groups.python import PythonParts

Patch: TypeAlias = pytest.MonkeyPatch


def leaves(handles: Callable[[Step, str], None]) -> Callable[[Patch], None]:
    """A fault of the request to leave."""

    def leave(env: Any, group: Any, request: Any, now_ms: int) -> Any:
        step = Step(env, group, now_ms)
        handles(step, request.member_id)
        step.result.response = leave_response(request.member_id, -1)
        return step.result

    return lambda patch: patch.setattr(heartbeat, "leave", leave)


def nothing(step: Step, member: str) -> None:
    """Leave the group as it is."""


def with_another(step: Step, member: str) -> None:
    """Remove the first member, too."""
    membership.remove_members(step, sorted({member, min(step.group.members)}))


def for_a_while(step: Step, member: str) -> None:
    """Keep the place of a member, also of a dynamic one."""
    static_members.keep_place(step, member, step.group.members[member])


def two_time_out(patch: Patch) -> None:
    def session_timeout(env: Any, group: Any, member_id: str, now_ms: int) -> Any:
        step = Step(env, group, now_ms)
        with_another(step, member_id)
        return step.result

    patch.setitem(membership.TIMEOUTS, "session", session_timeout)  # type: ignore[arg-type]


def begins_at_5(patch: Patch) -> None:
    refresh = metadata.refresh_group

    def begins(step: Step, changed: bool) -> None:
        refresh(step, changed)
        step.epoch = step.epoch if step.group.epoch else 5

    patch.setattr(membership, "refresh_group", begins)


def reconciles(changes: Callable[..., Any]) -> Callable[[Patch], None]:
    """A fault of the third step of a heartbeat."""
    original = reconcile.reconcile

    def wrong(dialect: Any, group: Any, member_id: str, member: Any, target: Any, *others: Any) -> Any:
        new = original(dialect, group, member_id, member, target, *others)
        return changes(new, member, target - held_by_others(group, target, (member_id,)), others)

    return lambda patch: patch.setattr(heartbeat, "reconcile", wrong)


def place_is_lost(new: Any, member: Any, free: Any, others: Any) -> Any:
    return new if others[-1] is None else new._replace(assigned=NOTHING)


def revokes_what_stays(new: Any, member: Any, free: Any, others: Any) -> Any:
    if member.revoking or new.epoch == member.epoch or new.assigned != member.assigned or not new.assigned:
        return new
    one = frozenset({min(new.assigned)})
    return new._replace(assigned=new.assigned - one, revoking=one, epoch=member.epoch)


def stays_behind(new: Any, member: Any, free: Any, others: Any) -> Any:
    return new._replace(epoch=member.epoch) if member.epoch and new.assigned == member.assigned else new


def gives_too_soon(new: Any, member: Any, free: Any, others: Any) -> Any:
    if not member.revoking or not new.revoking:
        return new
    return new._replace(assigned=new.assigned | (free - new.revoking))


def late_target(patch: Patch) -> None:
    patch.setattr(membership, "update_target", lambda step: None)


def unsent(kinds: tuple[str, ...]) -> Callable[[Patch], None]:
    """Answers to such requests without an assignment."""
    original = heartbeat._assignment

    def assignment(
        step: Any, member: Any, new: Any, target: Any, request: Any, kind: Any, known: bool
    ) -> Any:
        return None if kind in kinds else original(step, member, new, target, request, kind, known)

    return lambda patch: patch.setattr(heartbeat, "_assignment", assignment)


def refuses(name: str, error: ErrorCode) -> Callable[[Patch], None]:
    """An error without a reason."""

    def rejects(*given: Any) -> Any:
        if name != "check_instance" or given[2].instance_id is not None:
            raise RequestRejected(error, "without a reason")

    return lambda patch: patch.setattr(heartbeat, name, rejects)


def changes_what_it_refuses(patch: Patch) -> None:
    def goes(env: Any, group: Any, member: Any, request: Any, now_ms: int) -> Any:
        step = Step(env, group, now_ms)
        membership.remove_member(step, request.member_id)
        step.result.response = heartbeat.error_response(ErrorCode.UNKNOWN_MEMBER_ID, "refused")
        return step.result

    patch.setattr(heartbeat, "leave_temporarily", goes)


@pytest.mark.parametrize(
    ("fault", "broken"),
    [
        (leaves(nothing), "H2 LeavesExactly"),
        (leaves(with_another), "H2 LeavesExactly"),
        (leaves(for_a_while), "S1 AwayIsStatic"),
        (two_time_out, "H2 LeavesExactly"),
        (begins_at_5, "E1 EpochBumpedExactly"),
        (reconciles(place_is_lost), "S1 PlaceIsKept"),
        (reconciles(revokes_what_stays), "R6 UndisturbedIfUnchanged"),
        (reconciles(stays_behind), "R6 UndisturbedIfUnchanged"),
        (reconciles(gives_too_soon), "R1 RevokingIsGivenNothing"),
        (late_target, "E2 DueIsComputed"),
        (unsent(("join",)), "R5 JoinIsAnswered"),
        (unsent(("current", "retry")), "R5 ResponseMatches"),
        (refuses("check_instance", ErrorCode.UNRELEASED_INSTANCE_ID), "S2 ErrorsExactly"),
        (refuses("join", ErrorCode.GROUP_MAX_SIZE_REACHED), "H5 ErrorsExactly"),
        (refuses("heartbeat", ErrorCode.NOT_COORDINATOR), "H5 ErrorsExactly"),
        (changes_what_it_refuses, "H5 ErrorsExactly"),
    ],
)
def test_a_faulty_coordinator_is_noticed(
    fault: Callable[[Patch], None], broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault(monkeypatch)
    outcomes = (run_seed(PythonParts(), SimulationOptions(events=2_000), seed) for seed in range(6))
    violation = next(one.violation for one in outcomes if one.violation)
    assert f"{violation.requirement} {violation.invariant}" == broken and not violation.settling
