"""The broker configuration of the coordinator (D3)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from coordinator.assignors import PartitionAssignor
from coordinator.core import fields
from coordinator.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Config:
    """Times are in milliseconds. CONFIG_NAMES gives the names that Kafka has for the values."""

    session_timeout_ms: int = 45_000
    min_session_timeout_ms: int = 45_000
    max_session_timeout_ms: int = 60_000
    heartbeat_interval_ms: int = 5_000
    min_heartbeat_interval_ms: int = 5_000
    max_heartbeat_interval_ms: int = 15_000
    group_max_size: int = 2**31 - 1
    """The most members of a group (H5)."""
    threads: int = 1
    """Always 1: a caller calls a coordinator from one thread at a time."""
    empty_retention_ms: int = 7 * 24 * 60 * 60 * 1000
    """The time after which an empty group is deleted (E5 DEAD)."""
    assignment_interval_ms: int = 1_000
    """With the dialect's TargetMayLag: the least time between two targets of one group."""
    max_batch_bytes: int = 1024 * 1024
    """The most bytes that one batch of records may have, as Kafka's log has them: record_size.py (P4)."""
    max_offset_metadata_bytes: int = 4096
    """The most bytes of UTF-8 that the metadata of a committed offset may have (O1)."""
    initial_delay_ms: int = 3_000
    """How long a classic group that was empty waits for more members (C1)."""
    new_member_timeout_ms: int = 300_000
    """The time that the first JoinGroup of a classic member may wait: no client may know the new member
    (C1)."""
    classic_session_min_ms: int = 6_000
    classic_session_max_ms: int = 1_800_000
    timer_retry_ms: int = 500
    """The time after which a timer fires again whose records the log has refused; then twice as long."""


SESSION_TIMEOUT: Final = "group.consumer.session.timeout.ms"
HEARTBEAT_INTERVAL: Final = "group.consumer.heartbeat.interval.ms"
ASSIGNORS: Final = "group.consumer.assignors"
CLASS_NAMES: Final = {
    "org.apache.kafka.server.group.consumer.UniformAssignor": "uniform",
    "org.apache.kafka.server.group.consumer.RangeAssignor": "range",
}
"""Class name in group.consumer.assignors, from KIP-848 -> the name of that assignor (D3)."""

CONFIG_NAMES: Final = {
    SESSION_TIMEOUT: "session_timeout_ms",
    "group.consumer.min.session.timeout.ms": "min_session_timeout_ms",
    "group.consumer.max.session.timeout.ms": "max_session_timeout_ms",
    HEARTBEAT_INTERVAL: "heartbeat_interval_ms",
    "group.consumer.min.heartbeat.interval.ms": "min_heartbeat_interval_ms",
    "group.consumer.max.heartbeat.interval.ms": "max_heartbeat_interval_ms",
    "group.consumer.max.size": "group_max_size",
    "group.coordinator.threads": "threads",
    "group.consumer.assignment.interval.ms": "assignment_interval_ms",
    "message.max.bytes": "max_batch_bytes",
    "offset.metadata.max.bytes": "max_offset_metadata_bytes",
    "group.empty.retention.ms": "empty_retention_ms",
    "group.initial.rebalance.delay.ms": "initial_delay_ms",
    "group.min.session.timeout.ms": "classic_session_min_ms",
    "group.max.session.timeout.ms": "classic_session_max_ms",
}
"""Name of the configuration -> field of Config; group.empty.retention.ms is this coordinator's own."""

_NAMES: Final = {field: name for name, field in CONFIG_NAMES.items()}


def configured(
    config: Config, assignors: Mapping[str, PartitionAssignor], settings: Mapping[str, object]
) -> tuple[Config, Mapping[str, PartitionAssignor]]:
    """The configuration and the assignors with the settings, by Kafka's names; times in milliseconds.
    BadInput for a value that is not allowed.

    group.consumer.assignors is a list of names, or of KIP-848's class names, the default first.
    """
    where = "the configuration"
    fields.known(settings, (*CONFIG_NAMES, ASSIGNORS), where)
    changes = {
        field: fields.integer(settings, name, where, least=0 if field in _MAY_BE_0 else 1)
        for name, field in CONFIG_NAMES.items()
        if name in settings
    }
    if ASSIGNORS in settings:
        chosen = [CLASS_NAMES.get(name, name) for name in fields.names(settings, ASSIGNORS, where)]
        if not chosen or not set(chosen) <= set(assignors):
            raise BadInput(f"{ASSIGNORS} must be some of {', '.join(assignors)}, not {chosen}")
        assignors = {name: assignors[name] for name in chosen}
    config = dataclasses.replace(config, **changes)
    if (problem := out_of_bounds(config)) is not None:
        raise BadInput(problem)
    return config, assignors


def out_of_bounds(config: Config) -> str | None:
    """D3: the sentence about a value that contradicts another one, or None."""
    if config.threads != 1:
        return f"{_NAMES['threads']} must be 1, not {config.threads}: this coordinator runs in one thread"
    for name in ("session_timeout_ms", "heartbeat_interval_ms"):
        value, least, most = (getattr(config, field) for field in (name, f"min_{name}", f"max_{name}"))
        if value < least:
            return f"{_NAMES[name]} is {value}, but {_NAMES[f'min_{name}']} is {least}"
        if value > most:
            return f"{_NAMES[name]} is {value}, but {_NAMES[f'max_{name}']} is {most}"
    if config.heartbeat_interval_ms >= config.session_timeout_ms:
        return (
            f"{HEARTBEAT_INTERVAL} is {config.heartbeat_interval_ms}, which must be less than "
            f"{SESSION_TIMEOUT}, {config.session_timeout_ms}"
        )
    if (least := config.classic_session_min_ms) > (most := config.classic_session_max_ms):
        return (
            f"{_NAMES['classic_session_min_ms']} is {least}, but {_NAMES['classic_session_max_ms']} is {most}"
        )
    return None


_MAY_BE_0: Final = ("assignment_interval_ms", "initial_delay_ms")
