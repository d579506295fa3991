"""The share groups of a coordinator (Q1-Q8), and ShareGroupHeartbeat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from coordinator.consumer import validation
from coordinator.consumer.records import topics_to_wire
from coordinator.consumer.request import JOIN_EPOCH, LEAVE_EPOCH, HeartbeatRequest, client_of
from coordinator.core import fields, wire
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env
from coordinator.sessions import SessionGroups
from coordinator.share.model import NO_GROUP, ShareGroup, ShareMember, heard, includes_assignment, without
from coordinator.share.records import groups_from, records_of

APIS: Final = {"ShareGroupHeartbeat": (1, 1)}
_FIELDS: Final = ("groupId", "memberId", "memberEpoch", "rackId", "subscribedTopicNames")


def parse_share(api: str, client: Mapping[str, Any], body: Json) -> HeartbeatRequest:
    """The request, in the form of a consumer's request; BadInput for what the schema cannot express."""
    fields.known(body, _FIELDS, api)
    subscribed = body.get("subscribedTopicNames")
    names = [] if subscribed is None else fields.names(body, "subscribedTopicNames", api)
    return HeartbeatRequest(
        fields.text(body, "groupId", api),
        fields.text(body, "memberId", api),
        fields.integer(body, "memberEpoch", api, None, 32),
        None,
        fields.optional_text(body, "rackId", api),
        -1,
        None if subscribed is None else frozenset(names),
        *(None, None, None, None),
        *client_of(client),
        topic_names=names,
        topic_partitions=[],
    )


def _odd(request: HeartbeatRequest) -> str | None:
    """Invalid (Q7): the checks in which share groups differ from consumer groups."""
    if not request.member_id:
        return "MemberId is empty; a member gives its own id."
    if request.rack_id == "":
        return "RackId is empty; give one, or leave it out."
    if request.member_epoch < LEAVE_EPOCH:
        return f"MemberEpoch is {request.member_epoch}; send -1, 0 or the epoch of the last response."
    if request.member_epoch == JOIN_EPOCH and not request.subscription:
        return "SubscribedTopicNames is empty; a join names a topic."
    return None


_SAME: Final = (validation.text_too_long, validation.topic_name_invalid, validation.topic_name_repeated)


def _check_member(group: ShareGroup | None, request: HeartbeatRequest) -> None:
    """ErrorOf (Q2, Q7): RequestRejected for a request that is no join, and whose sender is no member of the
    group at its epoch, or at the one before, as the answer with the last epoch may be lost."""
    name, epoch = request.member_id, request.member_epoch
    if group is None:
        sentence = f"There is no share group {request.group_id}; join it."
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, sentence)
    member = group.member(name)
    if not member.epoch:
        sentence = f"Member {name} is not in the group; join it with member epoch 0."
        raise RequestRejected(ErrorCode.UNKNOWN_MEMBER_ID, sentence)
    if epoch not in (LEAVE_EPOCH, member.epoch, member.previous_epoch):
        sentence = f"Member {name} is at epoch {member.epoch}, not {epoch}; join again with member epoch 0."
        raise RequestRejected(ErrorCode.FENCED_MEMBER_EPOCH, sentence)


class ShareGroups(SessionGroups[HeartbeatRequest, ShareGroup]):
    """The groups that members join with ShareGroupHeartbeat."""

    name = "share"

    def check(self, request: HeartbeatRequest) -> None:
        """Invalid (Q7): RequestRejected with INVALID_REQUEST."""
        for clause in (validation.group_id_empty, _odd, *_SAME):
            if (problem := clause(request)) is not None:
                raise RequestRejected(ErrorCode.INVALID_REQUEST, problem)

    def handled(
        self, group: ShareGroup | None, request: HeartbeatRequest, env: Env
    ) -> tuple[ShareGroup, Json]:
        """HandleShare (Q1, Q2, Q5, Q6). Raises RequestRejected."""
        name = request.member_id
        if request.member_epoch != JOIN_EPOCH:
            _check_member(group, request)
        before = group or NO_GROUP
        if request.member_epoch == LEAVE_EPOCH:
            return without(before, env.topics, name), _response(name, LEAVE_EPOCH, 0, None)
        after = heard(before, env.topics, request)
        member, interval_ms = after.members[name], env.heartbeat_interval_ms(request.group_id)
        given = {"topicPartitions": wire.to_wire(member.assigned)}
        assignment = given if includes_assignment(before.member(name), member, request) else None
        return after, _response(name, member.epoch, interval_ms, assignment)

    def refusal(self, code: ErrorCode, message: str) -> Json:
        """Q7."""
        return {**_response(None, 0, 0, None), "errorCode": int(code), "errorMessage": message}

    without = staticmethod(without)
    records = staticmethod(records_of)
    groups_of = staticmethod(groups_from)

    def describe(self, group_id: str) -> Json:
        """The whole state of a group."""
        group = self.groups[group_id]
        return {
            "groupId": group_id,
            "type": self.name,
            "state": group.state,
            "groupEpoch": group.epoch,
            "assignmentEpoch": group.assignment_epoch,
            "metadata": topics_to_wire(group.metadata),
            "members": [_described(name, member) for name, member in sorted(group.members.items())],
            "timers": [due.described() for due in self.armed(group_id)],
        }


def _described(name: str, member: ShareMember) -> Json:
    return {
        "memberId": name,
        "memberEpoch": member.epoch,
        "previousMemberEpoch": member.previous_epoch,
        "subscribedTopicNames": sorted(member.subscription),
        "target": wire.to_wire(member.target),
        "assigned": wire.to_wire(member.assigned),
    }


def _response(member_id: str | None, epoch: int, interval_ms: int, assignment: Json | None) -> Json:
    error = {"throttleTimeMs": 0, "errorCode": 0, "errorMessage": None}
    given = {"heartbeatIntervalMs": interval_ms, "assignment": assignment}
    return {**error, "memberId": member_id, "memberEpoch": epoch, **given}
