"""W1: no classic group of workers is converted, and no Connect group back (REQUIREMENTS.md)."""

from __future__ import annotations

import pytest
from connect_driver import ConnectGroup, Json

from coordinator.classic.service import PENDING

INVALID_REQUEST, INCONSISTENT, UNKNOWN = 42, 23, 25


def classic_join(g: ConnectGroup, worker: str, group: str = "g") -> Json:
    """JoinGroup of a worker of the classic protocol, {} while it waits."""
    body = {"groupId": group, "memberId": worker, "groupInstanceId": None, "protocolType": "connect"}
    times = {"sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 60_000}
    protocols = [{"name": "sessioned", "metadata": "AAI="}]
    answer = g.coordinator.request("JoinGroup", 9, {"id": "c"}, {**body, **times, "protocols": protocols})
    return {} if answer is PENDING else answer


def classic_group(empty: bool) -> ConnectGroup:
    """A coordinator whose group "g" is a classic one of a worker, or of none any more."""
    g = ConnectGroup()
    worker = classic_join(g, "")["memberId"]
    classic_join(g, worker)
    g.coordinator.advance(3_000)
    if empty:
        leaving = [{"memberId": worker, "groupInstanceId": None}]
        g.coordinator.request("LeaveGroup", 5, {}, {"groupId": "g", "members": leaving})
    return g


@pytest.mark.parametrize("empty", [False, True])
def test_w1_a_worker_does_not_convert_a_classic_group(empty: bool) -> None:
    g = classic_group(empty)
    before, end = g.group(), g.coordinator.end
    assert before["state"] == ("Empty" if empty else "CompletingRebalance")
    refused = g.join("w1")
    assert (refused["errorCode"], refused["errorMessage"]) == (
        INVALID_REQUEST,
        "Group g is no Connect group.",
    )
    assert (g.group(), g.coordinator.end) == (before, end)


def test_w1_once_the_empty_classic_group_is_deleted_workers_may_use_its_name() -> None:
    g = classic_group(empty=True)
    g.coordinator.request("DeleteGroups", 2, {}, {"groupsNames": ["g"]})
    assert g.join("w1")["errorCode"] == 0
    assert g.coordinator.request("ListGroups", 5, {}, {})["groups"][0]["groupType"] == "connect"


@pytest.mark.parametrize("empty", [False, True])
def test_w1_a_classic_worker_is_refused_by_a_connect_group(empty: bool) -> None:
    g = ConnectGroup()
    g.join("w1")
    if empty:
        g.beat("w1", -1)
    before, end = g.group(), g.coordinator.end
    assert classic_join(g, "")["errorCode"] == INCONSISTENT
    beat = {"groupId": "g", "memberId": "w1", "groupInstanceId": None, "generationId": 1}
    assert g.coordinator.request("Heartbeat", 4, {}, beat)["errorCode"] == UNKNOWN
    assert (g.group(), g.coordinator.end) == (before, end)
