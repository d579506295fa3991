"""Members with an assignor of their own, beside the coordinator (A5, K4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from client_driver import FOO

from coordinator import Coordinator, SimulatedClock
from coordinator.members.consumer.assignors import (
    AssignedMember,
    AssignedPart,
    AssignedTopic,
    Assignment,
    Metadata,
)
from coordinator.members.consumer.local import Consumer
from coordinator.members.consumer.machine import Member
from coordinator.members.consumer.types import GroupMetadata, Partitions, Settings, State


class Heaviest:
    """An assignor that gives all to the member whose metadata has the largest weight, which no server-side
    assignor could know."""

    name = "heaviest"
    minimum_version = 0
    maximum_version = 1

    def __init__(self, weight: int) -> None:
        self.weight = weight
        self.fails = self.lies = False
        self.told: list[tuple[int, str, int]] = []
        self.computed = 0
        self.topics: dict[str, AssignedTopic] = {}
        self.group: GroupMetadata | None = None

    def metadata(self) -> Metadata:
        return Metadata(1, str(self.weight))

    def assign(
        self, members: Mapping[str, AssignedMember], topics: Mapping[str, AssignedTopic]
    ) -> Assignment:
        self.computed += 1
        self.topics = dict(topics)
        if self.fails:
            raise RuntimeError("no idea")
        heaviest = max(members, key=lambda name: (int(members[name].metadata.content), name))
        everything = frozenset((topic, n) for topic, shown in topics.items() for n in range(shown.partitions))
        parts = {name: everything if name == heaviest else frozenset() for name in members}
        if self.lies:
            parts[heaviest] = frozenset()
        return Assignment(
            {name: AssignedPart(part, Metadata(1, f"to {name}")) for name, part in parts.items()}
        )

    def on_assignment(
        self, error: int, metadata: Metadata, partitions: Partitions, group: GroupMetadata
    ) -> None:
        self.group = group
        self.told.append((error, metadata.content, len(partitions)))


class Group:
    """Consumers whose assignors have these weights; the first has joined first."""

    def __init__(self, **weights: int) -> None:
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(clock=self.clock)
        self.coordinator.upsert_topic("foo", FOO, 2)
        self.assignors: dict[str, Heaviest] = {}
        self.consumers: dict[str, Consumer] = {}
        for name, weight in weights.items():
            self.join(name, weight)

    def join(self, name: str, weight: int) -> None:
        self.assignors[name] = Heaviest(weight)
        member = Member(Settings("g"), name, (self.assignors[name],))
        self.consumers[name] = Consumer(member, self.coordinator)
        member.subscribe(["foo"], now_ms=self.clock.now_ms())

    def run(self, rounds: int = 8) -> Group:
        for _ in range(rounds):
            for consumer in self.consumers.values():
                consumer.exchange(self.clock.now_ms())
            self.coordinator.advance(5_000)
        return self

    def owners(self) -> dict[str, int]:
        return {name: len(consumer.member.owned) for name, consumer in self.consumers.items()}

    def state(self) -> str:
        return str(self.coordinator.describe("g")["state"])


def test_a5_the_group_gets_what_a_members_assignor_says() -> None:
    g = Group(m1=1, m2=5, m3=3).run()
    assert g.state() == "Stable"
    assert g.owners() == {"m1": 0, "m2": 2, "m3": 0}
    assert g.assignors["m3"].told[-1] == (0, "to m3", 0)
    assert sum(assignor.computed for assignor in g.assignors.values()) >= 1


def test_a5_an_assignor_is_shown_the_names_of_topics() -> None:
    """KIP-848's AssignmentTopicMetadata: the name and the number of partitions."""
    assert Group(m1=1).run(1).assignors["m1"].topics == {FOO: AssignedTopic("foo", 2)}


def test_k3_an_assignor_gets_the_members_place_in_the_group() -> None:
    """KIP-848's third argument of onAssignment: group, epoch, member id, instance id."""
    g = Group(m1=1).run()
    epoch = g.coordinator.describe("g")["assignmentEpoch"]
    assert g.assignors["m1"].group == GroupMetadata("g", epoch, "m1", None)


@pytest.mark.parametrize(
    ("code", "again"), [(113, True), (14, False), (15, False), (16, False), (848, False)]
)
def test_a9_an_install_that_fails_is_over_unless_it_was_stale(code: int, again: bool) -> None:
    """A9: "Upon receiving any other errors, the consumer abandon the process"."""
    member = Member(Settings("g"), "m1", (Heaviest(1),))
    member.subscribe(["foo"], now_ms=0)
    body = {"errorCode": 0, "memberId": "m1", "memberEpoch": 1, "heartbeatIntervalMs": 5_000}
    prepared = {"errorCode": 0, "groupEpoch": 2, "assignorName": "heaviest", "topics": []}
    shown: dict[str, Any] = {"memberId": "m1", "instanceId": None, "rackId": None, "subscribedTopicIds": []}
    shown |= {"topicPartitions": [], "assignor": {"metadataVersion": 1, "metadataBytes": "1", "reason": 0}}
    bodies = {
        "ConsumerGroupHeartbeat": body,
        "ConsumerGroupPrepareAssignment": {**prepared, "members": [shown]},
        "ConsumerGroupInstallAssignment": {"errorCode": code},
        "FindCoordinator": {"coordinators": [{"errorCode": 0}]},
    }
    body["shouldComputeAssignment"] = True
    sent = []
    for now_ms in range(0, 4_000, 200):
        request = member.take_request(now_ms)
        if request is not None:
            sent.append(request.api.removeprefix("ConsumerGroup"))
            member.answered(request.correlation, bodies[request.api], now_ms)
            body["shouldComputeAssignment"] = False
    assert (sent.count("InstallAssignment") > 1) is again, sent
    assert sent.count("PrepareAssignment") == 1


