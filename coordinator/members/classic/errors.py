"""Errors in the answers of a classic group: their meaning for a member, and the message for its
application."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

ILLEGAL_GENERATION: Final = 22
INCONSISTENT_GROUP_PROTOCOL: Final = 23
UNKNOWN_MEMBER_ID: Final = 25
REBALANCE_IN_PROGRESS: Final = 27
MEMBER_ID_REQUIRED: Final = 79
FENCED_INSTANCE_ID: Final = 82
RETRIABLE: Final = frozenset({14, 15, 16})
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
LOST: Final = frozenset({UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION})
"""Errors after which another member may already own the member's partitions."""


def error_of(api: str, body: Mapping[str, Any]) -> int:
    """The error of an answer; for an OffsetCommit the first error of its partitions."""
    if api != "OffsetCommit":
        return int(body["errorCode"])
    codes = [one["errorCode"] for topic in body["topics"] for one in topic["partitions"]]
    return int(next((code for code in codes if code), 0))


def refused(api: str, error: int, group_id: str, assignors: Iterable[str]) -> str:
    """The application's message for an error that ends the member (C4)."""
    if error != INCONSISTENT_GROUP_PROTOCOL:
        return f"The coordinator refused {api} with error {error}."
    return (
        f"No assignor of this consumer ({', '.join(assignors)}) is one that all members of group {group_id} "
        "have. To change assignors, first bounce all consumers with the old and the new one, then all with "
        "the new one alone."
    )
