"""Kafka's error codes with a meaning for a member, and their meanings."""

from __future__ import annotations

from typing import Final

NONE: Final = 0
REQUEST_TIMED_OUT: Final = 7
COORDINATOR_LOAD_IN_PROGRESS: Final = 14
COORDINATOR_NOT_AVAILABLE: Final = 15
NOT_COORDINATOR: Final = 16
UNKNOWN_MEMBER_ID: Final = 25
REBALANCE_IN_PROGRESS: Final = 27
UNSUPPORTED_VERSION: Final = 35
FENCED_MEMBER_EPOCH: Final = 110
UNRELEASED_INSTANCE_ID: Final = 111
STALE_MEMBER_EPOCH: Final = 113

RETRIABLE: Final = frozenset(
    {REQUEST_TIMED_OUT, COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR}
)
"""Errors after which any request is tried again after a pause."""

COORDINATOR_MOVED: Final = frozenset({COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR})
"""Errors after which the member must find the coordinator first."""

REMOVED: Final = frozenset({UNKNOWN_MEMBER_ID, FENCED_MEMBER_EPOCH})
"""Errors which mean that the coordinator no longer has this incarnation of the member (K1)."""


def refused(error: int) -> str:
    """The application's message for an error that ends the member and has no message."""
    if error == UNSUPPORTED_VERSION:
        return (
            "The cluster does not support the consumer protocol (KIP-848): enable it there, or set "
            "group.protocol to classic."
        )
    return f"The coordinator refused the heartbeat with error {error}."
