"""D1: Connect groups are listed with their state, and deleted only without workers."""

from __future__ import annotations

import sys
from pathlib import Path

from coordinator import Coordinator, SimulatedClock

sys.path.append(str(Path(__file__).parents[1] / "coordinator"))
from admin_driver import delete, listed

HEARTBEAT = "ConnectGroupHeartbeat"


def beat(coordinator: Coordinator, epoch: int) -> int:
    body = {"groupId": "g", "memberId": "w1", "memberEpoch": epoch}
    offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0, "metadata": ""}
    full = (
        {"rebalanceTimeoutMs": 60_000, "connectorsAndTasks": [], "clientAssignors": [offer]}
        if epoch == 0
        else {}
    )
    return int(coordinator.request(HEARTBEAT, 0, {}, {**body, **full})["errorCode"])


def test_a_connect_group_is_listed_and_goes_only_without_workers() -> None:
    coordinator = Coordinator(clock=SimulatedClock())
    assert beat(coordinator, 0) == 0
    assert listed(coordinator) == ["g connect Assigning"]
    assert listed(coordinator, types=["Connect"], states=["stable"]) == []
    assert listed(coordinator, types=["Connect"], states=["assigning"]) != []
    before = coordinator.end
    assert delete(coordinator, "g") == {"g": "NON_EMPTY_GROUP"}
    assert coordinator.end == before
    assert beat(coordinator, -1) == 0
    assert listed(coordinator) == ["g connect Empty"]
    assert delete(coordinator, "g", "h") == {"g": "NONE", "h": "GROUP_ID_NOT_FOUND"}
    assert listed(coordinator) == []
    coordinator.restart()
    assert listed(coordinator) == []
