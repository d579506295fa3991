"""C5, C6: the data of a leader's assignor for members beside their partitions, and an assignor's input.

CSA: "The protocol supports custom data in both the subscription and assignment as a generic array of bytes".
KIP-429: `onAssignment(Assignment assignment, ConsumerGroupMetadata metadata)`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping

import pytest

from coordinator.assignors import GroupAssignment, TopicPartition
from coordinator.classic.assignors import ClassicAssignor, GroupMember, RebalanceProtocol
from coordinator.classic.embedded import Assignment, Subscription, read_assignment, write_subscription
from coordinator.members.classic import ClassicMember, Settings, TwoPhases
from coordinator.members.consumer.types import GroupMetadata

BOTH = frozenset({("foo", 0), ("foo", 1)})


class Talking:
    """An assignor that gives everything to the first member, with a word for each; it notes its calls."""

    name = "talking"
    protocols = frozenset(RebalanceProtocol)

    def __init__(self) -> None:
        self.told: list[tuple[Assignment, GroupMetadata]] = []

    def user_data(self, owned: frozenset[TopicPartition], generation: int) -> bytes | None:
        return b"mine"

    def assign(self, members: Mapping[str, GroupMember], partitions: Mapping[str, int]) -> GroupAssignment:
        return {name: BOTH if name == min(members) else frozenset() for name in members}

    def assignment_data(self, handed: GroupAssignment) -> Mapping[str, bytes]:
        return {name: f"{name} has {len(given)}".encode() for name, given in handed.items() if name != "c"}

    def on_assignment(self, assignment: Assignment, group: GroupMetadata) -> None:
        self.told.append((assignment, group))


@pytest.mark.parametrize("two_phases", [False, True])
def test_c5_user_data_of_an_assignment_reaches_the_member(two_phases: bool) -> None:
    inner = Talking()
    assignor: ClassicAssignor = TwoPhases(inner, "talking") if two_phases else inner
    member = ClassicMember(Settings("g", "i"), [assignor], "a")
    member.topics_are({"foo": 2}, 0)
    member.subscribe(["foo"], 0)
    join = member.take_request(0)
    assert join is not None
    content = base64.b64encode(write_subscription(Subscription(frozenset({"foo"})))).decode()
    members = [{"memberId": name, "groupInstanceId": None, "metadata": content} for name in "abc"]
    body = {"errorCode": 0, "memberId": "a", "generationId": 7, "protocolName": "talking"}
    member.answered(join.correlation, {**body, "members": members, "skipAssignment": False}, 0)
    sync = member.take_request(0)
    assert sync is not None
    given = {one["memberId"]: one["assignment"] for one in sync.body["assignments"]}
    assert {name: read_assignment(base64.b64decode(data)) for name, data in given.items()} == {
        "a": Assignment(BOTH, b"a has 2"),
        "b": Assignment(frozenset(), b"b has 0"),
        "c": Assignment(frozenset(), None),
    }
    member.answered(sync.correlation, {"errorCode": 0, "assignment": given["a"]}, 0)
    while member.next_callback(0) is not None:
        member.callback_done(0)
    assert inner.told == [(Assignment(BOTH, b"a has 2"), GroupMetadata("g", 7, "a", "i"))]
