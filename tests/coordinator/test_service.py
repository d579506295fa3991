"""The coordinator around its handlers: kinds of groups, ids, descriptions and loads."""

from __future__ import annotations

from typing import Any

import pytest
from admin_driver import SESSION, alter, change
from group_driver import API, CLIENT, IDS, GroupDriver

from coordinator import BadInput, Coordinator, ErrorCode
from coordinator.classic.service import PENDING

Json = dict[str, Any]


def beat(coordinator: Coordinator, group: str, member: str, epoch: int) -> Json:
    """ConsumerGroupHeartbeat."""
    body: Json = {"groupId": group, "memberId": member, "memberEpoch": epoch}
    if not epoch:
        body |= {"rebalanceTimeoutMs": 5000, "subscribedTopicNames": ["foo"], "topicPartitions": []}
    return coordinator.request(API, 0, CLIENT, body)


def join_classic(coordinator: Coordinator, group: str, client: Json, id: int | None = None) -> Json:
    """JoinGroup of a static member, which waits for others."""
    body = {
        "groupId": group,
        "memberId": "",
        "groupInstanceId": "i",
        "sessionTimeoutMs": 10_000,
        "rebalanceTimeoutMs": 60_000,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": ""}],
    }
    return coordinator.request("JoinGroup", 9, client, body, id)


def join_connect(coordinator: Coordinator, group: str) -> Json:
    """ConnectGroupHeartbeat of a first worker."""
    offer = {"name": "x", "minimumVersion": 0, "maximumVersion": 0, "version": 0, "reason": 0, "metadata": ""}
    body = {"groupId": group, "memberId": "w1", "memberEpoch": 0, "rebalanceTimeoutMs": 60_000}
    body |= {"connectorsAndTasks": [], "clientAssignors": [offer]}
    return coordinator.request("ConnectGroupHeartbeat", 0, {}, body)


@pytest.mark.parametrize("epoch", [0, 1, -1])
def test_a_group_of_workers_has_no_consumers(epoch: int) -> None:
    """W1: a group id is of one kind."""
    coordinator = Coordinator()
    assert join_connect(coordinator, "g")["errorCode"] == 0
    before = coordinator.describe("g"), coordinator.end
    assert beat(coordinator, "g", "m1", epoch)["errorCode"] == ErrorCode.INVALID_REQUEST
    assert (coordinator.describe("g"), coordinator.end) == before


def test_workers_notice_the_topics_that_a_new_coordinator_finds() -> None:
    """W1, P2: as consumers do (test_fail_over.py)."""
    coordinator = Coordinator()
    coordinator.upsert_topic("foo", IDS["foo"], 2)
    join_connect(coordinator, "g")
    before = coordinator.describe("g")["groupEpoch"]
    more = [{"name": "foo", "id": IDS["foo"], "partitions": 3}]
    coordinator.load(coordinator.records(), more, coordinator.volatile())
    assert coordinator.describe("g")["groupEpoch"] == before
    coordinator.restart()
    assert coordinator.describe("g")["groupEpoch"] == before + 1


def test_a_request_that_waits_is_named_by_its_api_and_client() -> None:
    """C1: or by the id that it is given."""
    coordinator = Coordinator()
    named: list[tuple[Json, int | None]] = [({}, None), ({"id": "c"}, None), ({"id": "c"}, 7)]
    for number, (client, id) in enumerate(named):
        assert join_classic(coordinator, f"g{number}", client, id) is PENDING
    coordinator.advance(60_000)
    completed = [one["id"] for one in coordinator.others.take_completed()]
    assert completed == ["JoinGroup ", "JoinGroup c", 7]


@pytest.mark.parametrize("since", [True, "1", 1.0, None, -1])
def test_records_are_read_from_a_number(since: Any) -> None:
    coordinator = Coordinator()
    beat(coordinator, "g", "m1", 0)
    with pytest.raises(BadInput, match=f"not from {since!r}"):
        coordinator.records(since)


def of_groups(coordinator: Coordinator, group: str | None) -> dict[str, list[str]]:
    """The groups that each kind of volatile state names."""
    shown = coordinator.volatile(group)
    return {name: list(shown.get(name, {})) for name in ("groups", "classic", "connect", "configs")}


def test_volatile_state_of_one_group_is_of_no_other() -> None:
    """P2: for any kind, and its own configurations."""
    coordinator = Coordinator()
    beat(coordinator, "g1", "m1", 0)
    beat(coordinator, "g2", "m1", 0)
    join_classic(coordinator, "g3", {})
    join_connect(coordinator, "g4")
    for group in ("g1", "g2"):
        alter(coordinator, change(SESSION, "60000"), group=group)
    assert [of_groups(coordinator, name) for name in (None, "g1", "g3", "g4")] == [
        {"groups": ["g1", "g2"], "classic": ["g3"], "connect": ["g4"], "configs": ["g1", "g2"]},
        {"groups": ["g1"], "classic": [], "connect": [], "configs": ["g1"]},
        {"groups": [], "classic": ["g3"], "connect": [], "configs": []},
        {"groups": [], "classic": [], "connect": ["g4"], "configs": []},
    ]


def test_a_state_that_is_loaded_has_no_scripts() -> None:
    """The scripts belonged to the groups before."""
    g = GroupDriver()
    g.script(m1=["foo-1"])
    assert g.coordinator.scripted_groups() == {"g"}
    g.coordinator.load([], [], {})
    assert g.coordinator.scripted_groups() == set()
