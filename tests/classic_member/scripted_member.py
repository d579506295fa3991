"""One member of a classic group with a hand-written coordinator: its requests are taken, its answers are made
up, and all events are written down in order."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from coordinator.classic.assignors import GroupMember, RebalanceProtocol
from coordinator.classic.embedded import (
    Assignment,
    Subscription,
    TopicPartition,
    read_assignment,
    read_subscription,
    write_assignment,
    write_subscription,
)
from coordinator.members.classic import ClassicMember, Request, Settings
from coordinator.members.consumer.types import GroupMetadata

Json = dict[str, Any]
Partitions = frozenset[TopicPartition]
EAGER, COOPERATIVE = frozenset({RebalanceProtocol.EAGER}), frozenset(RebalanceProtocol)
ILLEGAL_GENERATION, INCONSISTENT, UNKNOWN, REBALANCE, MEMBER_ID_REQUIRED = 22, 23, 25, 27, 79


def parts(text: str) -> Partitions:
    """parts("foo-0 bar-1")."""
    return frozenset((name[:-2], int(name[-1])) for name in text.split())


def named(partitions: Partitions) -> str:
    """Partitions as text, sorted."""
    return " ".join(f"{topic}-{index}" for topic, index in sorted(partitions))


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


class ScriptedAssignor:
    """An assignor that assigns `result`, and notes its calls."""

    def __init__(self, log: list[str], name: str, protocols: frozenset[RebalanceProtocol]) -> None:
        self.name, self.protocols, self._log = name, protocols, log
        self.result: dict[str, Partitions] = {}
        self.error: Exception | None = None
        self.last: tuple[Partitions, int] | None = None
        """The last assignment and its generation, when it was asked for user data."""

    def user_data(self, owned: Partitions, generation: int) -> bytes | None:
        self._log.append("user data")
        self.last = owned, generation
        return None

    def assign(
        self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]
    ) -> Mapping[str, Partitions]:
        self._log.append("assign")
        if self.error is not None:
            raise self.error
        return self.result

    def on_assignment(self, assignment: Assignment, group: GroupMetadata) -> None:
        self._log.append(f"on assignment {named(assignment.partitions)}".strip())


class ScriptedMember:
    """`log` has callbacks, requests and calls of the assignor, in order. Those named in `raising` raise."""

    def __init__(
        self,
        protocols: frozenset[RebalanceProtocol],
        raising: tuple[str, ...] = (),
        instance_id: str | None = None,
        topics: Mapping[str, int] | None = MappingProxyType({"foo": 4, "bar": 4}),
    ) -> None:
        self.log: list[str] = []
        self.assignor = ScriptedAssignor(self.log, "scripted", protocols)
        self.member = ClassicMember(Settings("g", instance_id), [self.assignor])
        self.raising = raising
        self.generation = 0
        self.now_ms = 0
        self.sent: Request | None = None
        if topics is not None:
            self.member.topics_are(topics, self.now_ms)

    def run(self) -> None:
        """Let the application poll, and the member send its requests, without heartbeats. A due request may
        need callbacks first."""
        self.sent = None
        for _ in range(2):
            self._run_callbacks()
            self.sent = self.sent or self.member.take_request(self.now_ms)
        if self.sent is not None:
            self.log.append(described(self.sent))

    def _run_callbacks(self) -> None:
        while (callback := self.member.next_callback(self.now_ms)) is not None:
            name = callback.name.value.removeprefix("on_partitions_")
            self.log.append(f"{name} {named(callback.partitions)}".strip())
            error = RuntimeError(f"{name} raised") if name in self.raising else None
            self.member.callback_done(self.now_ms, error)

    def reply(self, **body: Any) -> None:
        """Answer the sent request; then the consequences."""
        assert self.sent is not None
        self.member.answered(self.sent.correlation, {"errorCode": 0, **body}, self.now_ms)
        self.run()

    def joined(
        self, leader: bool = False, owned: Mapping[str, str] | None = None, skips: bool = False
    ) -> None:
        """Answer the member's JoinGroup: the member is "m", and leads members with these partitions, itself
        included; `skips`: and does not assign."""
        assert self.sent is not None and self.sent.api == "JoinGroup"
        self.generation += 1
        members = [
            {
                "memberId": name,
                "groupInstanceId": None,
                "metadata": encoded(write_subscription(subscribed(what))),
            }
            for name, what in (owned or {"m": ""}).items()
        ]
        self.reply(
            memberId="m",
            generationId=self.generation,
            protocolName="scripted",
            members=members if leader else [],
            skipAssignment=skips,
        )

    def synced(self, assigned: str) -> None:
        """The member's SyncGroup is answered."""
        self.assigned(assigned)
        self.run()

    def assigned(self, partitions: str) -> None:
        """The member's SyncGroup is answered, but the application does not poll yet."""
        assert self.sent is not None and self.sent.api == "SyncGroup"
        assignment = encoded(write_assignment(Assignment(parts(partitions))))
        self.member.answered(self.sent.correlation, {"errorCode": 0, "assignment": assignment}, self.now_ms)

    def heartbeat(self, error: int) -> None:
        """Answer the member's next heartbeat; the consequences are in the log, not the heartbeat."""
        due_ms = self.member.next_deadline_ms()
        assert due_ms is not None
        self.now_ms = due_ms
        self.sent = self.member.take_request(self.now_ms)
        assert self.sent is not None and self.sent.api == "Heartbeat"
        self.reply(errorCode=error)

    def heartbeat_before_callbacks(self, error: int) -> None:
        """Answer a heartbeat that is due while callbacks wait for the application to poll."""
        self.now_ms += 10_000
        self.sent = self.member.take_request(self.now_ms)
        assert self.sent is not None and self.sent.api == "Heartbeat"
        self.reply(errorCode=error)

    def stable(self, assigned: str) -> ScriptedMember:
        """Joined, and at rest with these partitions; nothing is in the log."""
        self.member.subscribe({"foo", "bar"}, self.now_ms)
        self.run()
        self.joined()
        self.synced(assigned)
        assert named(self.member.owned) == named(self.member.fetchable) == assigned
        self.log.clear()
        return self


def subscribed(owned: str) -> Subscription:
    return Subscription(frozenset({"foo", "bar"}), owned=parts(owned), generation=1)


def described(request: Request) -> str:
    """A request in the log: a JoinGroup with its claims, a SyncGroup with its assignments."""
    if request.api == "JoinGroup":
        subscription = read_subscription(base64.b64decode(request.body["protocols"][0]["metadata"]))
        return f"JoinGroup {named(subscription.owned)}".strip()
    if request.api == "SyncGroup" and request.body["assignments"]:
        given = {
            one["memberId"]: named(read_assignment(base64.b64decode(one["assignment"])).partitions)
            for one in request.body["assignments"]
        }
        return f"SyncGroup {given}"
    return request.api
