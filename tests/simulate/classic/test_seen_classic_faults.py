"""Faults of the coordinator of classic groups that a simulation of whole groups notices."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from coordinator.classic import handlers
from coordinator.core.errors import ErrorCode
from harness.simulate.groups.run import SimulationOptions, run_seed
from harness.targets.groups.parts import parts_of


def first_broken() -> str:
    """The first rule that is broken in few seeds, before the groups settle."""
    options = SimulationOptions(events=1_500, kind="classic")
    outcomes = (run_seed(parts_of("classic"), options, seed) for seed in range(4))
    violation = next(one.violation for one in outcomes if one.violation)
    assert not violation.settling
    return f"{violation.requirement} {violation.invariant}"


def test_a_leave_that_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(step: Any, request: Any) -> Any:
        return handlers.leave_response(ErrorCode.NONE, [(*who, ErrorCode.NONE) for who in request.members])

    monkeypatch.setattr(handlers, "leave_group", leave)
    assert first_broken() == "C1 RemovedExactly"


@pytest.mark.parametrize(
    "error", ["INCONSISTENT_GROUP_PROTOCOL", "GROUP_MAX_SIZE_REACHED", "UNKNOWN_MEMBER_ID"]
)
def test_a_join_that_is_refused_without_a_reason(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original, numbers = handlers.join_group, count()

    def join(step: Any, request: Any, member_id: str, waits: Any) -> Any:
        if next(numbers) % 3 == 2:
            return handlers.join_error(request.member_id, ErrorCode[error])
        return original(step, request, member_id, waits)

    monkeypatch.setattr(handlers, "join_group", join)
    assert first_broken() == "C1 ClassicErrorsExactly"


@pytest.mark.parametrize("error", ["ILLEGAL_GENERATION", "REBALANCE_IN_PROGRESS", "UNKNOWN_SERVER_ERROR"])
def test_a_sync_that_is_refused_without_a_reason(error: str, monkeypatch: pytest.MonkeyPatch) -> None:
    original, numbers = handlers.sync_group_error, count()

    def refused(group: Any, request: Any) -> Any:
        return ErrorCode[error] if next(numbers) % 4 == 3 else original(group, request)

    monkeypatch.setattr(handlers, "sync_group_error", refused)
    assert first_broken() == "C1 ClassicErrorsExactly"
