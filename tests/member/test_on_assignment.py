"""PartitionAssignor.onAssignment: once in an epoch, when the member moves to it, with the whole target
(K3)."""

from __future__ import annotations

from typing import Any

import pytest
from member_driver import FENCED, Driver, answer, names, owned, parts

from coordinator.members.consumer import Member, Partitions, Settings
from coordinator.members.consumer.assignors import Assignment, Metadata
from coordinator.members.consumer.types import GroupMetadata, to_wire

Json = dict[str, Any]


class Noting:
    """A local assignor that notes its calls."""

    name = "noting"
    minimum_version = maximum_version = 0

    def __init__(self) -> None:
        self.told: list[tuple[int, str, list[str]]] = []
        self.raises = False
        self.user_data: Metadata | None = Metadata()

    def metadata(self) -> Metadata:
        if self.user_data is None:
            raise RuntimeError("metadata raised")
        return self.user_data

    def assign(self, *_: object) -> Assignment:
        return Assignment()

    def on_assignment(
        self, error: int, metadata: Metadata, partitions: Partitions, group: GroupMetadata
    ) -> None:
        self.told.append((error, metadata.content, names(partitions)))
        if self.raises:
            raise RuntimeError("on_assignment raised")


class Told(Driver):
    """A member with that assignor, which is answered with metadata and pending partitions."""

    def __init__(self) -> None:
        super().__init__(auto_commit=False)
        self.assignor = Noting()
        self.member = Member(Settings("g", auto_commit=False), "m", (self.assignor,))
        self.subscribe()

    def step(
        self, epoch: int, assigned: str | None, pending: str = "", metadata: str = "", error: int = 0
    ) -> None:
        """A heartbeat is answered, and the application polls. `assigned` None: no assignment."""
        self.heartbeat()
        body = answer(epoch, None if assigned is None else tuple(assigned.split()))
        if body["assignment"] is not None:
            body["assignment"] |= {
                "error": error,
                "pendingTopicPartitions": to_wire(parts(*pending.split())),
                "metadataVersion": 0,
                "metadataBytes": metadata,
            }
        self.reply(body)
        self.poll()


# Answers in a row, in the form of `Told.step`, and the calls that the assignor must have got.
TABLE: dict[str, tuple[list[tuple[Any, ...]], list[tuple[int, str, list[str]]]]] = {
    "pending partitions come within the epoch": (
        [(1, "foo-0", "foo-1", "a"), (1, "foo-0 foo-1", "", "a")],
        [(0, "a", ["foo-0", "foo-1"])],
    ),
    "it must revoke first, and is told of the next metadata only as it moves on": (
        [
            (1, "foo-0 foo-1", "", "a"),
            (1, "foo-0", "", "b"),
            (2, "foo-0", "foo-2", "b"),
            (2, "foo-0 foo-2", "", "b"),
        ],
        [(0, "a", ["foo-0", "foo-1"]), (0, "b", ["foo-0", "foo-2"])],
    ),
    "the same assignment at another epoch": (
        [(1, "foo-0", "", "a"), (2, "foo-0", "", "a")],
        [(0, "a", ["foo-0"]), (0, "a", ["foo-0"])],
    ),
    "another epoch without an assignment: nothing of it has changed": (
        [(1, "foo-0", "foo-1", "a"), (1, None), (2, None)],
        [(0, "a", ["foo-0", "foo-1"]), (0, "a", ["foo-0", "foo-1"])],
    ),
    "nothing is assigned": ([(1, "", "", "a")], [(0, "a", [])]),
    "the assignor failed": (
        [(1, "foo-0", "", "a"), (2, "foo-0", "", "a", 7), (2, "foo-0", "", "a", 7)],
        [(0, "a", ["foo-0"]), (7, "a", ["foo-0"])],
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_on_assignment(case: str) -> None:
    answers, expected = TABLE[case]
    response = Told()
    for one in answers:
        response.step(*one)
    assert response.assignor.told == expected


def test_a_member_that_joins_again_gets_its_assignment_at_any_epoch() -> None:
    response = Told()
    response.step(3, "foo-0")
    response.heartbeat()
    response.error(FENCED)
    response.poll()
    response.step(3, "foo-1")
    assert response.assignor.told == [(0, "", ["foo-0"]), (0, "", ["foo-1"])]


def test_on_assignment_comes_before_the_listener() -> None:
    response = Told()
    response.heartbeat()
    response.ok(1, "foo-0")
    assert response.assignor.told and not response.callbacks


def test_an_assignor_that_raises_stops_nothing() -> None:
    """K3, C6: the member takes its assignment all the same, and the application gets the exception."""
    response = Told()
    response.assignor.raises = True
    response.step(1, "foo-0")
    assert response.callbacks == [("assigned", ["foo-0"])]
    assert str(response.member.take_error()) == "on_assignment raised"
    assert owned(response.heartbeat()) == ["foo-0"]


def test_an_assignor_without_metadata_stops_no_heartbeat() -> None:
    """A7: the last user data stay, and the application gets the exception."""
    response = Told()
    response.assignor.user_data = Metadata(content="a")
    response.step(1, "foo-0")
    response.assignor.user_data = None
    response.heartbeat()
    response.error(FENCED)
    response.poll()
    (offer,) = response.heartbeat()["clientAssignors"]
    assert offer["metadataBytes"] == "a"
    assert str(response.member.take_error()) == "metadata raised"
