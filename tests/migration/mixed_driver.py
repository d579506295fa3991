"""A driver of one group that migrates, in the words of the tests: members of the classic protocol and of the
consumer protocol beside each other. Partitions are numbers of the topic foo."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any

from coordinator import Config, Coordinator, Dialect, SimulatedClock
from coordinator.classic.embedded import (
    Assignment,
    Subscription,
    read_assignment,
    write_assignment,
    write_subscription,
)
from coordinator.classic.service import PENDING

Json = dict[str, Any]
FOO = "00000000-0000-4000-8000-0000000000f0"
VERSIONS = {"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5, "OffsetCommit": 9}
SESSION_MS, REBALANCE_MS = 10_000, 60_000


def subscribed(
    owned: Iterable[int] = (),
    generation: int = -1,
    version: int = 3,
    user_data: bytes | None = None,
    topics: Iterable[str] = ("foo",),
) -> str:
    """A subscription in the embedded consumer protocol."""
    mine = frozenset(("foo", index) for index in owned)
    subscription = Subscription(frozenset(topics), user_data, mine, generation)
    return base64.b64encode(write_subscription(subscription, version)).decode()


def assigned(owned: Iterable[int]) -> str:
    """An assignment in the embedded consumer protocol."""
    return base64.b64encode(
        write_assignment(Assignment(frozenset(("foo", index) for index in owned)))
    ).decode()


def given(assignment: str) -> set[int]:
    """The partitions of such an assignment."""
    return {index for _, index in read_assignment(base64.b64decode(assignment)).partitions}


def numbers(partitions: list[Json] | None) -> set[int]:
    return {index for topic in partitions or [] for index in topic["partitions"]}


def wired(partitions: Iterable[int]) -> list[Json]:
    results = sorted(partitions)
    return [{"topicId": FOO, "partitions": results}] if results else []


class MixedDriver:
    """A coordinator, its group "g" and the topic foo; times in milliseconds."""

    def __init__(
        self, partitions: int = 4, config: Config | None = None, dialect: Dialect | None = None
    ) -> None:
        self.coordinator = Coordinator(clock=SimulatedClock(), config=config or Config(), dialect=dialect)
        self.coordinator.upsert_topic("foo", FOO, partitions)
        self.late: Json = {}

    # Members of the classic protocol

    def send(self, api: str, client: str, **body: Any) -> Json | None:
        """A request of the classic protocol; None while it waits."""
        answer = self.coordinator.request(
            api, VERSIONS[api], {"id": client, "host": "/h"}, {"groupId": "g", **body}
        )
        self._fetch()
        return None if answer is PENDING else answer

    def _fetch(self) -> None:
        self.late |= {one["id"]: one["body"] for one in self.coordinator.others.take_completed()}

    def open_barrier(self) -> None:
        """Let the initial delay of a classic group end."""
        while self.group["state"] == "PreparingRebalance":
            self.coordinator.fire("join", "g")
        self._fetch()

    def join(
        self,
        member: str,
        owned: Iterable[int] = (),
        generation: int = -1,
        *,
        client: str = "",
        instance: str | None = None,
        protocols: Iterable[str] = ("range",),
        metadata: str | None = None,
    ) -> Json | None:
        """JoinGroup."""
        content = subscribed(owned, generation) if metadata is None else metadata
        return self.send(
            "JoinGroup",
            client or member,
            memberId=member,
            groupInstanceId=instance,
            sessionTimeoutMs=SESSION_MS,
            rebalanceTimeoutMs=REBALANCE_MS,
            protocolType="consumer",
            protocols=[{"name": name, "metadata": content} for name in protocols],
        )

    def joined(self, member: str, owned: Iterable[int] = (), generation: int = -1, **more: Any) -> int:
        """JoinGroup that is accepted at once: the generation."""
        answer = self.join(member, owned, generation, **more)
        assert answer is not None and answer["errorCode"] == 0, answer
        assert answer["leader"] == "" and answer["members"] == []
        return int(answer["generationId"])

    def sync(
        self, member: str, generation: int, gives: Mapping[str, Iterable[int]] | None = None
    ) -> Json | None:
        """SyncGroup; a leader's has the assignments that it is given."""
        assignments = [
            {"memberId": name, "assignment": assigned(owned)} for name, owned in (gives or {}).items()
        ]
        return self.send(
            "SyncGroup",
            member,
            memberId=member,
            groupInstanceId=None,
            generationId=generation,
            protocolType="consumer",
            protocolName="range",
            assignments=assignments,
        )

    def synced(self, member: str, generation: int) -> set[int]:
        """SyncGroup that is accepted at once: its assignment."""
        answer = self.sync(member, generation)
        assert answer is not None and answer["errorCode"] == 0, answer
        return given(answer["assignment"])

    def beat(self, member: str, generation: int, instance: str | None = None) -> int:
        """Heartbeat: its error."""
        answer = self.send(
            "Heartbeat", member, memberId=member, groupInstanceId=instance, generationId=generation
        )
        assert answer is not None
        return int(answer["errorCode"])

    def leave(self, *members: str, instance: str | None = None) -> Json:
        """LeaveGroup."""
        entries = [{"memberId": name, "groupInstanceId": instance} for name in members]
        answer = self.send("LeaveGroup", "admin", members=entries)
        assert answer is not None
        return answer

    def commit(self, member: str, generation: int) -> int:
        """OffsetCommit of foo's first partition: its error."""
        partition = {
            "partitionIndex": 0,
            "committedOffset": 1,
            "committedLeaderEpoch": -1,
            "committedMetadata": "",
        }
        answer = self.send(
            "OffsetCommit",
            member,
            memberId=member,
            groupInstanceId=None,
            generationIdOrMemberEpoch=generation,
            topics=[{"name": "foo", "partitions": [partition]}],
        )
        assert answer is not None
        return int(answer["topics"][0]["partitions"][0]["errorCode"])

    def stable(self, members: Mapping[str, Iterable[int]], static: Iterable[str] = ()) -> int:
        """Make a classic group of these members with these assignments: the generation."""
        static = frozenset(static)
        for name in members:
            if name not in static:
                self.coordinator.use_ids([name])
                assert (self.join("", client=name) or {})["errorCode"] == 79
        for name in members:
            if name in static:
                self.coordinator.use_ids([name])
            assert (
                self.join(
                    "" if name in static else name,
                    client=name,
                    instance=name.lower() if name in static else None,
                )
                is None
            )
        self.open_barrier()
        bodies = {name: self.late.pop(f"JoinGroup {name}") for name in members}
        leader, generation = (
            next(iter(bodies.values()))["leader"],
            next(iter(bodies.values()))["generationId"],
        )
        assert all(body["errorCode"] == 0 for body in bodies.values())
        for name in sorted(members, key=lambda one: one == leader):
            self.sync(name, generation, members if name == leader else None)
        assert self.group["state"] == "Stable"
        return int(generation)

    # Members of the consumer protocol

    def heartbeat(self, member: str, epoch: int, owned: Iterable[int] | None = None, **more: Any) -> Json:
        """ConsumerGroupHeartbeat; at epoch 0 a join."""
        body: Json = {"groupId": "g", "memberId": member, "memberEpoch": epoch}
        body["topicPartitions"] = None if owned is None else wired(owned)
        if epoch == 0:
            body |= {"rebalanceTimeoutMs": REBALANCE_MS, "subscribedTopicNames": ["foo"]}
        answer = self.coordinator.request("ConsumerGroupHeartbeat", 0, {"id": member}, {**body, **more})
        self._fetch()
        return answer

    def upgraded(self, member: str, **more: Any) -> Json:
        """A join with the consumer protocol that is accepted."""
        answer = self.heartbeat(member, 0, [], **more)
        assert answer["errorCode"] == 0, answer
        return answer

    # Reading

    @property
    def group(self) -> Json:
        return self.coordinator.describe("g")

    def member(self, name: str) -> Json:
        return next(one for one in self.group["members"] if one["memberId"] == name)

    def epoch(self, name: str) -> int:
        return int(self.member(name)["memberEpoch"])

    def held(self, name: str) -> set[int]:
        one = self.member(name)
        return numbers(one["assigned"]) | numbers(one["pendingRevocation"])

    def phases(self) -> dict[str, str]:
        """The states of the members that use the classic protocol."""
        members = self.group["members"]
        return {one["memberId"]: one["classicState"] for one in members if "classicState" in one}

    def target(self, **gives: Iterable[int]) -> None:
        """Set the next target, in place of the assignor's."""
        self.coordinator.script_target("g", {name: wired(owned) for name, owned in gives.items()})
