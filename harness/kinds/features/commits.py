"""Commits of offsets (O1), which steps and states of either kind of group have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol

from harness.kinds.fields import Partition
from harness.replay.wire import GROUP, topic_id
from harness.targets.base import Json

LEADER_EPOCH: Final = -1
"""The leader epoch of every commit: unknown, as the specification has no brokers."""


class CommitRequest(Protocol):
    """The sender of a commit: member id, instance id, and member epoch or generation."""

    @property
    def member(self) -> str: ...
    @property
    def instance(self) -> str | None: ...
    @property
    def epoch(self) -> int: ...


class Answered(Protocol):
    """A response, with its error only."""

    @property
    def error(self) -> str: ...


class CommitStep(Protocol):
    """A step that may commit an offset, of either kind of group (O1)."""

    @property
    def action(self) -> str: ...
    @property
    def request(self) -> CommitRequest: ...
    @property
    def response(self) -> Answered: ...
    @property
    def partition(self) -> Partition | None: ...
    @property
    def offset(self) -> int: ...


class CommitState(Protocol):
    """A state with committed offsets, of either kind of group."""

    @property
    def step(self) -> CommitStep: ...
    @property
    def offsets(self) -> Mapping[Partition, int]: ...


def offset_commit(step: CommitStep) -> Json:
    """The body of an OffsetCommit of one partition, by topic id (O1)."""
    topic, index = partition_of(step)
    committed = {
        "partitionIndex": index,
        "committedOffset": step.offset,
        "committedLeaderEpoch": LEADER_EPOCH,
        "committedMetadata": "",
    }
    return {
        "groupId": GROUP,
        "generationIdOrMemberEpoch": step.request.epoch,
        "memberId": step.request.member,
        "groupInstanceId": step.request.instance,
        "topics": [{"name": None, "topicId": topic_id(topic), "partitions": [committed]}],
    }


def offset_fetch(step: CommitStep) -> Json:
    """The body of an OffsetFetch of one partition, by topic id (O1)."""
    topic, index = partition_of(step)
    wanted = {"name": None, "topicId": topic_id(topic), "partitionIndexes": [index]}
    return {
        "generationIdOrMemberEpoch": step.request.epoch,
        "memberId": step.request.member,
        "groups": [{"groupId": GROUP, "topics": [wanted]}],
        "requireStable": False,
    }


def partition_of(step: CommitStep) -> Partition:
    """The partition of a commit or a fetch. ValueError, in words, for a step without one."""
    if step.partition is None:
        raise ValueError(f"a step {step.action} names a partition, but this one has none")
    return step.partition
