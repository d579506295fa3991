"""The responses of JoinGroup, SyncGroup, Heartbeat and LeaveGroup. Every field of the schema is there."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.classic.model import ClassicGroup
from coordinator.core.errors import ErrorCode
from coordinator.core.fields import Json


def join_error(member_id: str, code: ErrorCode) -> Json:
    """The response of a JoinGroup that is refused, or (MEMBER_ID_REQUIRED) that gives the member id to join
    with."""
    return {
        "throttleTimeMs": 0,
        "errorCode": int(code),
        "generationId": -1,
        "protocolType": None,
        "protocolName": None,
        "leader": "",
        "skipAssignment": False,
        "memberId": member_id,
        "members": [],
    }


def join_response(group: ClassicGroup, member_id: str, skip_assignment: bool = False) -> Json:
    """JoinResponse (C1): the generation; the leader gets all members, by member id."""
    members = []
    if member_id == group.leader:
        members = [
            {
                "memberId": name,
                "groupInstanceId": member.instance_id,
                "metadata": member.metadata(group.protocol or ""),
            }
            for name, member in sorted(group.members.items())
        ]
    return {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "generationId": group.generation,
        "protocolType": group.protocol_type,
        "protocolName": group.protocol,
        "leader": group.leader,
        "skipAssignment": skip_assignment,
        "memberId": member_id,
        "members": members,
    }


def sync_error(code: ErrorCode) -> Json:
    """A SyncGroup without an assignment."""
    return {
        "throttleTimeMs": 0,
        "errorCode": int(code),
        "protocolType": None,
        "protocolName": None,
        "assignment": "",
    }


def sync_response(group: ClassicGroup, member_id: str) -> Json:
    """SyncResponse (C1): the leader's assignment for the member."""
    return {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "protocolType": group.protocol_type,
        "protocolName": group.protocol,
        "assignment": group.members[member_id].assignment,
    }


def heartbeat_response(code: ErrorCode) -> Json:
    """ClassicHeartbeat (C1): the answer tells the member to go on, or to rejoin."""
    return {"throttleTimeMs": 0, "errorCode": int(code)}


def leave_response(code: ErrorCode, members: Sequence[tuple[str, str | None, ErrorCode]] = ()) -> Json:
    """The response with an error of the whole request, or one error for each member."""
    return {
        "throttleTimeMs": 0,
        "errorCode": int(code),
        "members": [
            {"memberId": name, "groupInstanceId": instance_id, "errorCode": int(error)}
            for name, instance_id, error in members
        ],
    }
