"""The topics of a classic group's members (C5), for the requests that may not touch them (D1)."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Final

from coordinator.classic.embedded import read_subscription
from coordinator.classic.model import ClassicGroup
from coordinator.core.errors import BadInput, ErrorCode, RequestRejected

CONSUMER: Final = "consumer"
"""The protocol type of groups whose metadata is the embedded consumer protocol."""


def subscribed(group: ClassicGroup) -> Callable[[str], bool]:
    """Tell if a member of the group subscribes to a topic; true for a group whose members cannot be read.

    Members that join count at once; Kafka counts them from the next generation on. Raises RequestRejected
    with NON_EMPTY_GROUP for a live group of another protocol type, whose topics the coordinator does not
    know.
    """
    if not group.members:
        return lambda topic: False
    if group.protocol_type != CONSUMER:
        raise RequestRejected(ErrorCode.NON_EMPTY_GROUP, f"Group {group.id} has members; stop them first.")
    names = {name for member in group.members.values() for name, _ in member.protocols}
    chosen = group.protocol if group.protocol in names else None
    try:
        topics = {
            topic
            for member in group.members.values()
            for name, metadata in member.protocols
            if chosen in (None, name)
            for topic in read_subscription(base64.b64decode(metadata)).topics
        }
    except (BadInput, ValueError):
        return lambda topic: True
    return topics.__contains__