def test_a5_a_computation_ends_with_a_leave() -> None:
    """A5, K3: a member that left and joins again installs no target of before, and its assignor does not get
    the assignment of before."""
    assignor = Heaviest(1)
    member = Member(Settings("g"), "m1", (assignor,))
    member.subscribe(["foo"], now_ms=0)
    given = {"assignedTopicPartitions": [{"topicId": FOO, "partitions": [0]}]}
    accepted = {"errorCode": 0, "memberId": "m1", "memberEpoch": 1, "heartbeatIntervalMs": 5_000}

    def answer_next(body: dict[str, Any]) -> str:
        request = member.take_request(0)
        assert request is not None
        member.answered(request.correlation, body, 0)
        return request.api

    answer_next({**accepted, "shouldComputeAssignment": True, "assignment": given})
    prepared = {"errorCode": 0, "groupEpoch": 2, "assignorName": "heaviest", "topics": [], "members": []}
    assert answer_next(prepared) == "ConsumerGroupPrepareAssignment"
    member.unsubscribe(0)
    answer_next({**accepted, "memberEpoch": -1})
    assert member.state is State.UNSUBSCRIBED
    member.subscribe(["foo"], now_ms=0)
    answer_next({**accepted, "memberEpoch": 8})
    assert [partitions for _, _, partitions in assignor.told] == [1, 0]
    assert member.take_request(0) is None


def test_e1_other_metadata_is_another_assignment() -> None:
    g = Group(m1=1, m2=5).run()
    g.assignors["m1"].weight = 9
    assert g.run().owners() == {"m1": 2, "m2": 0}
    assert g.state() == "Stable"
    epoch = g.coordinator.describe("g")["groupEpoch"]
    assert g.run().coordinator.describe("g")["groupEpoch"] == epoch


def test_a7_an_assignor_that_raises_keeps_the_target_and_everyone_hears_of_it() -> None:
    g = Group(m1=1).run()
    g.assignors["m1"].fails = True
    g.join("m2", 5)
    g.assignors["m2"].fails = True
    g.run()
    assert g.owners() == {"m1": 2, "m2": 0}
    assert g.state() == "Stable"
    assert g.assignors["m1"].told[-1] == (1, "to m1", 2)
    assert g.assignors["m2"].told[-1][0] == 1


@pytest.mark.parametrize("result", [None, Assignment({"m1": None})], ids=["nothing", "a part of nothing"])  # type: ignore[dict-item]
def test_a7_an_assignor_that_returns_nonsense_has_failed(
    result: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    g = Group(m1=1).run()
    monkeypatch.setattr(g.assignors["m1"], "assign", lambda members, topics: result)
    g.assignors["m1"].weight = 2
    g.run()
    assert g.state() == "Stable" and g.owners() == {"m1": 2}
    assert g.assignors["m1"].told[-1] == (1, "to m1", 2)


def test_a7_a_member_that_computes_nonsense_is_too_late_and_another_computes() -> None:
    g = Group(m1=1, m2=5)
    g.assignors["m1"].lies = True
    g.run(3)
    assert g.state() == "Assigning"
    g.run(62)  # the rebalance timeout of m1
    assert g.state() == "Stable"
    assert g.owners() == {"m1": 0, "m2": 2}


def test_a5_the_group_goes_on_when_the_chosen_member_dies() -> None:
    g = Group(m1=1, m2=5, m3=3)
    for name in ("m1", "m2", "m3"):
        g.consumers[name].send(0)  # m1 is told to compute
    assert g.coordinator.describe("g")["computation"]["chosen"] == "m1"
    del g.consumers["m1"]
    g.run(12)  # its session ends
    assert g.state() == "Stable"
    assert g.owners() == {"m2": 2, "m3": 0}


def test_a5_a_request_whose_response_is_lost_is_repeated() -> None:
    g = Group(m1=1)
    consumer = g.consumers["m1"]
    consumer.exchange(0)
    g.assignors["m1"].weight = 2
    for _ in range(40):
        if consumer.send(g.clock.now_ms()) is not None:
            consumer.lose_answer(g.clock.now_ms())
        g.coordinator.advance(500)
    g.run()
    assert g.state() == "Stable"
    assert g.owners() == {"m1": 2}


def test_k4_local_and_remote_assignors_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="not both"):
        Member(Settings("g", server_assignor="range"), assignors=(Heaviest(1),))
