"""D1, D5: groups listed and deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from admin_driver import alter, ask, change, delete, listed
from group_driver import CLIENT, GroupDriver
from offset_driver import commit_body

from coordinator import BadInput, Config, Coordinator, Dialect, ErrorCode
from coordinator.core.storage import SqliteStorage


def commit(coordinator: Coordinator, group: str = "g") -> None:
    body = {**commit_body("", -1, {"foo-0": 5}), "groupId": group}
    coordinator.request("OffsetCommit", 9, CLIENT, body)


@pytest.fixture
def four() -> GroupDriver:
    """Groups that are Stable, Reconciling, Empty, and one that has nothing but offsets."""
    g = GroupDriver()
    g.join("m1", groupId="stable")
    g.join("m1", groupId="reconciling")
    g.join("m2", groupId="reconciling")
    g.join("m1", groupId="empty")
    g.request(groupId="empty", memberId="m1", memberEpoch=-1)
    commit(g.coordinator, "simple")
    return g


def test_every_group_is_listed_by_its_id(four: GroupDriver) -> None:
    assert listed(four.coordinator) == [
        "empty consumer Empty",
        "reconciling consumer Reconciling",
        "simple classic Empty",
        "stable consumer Stable",
    ]
    groups = ask(four.coordinator, "ListGroups")["groups"]
    assert [group["protocolType"] for group in groups] == ["consumer", "consumer", "", "consumer"]


@pytest.mark.parametrize(
    ("states", "types", "shown"),
    [
        (["STABLE"], [], "stable"),
        ([" stable ", "Reconciling"], [], "reconciling stable"),
        (["empty"], [], "empty simple"),
        (["empty"], ["Consumer"], "empty"),
        ([], ["generic"], "simple"),
        ([], ["CLASSIC", "share"], "simple"),
        (["Assigning"], [], ""),
        (["nonsense"], [], ""),
        ([], ["nonsense"], ""),
        (["nonsense", "stable"], ["nonsense", "consumer"], "stable"),
        (["dead"], [], ""),
    ],
)
def test_filters_know_no_case_and_a_word_that_means_nothing_is_no_error(
    four: GroupDriver, states: list[str], types: list[str], shown: str
) -> None:
    assert " ".join(name.split()[0] for name in listed(four.coordinator, states, types)) == shown


def test_assigning_is_listed_where_targets_may_lag() -> None:
    g = GroupDriver(Dialect(TargetMayLag=True))
    g.join("m1")
    g.join("m2")
    assert listed(g.coordinator, ["assigning"]) == ["g consumer Assigning"]


def test_only_groups_without_members_are_deleted(four: GroupDriver) -> None:
    """E5: whole, with their offsets; one that is named twice, once."""
    before = four.coordinator.end
    assert delete(four.coordinator, "stable", "simple", "no", "empty", "empty") == {
        "stable": "NON_EMPTY_GROUP", "simple": "NONE", "no": "GROUP_ID_NOT_FOUND", "empty": "NONE",
    }  # fmt: skip
    assert listed(four.coordinator) == ["reconciling consumer Reconciling", "stable consumer Stable"]
    written = four.coordinator.records(before)
    assert [(record["key"]["groupId"], record["key"]["type"], record["value"]) for record in written] == [
        ("simple", "OffsetCommit", None),
        ("empty", "ConsumerGroupTargetAssignmentMetadata", None),
        ("empty", "ConsumerGroupPartitionMetadata", None),
        ("empty", "ConsumerGroupMetadata", None),
    ]
    assert four.coordinator.describe("empty")["state"] == "Dead"
    four.coordinator.advance(Config().empty_retention_ms)
    assert delete(four.coordinator, "empty") == {"empty": "GROUP_ID_NOT_FOUND"}


def test_offsets_go_with_their_group_and_a_restart_finds_neither() -> None:
    g = GroupDriver()
    g.join("m1")
    g.leave("m1")
    commit(g.coordinator)
    assert delete(g.coordinator, "g") == {"g": "NONE"}
    g.coordinator.restart()
    assert listed(g.coordinator) == []
    (fetched,) = ask(g.coordinator, "OffsetFetch", groups=[{"groupId": "g", "topics": None}])["groups"]
    assert fetched["topics"] == []


def test_a_log_that_refuses_keeps_the_group(tmp_path: Path) -> None:
    """P3: what is not durable has not happened."""
    g = GroupDriver()
    g.join("m1")
    g.leave("m1")
    g.coordinator.fail_appends(True)
    assert delete(g.coordinator, "g") == {"g": "COORDINATOR_NOT_AVAILABLE"}
    assert listed(g.coordinator) == ["g consumer Empty"]


@pytest.mark.parametrize(
    ("state", "error", "listing"),
    [
        ("loading", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_LOAD_IN_PROGRESS"),
        ("moved", "NOT_COORDINATOR", "NONE"),
        ("unavailable", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_NOT_AVAILABLE"),
    ],
)
def test_a_coordinator_that_is_not_active(state: str, error: str, listing: str) -> None:
    """A coordinator that has moved away has no groups to list, which is no error."""
    g = GroupDriver()
    g.join("m1")
    g.leave("m1")
    g.coordinator.set_state(state)
    assert delete(g.coordinator, "g") == {"g": error}
    result = ask(g.coordinator, "ListGroups")
    assert (ErrorCode(result["errorCode"]).name, result["groups"]) == (listing, [])


def test_rights() -> None:
    """D5: DELETE on the group; a list has what one may DESCRIBE, all to who may DESCRIBE "", the cluster."""
    rights = {
        ("bob", "DESCRIBE", "a"), ("bob", "READ", "a"), ("bob", "READ", "b"), ("bob", "DELETE", "b"),
        ("eve", "DESCRIBE", ""),
    }  # fmt: skip
    coordinator = Coordinator(authorizer=lambda *request: request in rights)
    coordinator.upsert_topic("foo", "00000000-0000-4000-8000-0000000000f0", 1)
    for group in "ab":
        body = {**commit_body("", -1, {"foo-0": 5}), "groupId": group}
        coordinator.request("OffsetCommit", 9, {"principal": "bob"}, body)
    assert listed(coordinator, principal="bob") == ["a classic Empty"]
    assert listed(coordinator, principal="eve") == ["a classic Empty", "b classic Empty"]
    assert listed(coordinator, principal="") == []
    refused = {"a": "GROUP_AUTHORIZATION_FAILED", "b": "NONE", "c": "GROUP_AUTHORIZATION_FAILED"}
    assert delete(coordinator, "a", "b", "c", principal="bob") == refused
    assert listed(coordinator, principal="eve") == ["a classic Empty"]


@pytest.mark.parametrize(
    ("api", "body", "sentence"),
    [
        ("ListGroups", {"states": []}, "ListGroups has no field 'states'"),
        ("ListGroups", {"statesFilter": "Empty"}, "must be a list"),
        ("ListGroups", {"typesFilter": [None]}, "must be a list of strings"),
        ("DeleteGroups", {}, "needs the field 'groupsNames'"),
        ("DeleteGroups", {"groupsNames": [1]}, "must be a list of strings"),
        ("DescribeConfigs", {"resources": [{"resourceType": 300, "resourceName": "g"}]}, "fit into an int8"),
        ("IncrementalAlterConfigs", {"resources": [{}]}, "needs the field 'resourceType'"),
    ],
)
def test_requests_that_no_client_can_send_are_bad_input(
    api: str, body: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(BadInput, match=sentence):
        ask(Coordinator(), api, **body)


def test_a_deletion_is_in_the_file(tmp_path: Path) -> None:
    path = str(tmp_path / "log.db")
    storage = SqliteStorage(path)
    coordinator = Coordinator(storage=storage)
    coordinator.upsert_topic("foo", "00000000-0000-4000-8000-0000000000f0", 1)
    commit(coordinator, "one")
    commit(coordinator, "two")
    assert alter(coordinator, change("group.consumer.session.timeout.ms", "60000"), group="one")[0] == "NONE"
    assert delete(coordinator, "one") == {"one": "NONE"}
    storage.close()
    again = Coordinator(storage=SqliteStorage(path))
    assert listed(again) == ["two classic Empty"]
