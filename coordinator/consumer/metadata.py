"""The cluster's topics, and the group's record of those that its members subscribe to (E1)."""

from __future__ import annotations

from coordinator.computing.select import by_member
from coordinator.consumer.model import Group, Topics
from coordinator.consumer.records import GROUP_METADATA, PARTITION_METADATA, GroupEpoch, PartitionMetadata
from coordinator.consumer.subscription import topics_of
from coordinator.consumer.target import update_target
from coordinator.core.step import Env, Result, Step


def metadata_of(step: Step) -> Topics:
    """MetadataOf: the existing topics that some member subscribes to."""
    topics, existing = step.env.topics, step.env.topic_names
    subscribed: set[str] = set()
    for subscription in step.subscriptions():
        subscribed |= topics_of(subscription, existing)
    return {name: topics[name] for name in sorted(subscribed)}


def refresh_group(step: Step, changed: bool) -> None:
    """RefreshGroup (E1): bump the group epoch once if members `changed`, or the metadata of their topics."""
    metadata = metadata_of(step)
    if changed or metadata != step.metadata:
        step.metadata = metadata
        step.epoch = step.epoch + 1 if step.epoch else step.env.dialect.FirstGroupEpoch
        if not step.assignment_epoch and by_member(step):
            # No member's epoch may be 0, so the group gets an empty target before the one that a member
            # computes.
            step.assignment_epoch = step.epoch
            step.epoch += 1
    elif not step.epoch:
        step.epoch = step.assignment_epoch = step.env.dialect.initial_epoch


def write_group(step: Step) -> None:
    """The records of a bumped group (P1): its partition metadata if that changed, then its epoch."""
    group = step.group
    if step.epoch == group.epoch or (not group.epoch and step.epoch == step.env.dialect.initial_epoch):
        return
    if step.metadata != group.metadata or not group.epoch:
        step.write(PARTITION_METADATA, None, PartitionMetadata(step.epoch, step.metadata))
    step.write(GROUP_METADATA, None, GroupEpoch(step.epoch))


def notice_topics(env: Env, group: Group, now_ms: int) -> Result:
    """NoticeTopics (E1): bump the group epoch if the group's topics changed, and compute the due target."""
    step = Step(env, group, now_ms)
    if env.dialect.MetadataChange == "at-once":
        refresh_group(step, changed=False)
        write_group(step)
        update_target(step)
    return step.result
