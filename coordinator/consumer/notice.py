"""Reaction of all groups to topics that have changed."""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.consumer.metadata import notice_topics
from coordinator.consumer.model import Group
from coordinator.core.log import with_tombstones
from coordinator.core.step import Env, Result
from coordinator.offsets.handlers import offsets_of_deleted_topics
from coordinator.offsets.records import Offsets


def notice_everywhere(
    env: Env, groups: Mapping[str, Group], offsets: Offsets, deleted: bool, now_ms: int
) -> list[Result]:
    """E1: what groups make of the topics of `env`; T2: their offsets too, if some are `deleted`."""
    results = []
    for group_id in sorted(groups.keys() | offsets.keys()):
        result = notice_topics(env, groups.get(group_id) or Group(group_id), now_ms)
        tombstones = offsets_of_deleted_topics(offsets, group_id, env.topics) if deleted else []
        results += with_tombstones(tombstones, result, env.config.max_batch_bytes)
    return results
