"""Positions of the application, and OffsetCommit v9 and OffsetFetch v9 for them, by topic ids (O1, O3,
O4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from coordinator.members.consumer.codes import NONE
from coordinator.members.consumer.types import Json, Partitions, Settings, TopicPartition, by_topic

VERSION: Final = 9


class Offsets:
    """The next offset of each partition that the application consumes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.positions: dict[TopicPartition, int] = {}
        self._committed: dict[TopicPartition, int] = {}
        self.commit_wanted = False
        """Has the application requested a commit?"""
        self.held = False
        """STALE_MEMBER_EPOCH: the commit waits for the answer to the next heartbeat (O4)."""

    def keep(self, assignment: Partitions) -> None:
        """Forget all other partitions: a position must not outlive the ownership."""
        for known in (self.positions, self._committed):
            for partition in known.keys() - assignment:
                del known[partition]

    def committable(self) -> Partitions:
        """Partitions whose position is not the committed one."""
        return frozenset(
            partition
            for partition, offset in self.positions.items()
            if self._committed.get(partition) != offset
        )

    def commit_body(self, partitions: Partitions, member_id: str, epoch: int) -> Json:
        """OffsetCommit of the positions as they are now, at the epoch that the member has now."""
        return {
            "groupId": self._settings.group_id,
            "generationIdOrMemberEpoch": epoch,
            "memberId": member_id,
            "groupInstanceId": self._settings.instance_id,
            "topics": [
                {
                    "topicId": topic,
                    "partitions": [
                        {
                            "partitionIndex": index,
                            "committedOffset": self.positions[topic, index],
                            "committedLeaderEpoch": -1,
                            "committedMetadata": "",
                        }
                        for index in indexes
                    ],
                }
                for topic, indexes in by_topic(partitions & self.positions.keys()).items()
            ],
        }

    def commit_answered(self, sent: Mapping[str, Any], body: Mapping[str, Any]) -> dict[TopicPartition, int]:
        """Take over the committed positions; the error code of each partition."""
        offsets = {key: partition["committedOffset"] for key, partition in _partitions(sent["topics"])}
        errors = {key: partition["errorCode"] for key, partition in _partitions(body["topics"])}
        self._committed.update(
            (key, offsets[key]) for key, error in errors.items() if error == NONE and key in offsets
        )
        return errors

    def fetch_body(self, partitions: Partitions, member_id: str, epoch: int) -> Json:
        """OffsetFetch of the group's committed offsets."""
        topics = [
            {"topicId": topic, "partitionIndexes": indexes} for topic, indexes in by_topic(partitions).items()
        ]
        return {
            "generationIdOrMemberEpoch": epoch,
            "memberId": member_id,
            "groups": [{"groupId": self._settings.group_id, "topics": topics}],
            "requireStable": True,
        }

    def fetch_answered(self, body: Mapping[str, Any], assignment: Partitions) -> frozenset[int]:
        """Start at the committed offsets, unless the application has set a position meanwhile; the errors."""
        groups = body["groups"]
        errors = {group["errorCode"] for group in groups}
        for key, partition in _partitions(topic for group in groups for topic in group.get("topics") or ()):
            errors.add(partition["errorCode"])
            if partition["errorCode"] == NONE and key in assignment and key not in self.positions:
                offset = partition["committedOffset"]
                if offset >= 0:
                    self._committed[key] = offset
                self.positions[key] = offset if offset >= 0 else self._settings.reset_offset
        return frozenset(errors - {NONE})

    def unknown(self, sent: Mapping[str, Any], assignment: Partitions) -> Partitions:
        """The partitions of an OffsetFetch that have no position after its answer."""
        requested = (
            (topic["topicId"], index)
            for topic in sent["groups"][0]["topics"]
            for index in topic["partitionIndexes"]
        )
        return frozenset(one for one in requested if one in assignment and one not in self.positions)


def _partitions(topics: Any) -> Iterator[tuple[TopicPartition, Any]]:
    for topic in topics:
        for partition in topic["partitions"]:
            yield (topic["topicId"], partition["partitionIndex"]), partition
