"""Leaders assign, and members read it: bytes both ways, each assignor, each failure of C2 (C1, C5)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from classic_driver import ClassicDriver

from coordinator.assignors.spec import TopicPartition
from coordinator.classic.assignors import ASSIGNORS, RebalanceProtocol
from coordinator.classic.embedded import Subscription, read_assignment, write_subscription
from coordinator.classic.leader import lead
from coordinator.core.errors import BadInput

NOTHING: frozenset[TopicPartition] = frozenset()


@dataclass
class Consumer:
    """A consumer: an eager one gives up everything at its rejoin, a cooperative one the partitions that it
    loses (C3)."""

    name: str
    protocol: str
    topics: frozenset[str]
    member: str = ""
    generation: int = -1
    phase: str = "join"
    owned: frozenset[TopicPartition] = NOTHING
    had: frozenset[TopicPartition] = NOTHING
    leads: list[Any] = field(default_factory=list)
    waits: str = ""

    @property
    def cooperative(self) -> bool:
        return RebalanceProtocol.COOPERATIVE in ASSIGNORS[self.protocol].protocols

    def rejoin(self, keep: bool = True) -> None:
        self.phase, self.leads = "join", []
        if not self.cooperative or not keep:
            self.owned = NOTHING

    def metadata(self) -> str:
        data = ASSIGNORS[self.protocol].user_data(self.had, self.generation)
        return b64encode(
            write_subscription(Subscription(self.topics, data, self.owned, self.generation))
        ).decode()


class World:
    """A coordinator, its topics, and consumers that act until nothing is left to do."""

    def __init__(self, protocol: str, *names: str) -> None:
        self.driver = ClassicDriver()
        self.partitions = {"foo": 4, "bar": 2}
        self.protocol = protocol
        self.consumers = {name: self.consumer(name) for name in names}

    def consumer(self, name: str, *topics: str) -> Consumer:
        return Consumer(name, self.protocol, frozenset(topics or ("foo", "bar")))

    def send(self, one: Consumer) -> dict[str, Any] | None:
        """Send a consumer's next request, or take the answer to one that waits; None while it waits."""
        if one.waits:
            answer = self.driver.late.pop(f"{one.waits} {one.name}", None)
        elif one.phase == "join":
            join = {"memberId": one.member, "sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 60_000}
            protocols = [{"name": self.protocol, "metadata": one.metadata()}]
            answer = self.driver.send(
                "JoinGroup", one.name, {**join, "protocolType": "consumer", "protocols": protocols}
            )
            one.waits = "JoinGroup"
        else:
            body: dict[str, Any] = {"memberId": one.member, "generationId": one.generation}
            api = "Heartbeat"
            if one.phase == "sync":
                api = "SyncGroup"
                body["assignments"] = lead(self.protocol, one.leads, self.partitions) if one.leads else []
            answer = self.driver.send(api, one.name, body)
            one.waits = api
        if answer is not None:
            self.receive(one, one.waits, answer)
            one.waits = ""
        return answer

    def receive(self, one: Consumer, api: str, answer: dict[str, Any]) -> None:
        if answer["errorCode"] == 79:
            one.member = answer["memberId"]
        elif answer["errorCode"] == 25:
            one.member, one.generation, one.had = "", -1, NOTHING
            one.rejoin(keep=False)
        elif answer["errorCode"]:
            one.rejoin()
        elif api == "JoinGroup":
            one.phase, one.generation, one.leads = "sync", answer["generationId"], answer["members"]
        elif api == "SyncGroup":
            assigned = read_assignment(b64decode(answer["assignment"])).partitions
            gives_up = one.owned - assigned
            one.phase, one.had, one.owned = "stable", assigned, assigned
            if gives_up:
                one.rejoin()

    def owners(self) -> dict[TopicPartition, str]:
        """The owner of each partition. Each has one owner at every moment."""
        results: dict[TopicPartition, str] = {}
        for one in self.consumers.values():
            for partition in one.owned:
                assert partition not in results, f"{partition} is of {results[partition]} and of {one.name}"
                results[partition] = one.name
        return results

    def settle(self) -> None:
        """Run until all are stable in one generation and have nothing to do."""
        for _ in range(100):
            quiet = True
            for one in sorted(self.consumers.values(), key=lambda one: bool(one.leads)):
                before = one.phase, one.generation, one.member
                self.send(one)
                self.owners()
                quiet = quiet and one.phase == "stable" and before == (one.phase, one.generation, one.member)
            if quiet:
                return
            if all(one.waits for one in self.consumers.values()):
                self.driver.advance(3_000)
        raise AssertionError(f"not settled: {self.consumers} {self.driver.group}")

    def converged(self) -> None:
        """C2: one generation, and every partition of a subscribed topic has one owner, a subscriber."""
        group = self.driver.group
        assert group["state"] == "Stable"
        assert {one.generation for one in self.consumers.values()} == {group["generation"]}
        assert {one["memberId"] for one in group["members"]} == {
            one.member for one in self.consumers.values()
        }
        wanted = {topic for one in self.consumers.values() for topic in one.topics}
        owners = self.owners()
        assert owners.keys() == {
            (t, n) for t, count in self.partitions.items() for n in range(count) if t in wanted
        }
        assert all(topic in self.consumers[owner].topics for (topic, _), owner in owners.items())

    @property
    def leader(self) -> Consumer:
        return next(one for one in self.consumers.values() if one.leads)

    def fail_over(self) -> None:
        """A new coordinator: requests that waited are sent again."""
        self.driver.coordinator.restart()
        self.driver.late.clear()
        for one in self.consumers.values():
            one.waits = ""


def rebalancing(world: World, to_sync: bool, to_assign: bool = False) -> None:
    """The leader rejoins; in some cases all others do, and wait for its assignment; in some it assigns."""
    leader = world.leader
    others = [one for one in world.consumers.values() if one is not leader]
    leader.rejoin()
    assert world.send(leader) is None
    if not to_sync:
        return
    for one in others:
        one.rejoin()
        world.send(one)
    world.send(leader)
    for one in others:
        while one.phase == "join":
            world.send(one)
        assert world.send(one) is None
    if to_assign:
        assert world.send(leader) is not None


def coordinator_fails_before_all_have_joined(world: World) -> None:
    rebalancing(world, to_sync=False)
    world.fail_over()


def coordinator_fails_before_all_know_the_generation(world: World) -> None:
    leader = world.leader
    rebalancing(world, to_sync=False)
    for one in world.consumers.values():
        if one is not leader:
            one.rejoin()
            world.send(one)
    assert f"JoinGroup {leader.name}" in world.driver.late
    world.fail_over()


def coordinator_fails_before_the_assignment_is_in_the_log(world: World) -> None:
    rebalancing(world, to_sync=True)
    assert world.driver.group["state"] == "CompletingRebalance"
    world.fail_over()


def coordinator_fails_before_all_have_their_assignment(world: World) -> None:
    rebalancing(world, to_sync=True, to_assign=True)
    assert world.driver.late
    world.fail_over()
    generation = world.driver.group["generation"]
    for one in world.consumers.values():
        if one.phase == "sync":
            world.send(one)
            assert one.phase != "sync" and world.driver.group["generation"] == generation


def leader_fails(world: World) -> None:
    del world.consumers[world.leader.name]
    for _ in range(4):
        world.driver.advance(3_000)
        for one in world.consumers.values():
            world.send(one)


def leader_cannot_assign(world: World) -> None:
    world.partitions = {"foo": 4}
    broken = {"memberId": "m", "groupInstanceId": None, "metadata": b64encode(b"\0\0").decode()}
    with pytest.raises(BadInput, match="member 'm' says what cannot be read: the subscription is cut off"):
        lead(world.protocol, [broken], world.partitions)
    rebalancing(world, to_sync=True)
    world.leader.rejoin()


def subscription_changes(world: World) -> None:
    follower = next(one for one in world.consumers.values() if not one.leads)
    follower.topics = frozenset({"bar"})
    follower.rejoin()


def topics_change(world: World) -> None:
    world.partitions = {"foo": 7, "bar": 2}
    world.leader.rejoin()


def a_member_joins(world: World) -> None:
    world.consumers["c4"] = world.consumer("c4", "foo")


FAILURES: list[Callable[[World], None]] = [
    coordinator_fails_before_all_have_joined,
    coordinator_fails_before_all_know_the_generation,
    coordinator_fails_before_the_assignment_is_in_the_log,
    coordinator_fails_before_all_have_their_assignment,
    leader_fails,
    leader_cannot_assign,
    subscription_changes,
    topics_change,
    a_member_joins,
]


@pytest.mark.parametrize("protocol", ASSIGNORS)
@pytest.mark.parametrize("happens", FAILURES, ids=[failure.__name__ for failure in FAILURES])
def test_whatever_happens_all_is_assigned_again(protocol: str, happens: Callable[[World], None]) -> None:
    world = World(protocol, "c1", "c2", "c3")
    world.settle()
    world.converged()
    happens(world)
    world.settle()
    world.converged()


@pytest.mark.parametrize("protocol", ["sticky", "cooperative-sticky"])
def test_127_what_members_had_stays_with_them(protocol: str) -> None:
    """C5: the leader knows of it from the user data, or from what is owned."""
    world = World(protocol, "c1", "c2", "c3")
    world.settle()
    before = {partition: name for partition, name in world.owners().items() if name != world.leader.name}
    leader_fails(world)
    world.settle()
    assert before.items() <= world.owners().items()


def test_no_assignor_of_that_name() -> None:
    with pytest.raises(BadInput, match="there is no assignor 'uniform'; there are range, roundrobin, sticky"):
        lead("uniform", [], {})


def test_s1_a_leader_serves_static_members_first_by_instance_id() -> None:
    """The leader knows static members by its JoinGroup; so a new member id moves nothing."""
    metadata = b64encode(write_subscription(Subscription(frozenset({"foo"})))).decode()
    ids = {"m1": None, "m2": "i2", "m3": "i1"}
    members = [{"memberId": one, "groupInstanceId": ids[one], "metadata": metadata} for one in ids]
    assigned = {
        one["memberId"]: read_assignment(b64decode(one["assignment"])).partitions
        for one in lead("range", members, {"foo": 3})
    }
    assert assigned == {"m3": {("foo", 0)}, "m2": {("foo", 1)}, "m1": {("foo", 2)}}
