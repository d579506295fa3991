"""Facts about the cluster that no record of a group has: topics, and configurations of groups.

A change of them is an entry of the log: {"topics": ...} (topics.py) or {"configs": ...} (admin/configs.py).
"""

from __future__ import annotations

import dataclasses

from coordinator.admin.configs import changed_configs
from coordinator.core import fields
from coordinator.core.fields import Json
from coordinator.core.step import Env
from coordinator.core.topics import changed_topics, topics_change


def changed(env: Env, change: Json) -> Env:
    """The environment after a change. BadInput where the change is malformed."""
    if "configs" in change:
        return dataclasses.replace(env, group_configs=changed_configs(env.group_configs, change["configs"]))
    where = "a change of topics"
    topics = fields.mapping(change, "topics", where)
    fields.known(topics, ("upsert", "delete"), where)
    upsert, delete = fields.items(topics, "upsert", where), fields.names(topics, "delete", where)
    return dataclasses.replace(env, topics=changed_topics(env.topics, upsert, delete))


def changes_to(env: Env) -> list[Json]:
    """The changes that make the whole cluster from nothing."""
    configs = [{"configs": {"group": id, "values": dict(values)}} for id, values in env.group_configs.items()]
    return [{"topics": topics_change(env.topics)}, *configs]
