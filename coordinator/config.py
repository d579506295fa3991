"""The broker configuration of the coordinator (D3)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Config:
    """All values in milliseconds. CONFIG_NAMES gives the names that Kafka has for them."""

    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 5_000
    empty_retention_ms: int = 7 * 24 * 60 * 60 * 1000
    """How long a group stays empty before it is deleted (E5 DEAD)."""
    assignment_interval_ms: int = 1_000
    """With the dialect's TargetMayLag: targets of one group are computed at most this often."""
    timer_retry_ms: int = 500
    """How long a timer waits to fire again after the log has refused its records."""


CONFIG_NAMES = {
    "group.consumer.session.timeout.ms": "session_timeout_ms",
    "group.consumer.heartbeat.interval.ms": "heartbeat_interval_ms",
    "group.consumer.assignment.interval.ms": "assignment_interval_ms",
    "group.empty.retention.ms": "empty_retention_ms",
}
"""Name of the configuration -> field of Config; group.empty.retention.ms is this coordinator's own."""
