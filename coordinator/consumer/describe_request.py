"""ConsumerGroupDescribe: a group as an operator sees it (KIP-848 "ConsumerGroupDescribe API")."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, Final, NamedTuple

from coordinator.computing.select import selected
from coordinator.consumer.model import NO_TARGET, Group, Member, Target, group_state
from coordinator.consumer.request import client_of
from coordinator.consumer.target import select_assignor
from coordinator.consumer.validation import MAX_TEXT_BYTES, is_too_long
from coordinator.core import fields, wire
from coordinator.core.admission import Authorizer, Operation, authorize, check_state
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.fields import Json
from coordinator.core.step import Env

NOT_REQUESTED: Final = -(2**31)
"""AuthorizedOperations of a request that does not ask for them."""

OPERATION_BITS: Final[dict[Operation, int]] = {"READ": 3, "DELETE": 6, "DESCRIBE": 8}
"""Kafka's number of each operation on a group: its bit in AuthorizedOperations."""

_WHERE: Final = "ConsumerGroupDescribe"


class DescribeRequest(NamedTuple):
    """ConsumerGroupDescribe, version 0."""

    group_ids: list[str]
    include_authorized_operations: bool
    principal: str


def parse_describe(client: Mapping[str, Any], body: Mapping[str, Any]) -> DescribeRequest:
    """The request of a body in lowerCamelCase; BadInput for what the schema cannot express."""
    fields.known(body, ("groupIds", "includeAuthorizedOperations"), _WHERE)
    includes = "includeAuthorizedOperations" in body
    return DescribeRequest(
        fields.names(body, "groupIds", _WHERE),
        includes and fields.boolean(body, "includeAuthorizedOperations", _WHERE),
        client_of(client)[2],
    )


def consumer_group_describe(
    env: Env, groups: Mapping[str, Group], request: DescribeRequest, authorizer: Authorizer, state: str
) -> Json:
    """The response: each group's answer or its error, in the order of the request."""
    answers = []
    before: set[str] = set()
    for group_id in request.group_ids:
        try:
            authorize(authorizer, request.principal, "DESCRIBE", group_id)
            check_state(state)
            _validate(group_id, before)
            answer = _describe(env, _known_group(groups, group_id))
        except RequestRejected as rejected:
            answer = _answer(group_id, rejected.code, rejected.message)
        else:
            if request.include_authorized_operations:
                answer["authorizedOperations"] = sum(
                    1 << bit
                    for operation, bit in OPERATION_BITS.items()
                    if authorizer(request.principal, operation, group_id)
                )
        before.add(group_id)
        answers.append(answer)
    return {"throttleTimeMs": 0, "groups": answers}


def _validate(group_id: str, before: Container[str]) -> None:
    """GroupIds must be non-empty; `before` are those that the request has named before. Raises
    RequestRejected with INVALID_REQUEST."""
    problem = None
    if not group_id:
        problem = "A group id is empty; name the group."
    elif is_too_long(group_id):
        problem = f"A group id is longer than {MAX_TEXT_BYTES} bytes; shorten it."
    elif group_id in before:
        problem = f"GroupIds has {group_id} twice; name each group once."
    if problem is not None:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, problem)


def _known_group(groups: Mapping[str, Group], group_id: str) -> Group:
    group = groups.get(group_id)
    if group is None:
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} does not exist.")
    return group


def _answer(group_id: str, code: ErrorCode, message: str | None) -> Json:
    return {
        "errorCode": int(code),
        "errorMessage": message,
        "groupId": group_id,
        "groupState": "",
        "groupEpoch": 0,
        "assignmentEpoch": 0,
        "assignorName": "",
        "members": [],
        "authorizedOperations": NOT_REQUESTED,
    }


def _describe(env: Env, group: Group) -> Json:
    names = {image.id: name for topics in (env.topics, group.metadata) for name, image in topics.items()}
    metadata = {member_id: member.metadata for member_id, member in group.members.items()}
    return {
        **_answer(group.id, ErrorCode.NONE, None),
        "groupState": group_state(group),
        "groupEpoch": group.epoch,
        "assignmentEpoch": group.assignment_epoch,
        "assignorName": selected(metadata) or select_assignor(env.assignors, list(metadata.values())).name,
        "members": [
            _describe_member(group, member_id, member, names)
            for member_id, member in sorted(group.members.items())
        ],
    }


def _describe_member(group: Group, member_id: str, member: Member, names: Mapping[str, str]) -> Json:
    metadata = member.metadata
    target = group.targets.get(member_id, NO_TARGET)
    shown = target if member.epoch == group.assignment_epoch else NO_TARGET
    return {
        "memberId": member_id,
        "instanceId": metadata.instance_id,
        "rackId": metadata.rack_id,
        "memberEpoch": member.epoch,
        "clientId": metadata.client_id,
        "clientHost": metadata.client_host,
        "subscribedTopicNames": sorted(metadata.subscription),
        "subscribedTopicRegex": metadata.regex,
        "assignment": _assignment(shown._replace(partitions=member.assigned), names),
        "targetAssignment": _assignment(target, names),
    }


def _assignment(shown: Target, names: Mapping[str, str]) -> Json:
    """Partitions with the names of their topics; a deleted topic has an empty name."""
    return {
        "topicPartitions": [
            {**entry, "topicName": names.get(entry["topicId"], "")}
            for entry in wire.to_wire(shown.partitions)
        ],
        "error": shown.error,
        "metadataVersion": shown.metadata_version,
        "metadataBytes": shown.metadata_bytes,
    }
