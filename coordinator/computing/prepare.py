"""ConsumerGroupPrepareAssignment (A5, A9, A10): the chosen member gets the input of its assignor."""

from __future__ import annotations

from coordinator.computing.model import Base, Json
from coordinator.computing.request import ComputeRequest
from coordinator.computing.select import offer_of, selected
from coordinator.consumer.model import NO_TARGET, Group, MemberMetadata
from coordinator.consumer.records import topics_to_wire
from coordinator.consumer.subscription import topics_of
from coordinator.consumer.validation import is_too_long
from coordinator.core import wire
from coordinator.core.errors import ErrorCode, RequestRejected
from coordinator.core.step import Env, Result, Step


def chosen_group(group: Group | None, request: ComputeRequest) -> Group:
    """ComputationError (A9): the group that the sender may compute for. Raises RequestRejected, in KIP-848's
    order."""
    if not request.group_id:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "GroupId is empty; name the group.")
    if is_too_long(request.group_id):
        raise RequestRejected(ErrorCode.INVALID_GROUP_ID, "GroupId is too long; no group has it.")
    if not request.member_id:
        raise RequestRejected(ErrorCode.INVALID_REQUEST, "MemberId is empty; send the one of the join.")
    if request.member_epoch < 0:
        raise RequestRejected(
            ErrorCode.INVALID_REQUEST,
            f"MemberEpoch is {request.member_epoch}; send the epoch of the last response.",
        )
    if group is None:
        raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, f"There is no group {request.group_id}.")
    member = group.members.get(request.member_id)
    if member is None:
        raise RequestRejected(
            ErrorCode.UNKNOWN_MEMBER_ID, f"Member {request.member_id} is not in group {group.id}; join it."
        )
    if member.epoch != request.member_epoch:
        raise RequestRejected(
            ErrorCode.STALE_MEMBER_EPOCH,
            f"Member {request.member_id} is not at epoch {request.member_epoch}; try again after its next "
            "heartbeat.",
        )
    if group.computation.chosen != request.member_id:
        raise RequestRejected(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member {request.member_id} is not the one that computes the assignment of group {group.id}; "
            "wait until it is told to.",
        )
    return group


def prepare_assignment(env: Env, group: Group | None, request: ComputeRequest, now_ms: int) -> Result:
    """PrepareAssignment: a repeated request gets the same answer again, however the group has changed since
    (A6)."""
    step = Step(env, chosen_group(group, request), now_ms)
    base = step.computation.base or base_of(step.group)
    step.compute_by(step.computation._replace(base=base))
    step.result.response = base.body
    return step.result


def base_of(group: Group) -> Base:
    """BaseOf: the group at this moment. Members and their partitions are sorted, topics by name."""
    metadata = {member_id: member.metadata for member_id, member in sorted(group.members.items())}
    name = selected(metadata)
    members = [_member(group, member_id, metadata[member_id], name) for member_id in metadata]
    return Base(
        epoch=group.epoch,
        subscribed={member["memberId"]: frozenset(member["subscribedTopicIds"]) for member in members},
        partitions={image.id: image.partitions for image in group.metadata.values()},
        body={
            "throttleTimeMs": 0,
            "errorCode": 0,
            "errorMessage": None,
            "groupEpoch": group.epoch,
            "assignorName": name,
            "members": members,
            "topics": topics_to_wire(group.metadata),
        },
    )


def _member(group: Group, member_id: str, metadata: MemberMetadata, name: str) -> Json:
    offer = offer_of(metadata, name)
    if offer is None:
        raise AssertionError(f"{member_id} does not offer {name}, which was selected")
    names = topics_of((metadata.subscription, metadata.regex), frozenset(group.metadata))
    return {
        "memberId": member_id,
        "memberEpoch": group.members[member_id].epoch,
        "instanceId": metadata.instance_id,
        "rackId": metadata.rack_id,
        "subscribedTopicIds": sorted(group.metadata[topic].id for topic in names),
        "assignor": {
            "reason": offer.reason,
            "metadataVersion": offer.metadata_version,
            "metadataBytes": offer.metadata_bytes,
        },
        "topicPartitions": wire.to_wire(group.targets.get(member_id, NO_TARGET).partitions),
    }


def prepare_error(code: ErrorCode, message: str) -> Json:
    """A response with an error and no other data."""
    return {
        **install_error(code, message),
        "groupEpoch": 0,
        "assignorName": "",
        "members": [],
        "topics": [],
    }


def install_error(code: ErrorCode, message: str) -> Json:
    """A response of ConsumerGroupInstallAssignment with an error; the response has no other data."""
    return {"throttleTimeMs": 0, "errorCode": int(code), "errorMessage": message or None}
