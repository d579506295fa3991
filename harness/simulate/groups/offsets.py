"""The invariants of committed offsets, those of spec/ClosedOffsets.tla: O2 and O3."""

from __future__ import annotations

from collections.abc import Iterator

from harness.simulate.groups.coordinator_view import GroupWatch
from harness.simulate.groups.parts import Partition, Partitions, Violation, shown
from harness.simulate.groups.process import Message
from harness.targets.base import Json


class OffsetsWatch:
    """The offsets of one group. `processed` is the farthest position in each partition; `stopped` the
    position of its last owner at its end, if all of that was committed by then (O3)."""

    def __init__(self) -> None:
        self.committed: dict[Partition, int] = {}
        self.processed: dict[Partition, int] = {}
        self.stopped: dict[Partition, int] = {}

    def commits(self, message: Message, body: Json, watch: GroupWatch) -> int:
        """O2: an accepted commit is that of the partition's holder, and no other member has held the
        partition since it was sent; the number of commits."""
        accepted = 0
        codes = dict(_codes(body["topics"]))
        for partition, offset in _offsets(message.request.body["topics"]):
            if codes.get(partition) != 0:
                continue
            accepted += 1
            holder = watch.holder.get(partition)
            if holder != message.incarnation or watch.last.get(partition) != message.since.get(partition):
                raise Violation(
                    "O2",
                    "NoCommitOfASupersededOwner",
                    f"{message.who} committed {offset} for {shown({partition})}, which is not its own",
                )
            if self.stopped.get(partition, offset) != offset:
                raise Violation(
                    "O3",
                    "HandOverIsExact",
                    f"{message.who} committed {offset} for {shown({partition})}, which its owner left at "
                    f"{self.stopped[partition]}",
                )
            self.committed[partition] = offset
        return accepted

    def begins(self, who: str, partition: Partition, offset: int) -> None:
        """O3: a member that begins at the committed offset skips nothing, and repeats nothing after a clean
        hand-over."""
        if offset > self.processed.get(partition, 0):
            raise Violation(
                "O3",
                "AtLeastOnce",
                f"{who} begins {shown({partition})} at {offset}, which no member has reached",
            )
        stopped = self.stopped.pop(partition, offset)
        if stopped != offset:
            raise Violation(
                "O3",
                "HandOverIsExact",
                f"{who} begins {shown({partition})} at {offset}, which its owner left at {stopped}",
            )

    def consumed(self, partition: Partition, offset: int) -> None:
        """Note a position that a member has reached."""
        if offset > self.processed.get(partition, 0):
            self.processed[partition] = offset

    def ends(self, partition: Partition, position: int | None) -> None:
        """Note that the owner of a partition has given it up at that position."""
        if position is not None and position == self.committed.get(partition):
            self.stopped[partition] = position
        else:
            self.stopped.pop(partition, None)

    def forget(self, partitions: Partitions | None = None) -> None:
        """Forget the last positions of these partitions' owners. None: the group is gone, with its
        offsets."""
        if partitions is None:
            self.committed, self.stopped = {}, {}
            return
        for partition in partitions:
            self.stopped.pop(partition, None)


def committed_by(body: Json) -> Iterator[Partition]:
    """The partitions of a request to commit."""
    return (partition for partition, _ in _offsets(body["topics"]))


def _offsets(topics: list[Json]) -> Iterator[tuple[Partition, int]]:
    for topic in topics:
        for one in topic["partitions"]:
            yield (topic["topicId"], one["partitionIndex"]), one["committedOffset"]


def _codes(topics: list[Json]) -> Iterator[tuple[Partition, int]]:
    for topic in topics:
        for one in topic["partitions"]:
            yield (topic["topicId"], one["partitionIndex"]), one["errorCode"]
