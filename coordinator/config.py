"""The broker configuration of the coordinator (D3)."""

from __future__ import annotations

from dataclasses import dataclass


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
}
"""Name of the configuration -> field of Config; group.empty.retention.ms is this coordinator's own."""
