"""A group of consumers beside their coordinator, under a schedule of sends, receptions, losses, deaths and
bounces. After each event no member owns a partition that another owns (C4). A JoinGroup that claims
partitions has their generation: the one in which the process was assigned them last (C3)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from replayed_trace import Heard
from scripted_member import Partitions

from coordinator import Config, Coordinator, SimulatedClock
from coordinator.classic.assignors import ASSIGNORS, ClassicAssignor
from coordinator.classic.embedded import read_subscription
from coordinator.members.classic import ClassicConsumer, ClassicMember, Phase, Settings


def assignors_of(config: str) -> list[ClassicAssignor]:
    """The assignors of old byte code, of the first bounce, and of the second."""
    cooperative, eager = ASSIGNORS["cooperative-sticky"], ASSIGNORS["range"]
    return {"old": [eager], "both": [cooperative, eager], "new": [cooperative]}[config]


class World:
    """Times in milliseconds; `failed` are the errors of processes that ended."""

    def __init__(self, configs: Mapping[str, str], partitions: int = 4) -> None:
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(clock=self.clock, config=Config(initial_delay_ms=1_000))
        self.partitions = partitions
        self.consumers: dict[str, ClassicConsumer] = {}
        self.configs = dict(configs)
        self.make: Callable[..., ClassicMember] = ClassicMember
        self.assignors: Callable[[str], list[ClassicAssignor]] = assignors_of
        self.failed: list[BaseException] = []
        self.heard = Heard()
        self.assigned: dict[str, int] = {}
        """By process: the generation of its last assignment with partitions."""

    @property
    def now_ms(self) -> int:
        return self.clock.now_ms()

    def start(self, name: str) -> None:
        """The process starts; one that is up is killed."""
        settings = Settings("g", session_timeout_ms=10_000, rebalance_timeout_ms=20_000)
        member = self.make(settings, self.assignors(self.configs[name]))
        member.topics_are({"foo": self.partitions}, self.now_ms)
        member.subscribe({"foo"}, self.now_ms)
        self.consumers[name] = ClassicConsumer(member, self.coordinator, name, self.heard)

    def leave(self, name: str) -> None:
        """The process leaves, and ends."""
        consumer = self.consumers.pop(name)
        consumer.member.close()
        consumer.run_callbacks(self.now_ms)
        consumer.send(self.now_ms)
        self.settled()

    def kill(self, name: str) -> None:
        del self.consumers[name]

    def send(self, name: str) -> bool:
        sent = self.consumers[name].send(self.now_ms)
        if sent is not None and sent.api == "JoinGroup":
            for protocol in sent.body["protocols"]:
                subscription = read_subscription(base64.b64decode(protocol["metadata"]))
                assert not subscription.owned or subscription.generation == self.assigned[name], (
                    "a claim of another generation"
                )
        self.settled()
        return sent is not None

    def receive(self, name: str) -> None:
        consumer = self.consumers[name]
        if (answer := consumer._answer) and answer[0].api == "SyncGroup" and not answer[1]["errorCode"]:
            self.assigned[name] = answer[0].body["generationId"]
        consumer.receive(self.now_ms)
        consumer.run_callbacks(self.now_ms)
        self.settled()

    def lose(self, name: str) -> None:
        self.consumers[name].lose(self.now_ms)
        self.settled()

    def advance(self, ms: int) -> None:
        self.coordinator.advance(ms)
        self.settled()

    def fail_over(self) -> None:
        """Requests that wait are lost; answers on their way arrive."""
        self.coordinator.restart()
        for consumer in self.consumers.values():
            if consumer.waits and not consumer.answered:
                consumer.lose(self.now_ms)
        self.settled()

    def settled(self) -> None:
        """Finish an event: late answers are sent, failed processes are gone, and no member of the group owns
        a partition that another owns."""
        for one in self.coordinator.others.classic.take_completed():
            name = one["id"].split()[1]
            if name in self.consumers:
                self.consumers[name].complete(one["body"])
        for name, consumer in list(self.consumers.items()):
            if consumer.member.phase is Phase.FAILED:
                consumer.run_callbacks(self.now_ms)
                error = consumer.member.take_error()
                assert error is not None
                self.failed.append(error)
                del self.consumers[name]
        group = self.coordinator.others.classic.groups.get("g")
        owners: dict[Any, str] = {}
        for name, consumer in self.consumers.items():
            if group is None or consumer.member.member_id not in group.members:
                continue
            for one in consumer.member.owned:
                assert one not in owners, f"{one} is owned by {owners[one]} and by {name}"
                owners[one] = name

    def settle(self, within_ms: int = 120_000) -> None:
        """Let everything run until the group is Stable, with all members, and all partitions are owned."""
        end_ms = self.now_ms + within_ms
        while not self.converged():
            assert self.now_ms < end_ms, "the rebalances do not end"
            for name in list(self.consumers):
                self.turn(name)
            self.advance(500)

    def turn(self, name: str) -> None:
        """Do the steps that a process does by itself."""
        for _ in range(3):
            for does in (self.receive, self.send, self.receive):
                if name in self.consumers:
                    does(name)

    def converged(self) -> bool:
        group = self.coordinator.others.classic.groups.get("g")
        if not self.consumers:
            return group is None or not group.members
        members = [consumer.member for consumer in self.consumers.values()]
        owned: Partitions = frozenset().union(*(member.owned for member in members))
        return (
            group is not None
            and set(group.members) == {member.member_id for member in members}
            and all(
                member.phase is Phase.STABLE and member.generation == group.generation for member in members
            )
            and group.state == "Stable"
            and len(owned) == self.partitions
        )
