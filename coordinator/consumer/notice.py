"""Reaction of all groups to topics that have changed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Final

from coordinator.consumer.metadata import notice_topics
from coordinator.consumer.model import Group
from coordinator.core.errors import BatchTooLarge
from coordinator.core.log import check_size, with_tombstones
from coordinator.core.step import Env, Result
from coordinator.offsets.handlers import offsets_of_deleted_topics
from coordinator.offsets.records import Offsets
from coordinator.record_kinds import AnyRecord

_LOG: Final = logging.getLogger(__name__)


def notice_everywhere(
    env: Env, groups: Mapping[str, Group], offsets: Offsets, deleted: bool, now_ms: int
) -> list[Result]:
    """E1: the groups' reaction to the topics of `env`; T2: their offsets too, if topics were `deleted`.

    A group that cannot follow (`follows`) is left out, and holds up no other group.
    """
    results = []
    for group_id in sorted(groups.keys() | offsets.keys()):
        result = notice_topics(env, groups.get(group_id) or Group(group_id), now_ms)
        tombstones = offsets_of_deleted_topics(offsets, group_id, env.topics) if deleted else []
        limit = env.config.max_batch_bytes
        steps = with_tombstones(tombstones, result, limit)
        results += [one for one in steps if follows(group_id, one.records, limit)]
    return results


def follows(group_id: str, batch: Sequence[AnyRecord], limit_bytes: int) -> bool:
    """Tell if a group can follow the topics: not where its batch would be too large (P4). A warning is logged
    then.

    Such a group stays as the log has it, until topics change again, a request changes the group, or a new
    coordinator loads it.
    """
    try:
        if batch:
            check_size(batch, limit_bytes)
    except BatchTooLarge as refused:
        _LOG.warning("Group %r stays as it is, behind its topics: %s.", group_id, refused)
        return False
    return True
