"""The broker configuration of the coordinator (D3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from coordinator import fields
from coordinator.assignors import PartitionAssignor
from coordinator.errors import BadInput


@dataclass(frozen=True, slots=True)
class Config:
    """Times are in milliseconds. CONFIG_NAMES gives the names that Kafka has for the values."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    group_max_size: int = 2**31 - 1
    """The most members that a group may have (H5)."""
    empty_retention_ms: int = 7 * 24 * 60 * 60 * 1000
    """How long a group stays empty before it is deleted (E5 DEAD)."""
    assignment_interval_ms: int = 1_000
    """With the dialect's TargetMayLag: targets of one group are computed at most this often."""
    max_batch_bytes: int = 1024 * 1024
    """The most bytes that one batch of records may have, as the log writes them (P4)."""
    max_offset_metadata_bytes: int = 4096
    """The most bytes of UTF-8 that the metadata of a committed offset may have (O1)."""
    initial_delay_ms: int = 3_000
    """How long a classic group that was empty waits for more members (C1)."""
    new_member_timeout_ms: int = 300_000
    """How long the first JoinGroup of a classic member may wait: nobody else may know of it (C1)."""
    classic_session_min_ms: int = 6_000
    classic_session_max_ms: int = 1_800_000
    timer_retry_ms: int = 500
    """How long a timer waits to fire again after the log has refused its records."""


CONFIG_NAMES = {
    "group.consumer.session.timeout.ms": "session_timeout_ms",
    "group.consumer.heartbeat.interval.ms": "heartbeat_interval_ms",
    "group.consumer.assignment.interval.ms": "assignment_interval_ms",
    "group.consumer.max.size": "group_max_size",
    "message.max.bytes": "max_batch_bytes",
    "offset.metadata.max.bytes": "max_offset_metadata_bytes",
    "group.empty.retention.ms": "empty_retention_ms",
    "group.initial.rebalance.delay.ms": "initial_delay_ms",
    "group.min.session.timeout.ms": "classic_session_min_ms",
    "group.max.session.timeout.ms": "classic_session_max_ms",
}
"""Name of the configuration -> field of Config; group.empty.retention.ms is this coordinator's own."""


def configured(
    config: Config, assignors: Mapping[str, PartitionAssignor], settings: Mapping[str, object]
) -> tuple[Config, Mapping[str, PartitionAssignor]]:
    """The configuration with changes by Kafka's names, group.consumer.assignors among them: a list of names,
    the default first. BadInput for what cannot be configured."""
    fields.known(settings, (*CONFIG_NAMES, "group.consumer.assignors"), "the configuration")
    where = "the configuration"
    changes = {
        field: fields.integer(settings, name, where, least=0 if field in _MAY_BE_0 else 1)
        for name, field in CONFIG_NAMES.items()
        if name in settings
    }
    if "group.consumer.assignors" in settings:
        chosen = fields.names(settings, "group.consumer.assignors", where)
        if not chosen or not set(chosen) <= set(assignors):
            raise BadInput(f"group.consumer.assignors must be some of {', '.join(assignors)}, not {chosen}")
        assignors = {name: assignors[name] for name in chosen}
    return replace(config, **changes), assignors


_MAY_BE_0 = ("assignment_interval_ms", "initial_delay_ms")
