"""Rights of users who have logged in (D5, H5), in two APIs that the line protocol does not have."""

from __future__ import annotations

import base64
from itertools import count
from typing import Any

import pytest
from served import frame, response

from coordinator import Coordinator
from coordinator.core.clock import SimulatedClock
from coordinator.serve.broker import Broker
from coordinator.serve.cluster import Cluster
from coordinator.serve.login import VERSIONS, Login

NOT_AUTHORIZED, LOADING = 30, 14
OFFSETS = {"groupId": "h", "topics": [{"name": "foo", "partitions": [{"partitionIndex": 0}]}]}


class Users:
    """A broker whose authorizer knows the rights of two users, each logged in."""

    def __init__(self, *rights: tuple[str, str, str]) -> None:
        """The rights of alice are all; of bob, those of (user, operation, group) alone."""

        def may(principal: str, operation: str, group: str) -> bool:
            return principal == "User:alice" or (principal.removeprefix("User:"), operation, group) in rights

        self.coordinator = Coordinator(authorizer=may, clock=SimulatedClock())
        numbers = count(1)
        cluster = Cluster("h", 1, 0, lambda: f"00000000-0000-0000-0000-{next(numbers):012}")
        cluster.add("foo", 1)
        self.broker = Broker(self.coordinator, cluster)
        self.broker.offered |= VERSIONS
        self.logins = {name: Login({"alice": "a", "bob": "b"}) for name in ("alice", "bob")}
        for name in self.logins:
            self.ask(name, 17, 1, {"mechanism": "PLAIN"})
            token = base64.b64encode(f"\0{name}\0{name[0]}".encode()).decode()
            assert self.ask(name, 36, 2, {"authBytes": token})["errorCode"] == 0

    def ask(self, user: str, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.logins[user].handle(self.broker, frame(key, version, body), "h")
        return {} if isinstance(answer, int) else response(key, version, answer)

    def join(self, group: str) -> None:
        """Let alice join a classic group, whose members are secret."""
        body: dict[str, Any] = {"groupId": group, "memberId": "", "protocolType": "consumer"}
        body |= {"sessionTimeoutMs": 45_000, "rebalanceTimeoutMs": 60_000}
        body |= {"protocols": [{"name": "range", "metadata": "c2VjcmV0"}]}
        assert self.ask("alice", 11, 3, body) == {}, "it waits"


@pytest.mark.parametrize("version", [5, 6])
def test_a_group_is_described_to_those_who_may_see_it(version: int) -> None:
    """Each group on its own: an error for one takes no answer of another."""
    users = Users(("bob", "DESCRIBE", "b"))
    for group in ("a", "b"):
        users.join(group)
    shown = {user: users.ask(user, 15, version, {"groups": ["a", "b"]})["groups"] for user in users.logins}
    assert [(one["errorCode"], len(one["members"])) for one in shown["alice"]] == [(0, 1), (0, 1)]
    hidden, seen = shown["bob"]
    assert (hidden["errorCode"], hidden["groupState"], hidden["members"]) == (NOT_AUTHORIZED, "", [])
    assert version < 6 or hidden["errorMessage"] == "User:bob needs the right to DESCRIBE group a."
    assert (seen["errorCode"], seen["groupState"]) == (0, "PreparingRebalance")
    users.coordinator.deny(["DESCRIBE"])
    assert users.ask("alice", 15, version, {"groups": ["b"]})["groups"][0]["errorCode"] == NOT_AUTHORIZED


def test_a_coordinator_that_loads_describes_no_group() -> None:
    """H5: what it has of the group is not the group's state."""
    users = Users()
    users.join("a")
    users.coordinator.set_state("loading")
    [group] = users.ask("alice", 15, 5, {"groups": ["a"]})["groups"]
    assert (group["errorCode"], group["members"]) == (LOADING, [])


def test_offsets_are_deleted_for_those_who_may() -> None:
    """The principal of OffsetDelete is the user; nobody was allowed to do it."""
    users = Users(("bob", "DELETE", "i"))
    partition = {"partitionIndex": 0, "committedOffset": 3, "committedMetadata": ""}
    commit = {"groupId": "h", "topics": [{"name": "foo", "partitions": [partition]}]}
    users.ask("alice", 8, 8, commit)
    assert users.ask("bob", 47, 0, OFFSETS)["errorCode"] == NOT_AUTHORIZED
    fetch = {"groups": [{"groupId": "h", "topics": None}]}
    assert users.ask("alice", 9, 8, fetch)["groups"][0]["topics"][0]["name"] == "foo"
    deleted = users.ask("alice", 47, 0, OFFSETS)
    assert (deleted["errorCode"], deleted["topics"][0]["partitions"][0]["errorCode"]) == (0, 0)
    assert users.ask("alice", 9, 8, fetch)["groups"][0]["topics"] == []
