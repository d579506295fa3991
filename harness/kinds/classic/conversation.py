"""A small conversation of the classic protocol, for a target without consumer groups (C1)."""

from __future__ import annotations

from typing import Final

from harness.doctor.talk import CLIENT, Talk, Wrong
from harness.replay import wire
from harness.targets.base import Json

_MEMBER_ID_REQUIRED: Final = 79
_SESSION_MS: Final = 45_000
_SUBSCRIPTION: Final = "AAAAAAABAANmb2//////"
"""ConsumerProtocolSubscription version 0 of the topic foo, in base64."""
_ASSIGNMENT: Final = "AAAAAAAAAAAAAA=="
_WAIT_MS: Final = 3_000
"""The first delay of a new group, by Kafka's default (group.initial.rebalance.delay.ms)."""


def request(talk: Talk) -> str:
    """A join, the leader's assignment, heartbeats and a leave; only another generation gets an error."""
    joined = _join(talk, "")
    member = joined.get("memberId")
    if joined.get("errorCode") == _MEMBER_ID_REQUIRED and member:
        joined = _join(talk, member)
    if joined.get("errorCode", 0) or joined.get("leader") != member or joined.get("generationId", 0) < 1:
        raise Wrong("JoinGroup of the only member", joined, "it leads a generation above 0 (C1)")
    known = {"groupId": wire.GROUP, "memberId": member, "groupInstanceId": None}
    generation = {**known, "generationId": joined["generationId"]}
    assignments = [{"memberId": member, "assignment": _ASSIGNMENT}]
    named = {"protocolType": "consumer", "protocolName": "range"}
    synced = _sent(talk, "SyncGroup", {**generation, **named, "assignments": assignments})
    if synced.get("errorCode", 0) or synced.get("assignment") != _ASSIGNMENT:
        raise Wrong("SyncGroup of the leader", synced, "it has the assignment that the leader sent (C1)")
    beat = _sent(talk, "Heartbeat", generation)
    if beat.get("errorCode", 0):
        raise Wrong("Heartbeat of a stable group", beat, "it is answered without error (C1)")
    late = _sent(talk, "Heartbeat", {**generation, "generationId": joined["generationId"] + 7})
    if not late.get("errorCode", 0):
        raise Wrong("Heartbeat of another generation", late, "it is answered with ILLEGAL_GENERATION (C1)")
    leaving = {"memberId": member, "groupInstanceId": None, "reason": None}
    left = _sent(talk, "LeaveGroup", {"groupId": wire.GROUP, "members": [leaving]})
    if left.get("errorCode", 0):
        raise Wrong("LeaveGroup", left, "it is answered without error (C1)")
    return "A classic group: a join, an assignment, heartbeats and a leave are answered."


def _join(talk: Talk, member: str) -> Json:
    body = {
        "groupId": wire.GROUP,
        "sessionTimeoutMs": _SESSION_MS,
        "rebalanceTimeoutMs": wire.REBALANCE_TIMEOUT_MS,
        "memberId": member,
        "groupInstanceId": None,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": _SUBSCRIPTION}],
        "reason": None,
    }
    return _sent(talk, "JoinGroup", body)


def _sent(talk: Talk, api: str, body: Json) -> Json:
    """The body of the answer, which a target that lets the request wait gives as time passes."""
    answer = talk.target.request(api, wire.VERSIONS[api], CLIENT, body)
    if answer.body is not None:
        return answer.body
    if not talk.can("advance"):
        raise Wrong(api, "no answer yet", f"{api} that waits is answered as time passes, which needs advance")
    late = talk.target.advance(_WAIT_MS).completed
    if not late:
        raise Wrong(api, "no answer", f"{api} of the only member is answered within {_WAIT_MS} ms (C1)")
    return dict(late[0]["body"])
