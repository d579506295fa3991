"""Forms on the wire for classic groups; the names are those of `harness.replay.wire`.

Subscriptions and assignments travel as bytes of the embedded consumer protocol, which coordinators read only
to convert a group; in JSON they are base64. Assignments are of version 3, and so are subscriptions of members
that migrate (spec/Conversions.tla); all other subscriptions are of version 0.
"""

from __future__ import annotations

import base64
import struct
from functools import cache
from typing import Final

from harness.kinds.classic.description import DELAY as DELAY
from harness.kinds.classic.state import Assignment, ClassicRequest
from harness.kinds.classic.subscription_data import Classic, subscription_data
from harness.kinds.fields import Partition
from harness.kinds.rows import Forms
from harness.replay import wire
from harness.targets.base import Json

JOIN: Final = "JoinGroup"
SYNC: Final = "SyncGroup"
HEARTBEAT: Final = "Heartbeat"
LEAVE: Final = "LeaveGroup"

NEW_MEMBER_TIMEOUT_MS: Final = 300_000
"""The time that the first JoinGroup of a member may wait."""
_NO_USER_DATA: Final = struct.pack(">i", -1)
_NO_RACK: Final = struct.pack(">h", -1)


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _bytes(base64_text: str) -> bytes:
    """Some bytes; null where there are none."""
    content = base64.b64decode(base64_text)
    return struct.pack(">i", len(content)) + content if content else _NO_USER_DATA


MIGRATING: Final = 3
"""The version of the embedded protocol that members need to migrate (M2)."""


@cache
def subscription(texts: frozenset[str]) -> str:
    """ConsumerProtocolSubscription, of the topics in `texts`. A subscription with a generation belongs to a
    member that migrates, and has its owned partitions and its user data, too."""
    topics, owned, generation, user_data = subscription_data(texts)
    names = b"".join(_text(wire.topic_name(topic)) for topic in sorted(topics))
    content = struct.pack(">i", len(topics)) + names + _bytes(user_data)
    if generation is None:
        return base64.b64encode(struct.pack(">h", 0) + content).decode()
    content += _partitions(owned) + struct.pack(">i", generation) + _NO_RACK
    return base64.b64encode(struct.pack(">h", MIGRATING) + content).decode()


@cache
def assignment(partitions: Assignment) -> str:
    """ConsumerProtocolAssignment; no bytes where there is none."""
    if partitions is None:
        return ""
    content = struct.pack(">h", MIGRATING) + _partitions(partitions) + _NO_USER_DATA
    return base64.b64encode(content).decode()


SHOWN: Final[Forms] = {"text": lambda text: text or None, "partitions or none": assignment}
"""The forms of fields in JSON, by the names of `harness.kinds.rows`."""


def _partitions(partitions: frozenset[Partition]) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, index in sorted(partitions):
        by_topic.setdefault(wire.topic_name(topic), []).append(index)
    content = struct.pack(">i", len(by_topic))
    for name, indexes in sorted(by_topic.items()):
        content += _text(name) + struct.pack(f">{1 + len(indexes)}i", len(indexes), *indexes)
    return content


def member_metadata(classic: Classic) -> Json:
    """ClassicMemberMetadata of a member's record (M1)."""
    metadata = subscription(classic.subscription)
    protocols = [{"name": name, "metadata": metadata} for name in classic.protocols]
    return {
        "classicMemberMetadata": {
            "sessionTimeoutMs": wire.SESSION_TIMEOUT_MS,
            "supportedProtocols": protocols,
        }
    }


def request_id(api: str, member: str) -> str:
    """The id of a request that waits: a client has at most one of each API."""
    return f"{api} {wire.client_id(member)}"


def join(request: ClassicRequest) -> Json:
    """The body of a JoinGroup."""
    metadata = subscription(request.subscription)
    return {
        "groupId": wire.GROUP,
        "sessionTimeoutMs": wire.SESSION_TIMEOUT_MS,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "memberId": request.member,
        "groupInstanceId": request.instance,
        "protocolType": request.type or "",
        "protocols": [{"name": name, "metadata": metadata} for name in request.protocols],
        "reason": None,
    }


def sync(request: ClassicRequest) -> Json:
    """The body of a SyncGroup."""
    return {
        **heartbeat(request),
        "protocolType": request.type,
        "protocolName": request.protocol,
        "assignments": [
            {"memberId": name, "assignment": assignment(given)}
            for name, given in sorted(request.assignments.items())
            if given is not None
        ],
    }


def heartbeat(request: ClassicRequest) -> Json:
    """The body of a Heartbeat."""
    return {
        "groupId": wire.GROUP,
        "generationId": request.epoch,
        "memberId": request.member,
        "groupInstanceId": request.instance,
    }


def leave(request: ClassicRequest) -> Json:
    """The body of a LeaveGroup."""
    leaving = {"memberId": request.member, "groupInstanceId": request.instance, "reason": None}
    return {"groupId": wire.GROUP, "members": [leaving]}


def partitions_of(text: str) -> frozenset[Partition]:
    """The partitions in the bytes of an assignment, for reports."""
    content = base64.b64decode(text)
    if not content:
        return frozenset()
    partitions, at = set(), 6
    for _ in range(struct.unpack_from(">i", content, 2)[0]):
        size = struct.unpack_from(">h", content, at)[0]
        name = content[at + 2 : at + 2 + size].decode()
        at += 2 + size
        count = struct.unpack_from(">i", content, at)[0]
        partitions |= {(name, index) for index in struct.unpack_from(f">{count}i", content, at + 4)}
        at += 4 + 4 * count
    return frozenset(partitions)
