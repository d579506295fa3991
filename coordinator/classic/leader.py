"""The leader of a classic group between its JoinGroup and its SyncGroup (C1, C5)."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from typing import Any

from coordinator.classic.assignors import ASSIGNORS, GroupMember, with_user_data
from coordinator.classic.embedded import read_subscription, write_assignment
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json


def lead(protocol: str, members: Iterable[Mapping[str, Any]], partitions: Mapping[str, int]) -> list[Json]:
    """The `assignments` of a SyncGroup, for the protocol and the `members` of a leader's JoinGroup response.

    `partitions` has the number of partitions of each existing topic; bytes are text in base64. BadInput where
    no assignor has the protocol's name, or a member's bytes cannot be read: then the leader cannot assign,
    and rejoins (C2).
    """
    if protocol not in ASSIGNORS:
        raise BadInput(f"there is no assignor {protocol!r}; there are {', '.join(ASSIGNORS)}")
    known: dict[str, GroupMember] = {}
    for member in members:
        try:
            subscription = read_subscription(b64decode(member["metadata"]))
        except BadInput as error:
            raise BadInput(f"member {member['memberId']!r} says what cannot be read: {error}") from None
        known[member["memberId"]] = GroupMember(subscription, member["groupInstanceId"])
    assignor = ASSIGNORS[protocol]
    assigned = with_user_data(assignor, assignor.assign(known, partitions))
    return [
        {"memberId": name, "assignment": b64encode(write_assignment(given)).decode()}
        for name, given in sorted(assigned.items())
    ]
