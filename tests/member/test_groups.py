"""Whole groups in one process: members, listeners and the coordinator, under schedules that a seed decides.

R7 where it matters, at the consumers: of two owners of a partition one was removed and does not know it yet.
R8: when the disturbances stop, all members get their targets. O3: a partition that is handed over after a
clean revocation goes on exactly where its owner stopped.
"""

from __future__ import annotations

import random

import pytest
from member_driver import FOO

from coordinator import Coordinator, SimulatedClock
from coordinator.members.consumer import (
    Consumer,
    Listener,
    Member,
    Partitions,
    Settings,
    State,
    TopicPartition,
)

BAR = "00000000-0000-4000-8000-0000000000ba"
MEMBERS = 5


class Checked(Listener):
    """K2, K3: a partition is assigned once, and ends once, revoked or lost."""

    def __init__(self) -> None:
        self.assigned: set[TopicPartition] = set()

    def on_partitions_assigned(self, partitions: Partitions) -> None:
        assert partitions and not partitions & self.assigned
        self.assigned |= partitions

    def on_partitions_revoked(self, partitions: Partitions) -> None:
        assert partitions and partitions <= self.assigned
        self.assigned -= partitions

    on_partitions_lost = on_partitions_revoked


class World:
    """A group that consumes: a position is the number of processed records of its partition."""

    def __init__(self, seed: int, members: int = MEMBERS, topics: tuple[str, ...] = ("foo", "bar")) -> None:
        self.random = random.Random(seed)
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(clock=self.clock)
        self.topics = topics
        for name in topics:
            self.coordinator.upsert_topic(name, FOO if name == "foo" else BAR, 3)
        self.consumers: dict[str, Consumer] = {}
        self.listeners: dict[str, Checked] = {}
        self.zombies: set[str] = set()
        for n in range(members):
            self.start(f"m{n}")

    @property
    def now_ms(self) -> int:
        return self.clock.now_ms()

    def start(self, name: str) -> None:
        """A process starts; `m3` is a static member, so another one of its name takes its place."""
        settings = Settings("g", instance_id="i" if name == "m3" else None, max_poll_interval_ms=300_000)
        self.listeners[name] = Checked()
        member = Member(settings, name)
        self.consumers[name] = Consumer(member, self.coordinator, self.listeners[name])
        self.zombies.discard(name)
        member.subscribe(self.topics, now_ms=self.now_ms)

    def known(self) -> set[str]:
        return {member["memberId"] for member in self.coordinator.describe("g")["members"]}

    def step(self) -> None:
        """One event of one consumer, or a disturbance."""
        name = self.random.choice(sorted(self.consumers))
        consumer, chance = self.consumers[name], self.random.random()
        before = self.known()
        if chance < 0.35:
            if not consumer.waits:
                joins = consumer.member.epoch == 0
                consumer.send(self.now_ms)
                if joins:
                    self.zombies.discard(name)
        elif chance < 0.65:
            consumer.receive(self.now_ms)
        elif chance < 0.85:
            self.consume(consumer)
            consumer.member.poll(self.now_ms)
            if not consumer.run_callback(self.now_ms):
                self.coordinator.advance(self.random.choice((0, 100, 2_500)))
        else:
            self.disturb(name, consumer)
        self.zombies |= (before - self.known()) & self.consumers.keys()
        for other, entry in self.consumers.items():
            if entry.member.epoch == 0 and not entry.waits:
                self.zombies.discard(other)
        self.check()

    def disturb(self, name: str, consumer: Consumer) -> None:
        chance = self.random.random()
        if chance < 0.3:
            consumer.lose_answer(self.now_ms)
        elif chance < 0.5:
            if not consumer.waits:
                consumer.lose_request(self.now_ms)
        elif chance < 0.6:
            self.coordinator.advance(50_000)
        elif chance < 0.7:
            chosen = [topic for topic in self.topics if self.random.random() < 0.6]
            if consumer.member.state is not State.FATAL:
                consumer.member.subscribe(chosen, now_ms=self.now_ms)
        elif chance < 0.8:
            self.coordinator.restart()
        elif chance < 0.9:
            self.start(name)
        else:
            consumer.member.unsubscribe(self.now_ms)
            while consumer.run_callback(self.now_ms):
                pass
            consumer.member.subscribe(self.topics, now_ms=self.now_ms)

    def consume(self, consumer: Consumer) -> None:
        for partition in consumer.member.fetchable:
            offsets = consumer.member.offsets
            consumer.member.set_position(partition, offsets.positions[partition] + self.random.randint(0, 2))

    def check(self) -> None:
        """R7: at the members, except zombies."""
        owners: dict[TopicPartition, str] = {}
        for name, consumer in self.consumers.items():
            member = consumer.member
            assert member.fetchable <= member.owned <= member.assignment | member.owned
            assert member.fetchable <= self.listeners[name].assigned
            for partition in member.owned if name not in self.zombies else ():
                assert partition not in owners, f"{partition} is {owners[partition]}'s and {name}'s"
                owners[partition] = name

    def settle(self, rounds: int = 12) -> None:
        """Let all poll and everything arrive; dead members expire."""
        for _ in range(rounds):
            for consumer in self.consumers.values():
                consumer.exchange(self.now_ms)
            self.coordinator.advance(5_000)


@pytest.mark.parametrize("seed", range(40))
def test_group_under_disturbances(seed: int) -> None:
    world = World(seed)
    for _ in range(400):
        world.step()
    for consumer in world.consumers.values():
        if consumer.member.state is State.FATAL:
            world.start(consumer.member.member_id)
            world.coordinator.advance(50_000)
        world.consumers[consumer.member.member_id].member.subscribe(world.topics, now_ms=world.now_ms)
    world.settle()
    world.check()
    group = world.coordinator.describe("g")
    assert group["state"] == "Stable" and len(group["members"]) == MEMBERS
    fetched = [partition for one in world.consumers.values() for partition in one.member.fetchable]
    assert sorted(fetched) == sorted((topic, index) for topic in (FOO, BAR) for index in range(3))
    assert {one.member.state for one in world.consumers.values()} == {State.STABLE}


@pytest.mark.parametrize("literal", [False, True])
def test_report_before_the_first_poll_and_a_fail_over(literal: bool) -> None:
    """R1, P2: a member that reports nothing, since it has not polled yet, would acknowledge a revocation that
    only the new coordinator knows of; then it polls."""
    clock = SimulatedClock()
    coordinator = Coordinator(clock=clock)
    coordinator.upsert_topic("foo", FOO, 2)
    first, second = (
        Consumer(Member(Settings("g", reports_while_revoking=literal), name), coordinator) for name in "ab"
    )
    first.member.subscribe(["foo"], now_ms=0)
    first.send(0)
    first.receive(0)
    second.member.subscribe(["foo"], now_ms=0)
    second.exchange(0)
    coordinator.restart()
    first.member.subscribe(["foo", "bar"], now_ms=0)
    first.send(0)
    coordinator.advance(5_000)
    second.exchange(5_000)
    first.poll(5_000)
    assert bool(first.member.owned & second.member.owned) == literal
    first.exchange(5_000)
    second.exchange(10_000)
    assert not first.member.owned & second.member.owned


@pytest.mark.parametrize("seed", range(10))
def test_clean_hand_over_goes_on_where_the_owner_stopped(seed: int) -> None:
    """O3: members join and leave, nobody is removed: no record is processed twice, none is left out."""
    world = World(seed, members=1, topics=("foo",))
    world.settle(2)
    done = dict.fromkeys([(FOO, index) for index in range(3)], 0)
    for n in range(30):
        if n % 5 == 1:
            world.start(f"m{10 + n}")
        if n % 7 == 6:
            leaver = world.random.choice(sorted(world.consumers))
            consumer = world.consumers.pop(leaver)
            consumer.member.close(world.now_ms)
            consumer.exchange(world.now_ms)
            assert consumer.member.state is State.UNSUBSCRIBED
        for consumer in world.consumers.values():
            for partition in consumer.member.fetchable:
                position = consumer.member.offsets.positions[partition]
                assert position == done[partition]
                done[partition] = position + world.random.randint(0, 2)
                consumer.member.set_position(partition, done[partition])
            consumer.exchange(world.now_ms)
        world.coordinator.advance(1_000)
        world.check()
    assert min(done.values()) > 5
