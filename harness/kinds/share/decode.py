"""From a trace of a share group to prepared steps: the requests, and the expected answers."""

from __future__ import annotations

from typing import Final

from harness.kinds.features.sessions import SessionDecoding, SessionLoad, Written, decoder_of, events
from harness.kinds.rows import record_of
from harness.kinds.share.description import SHARE
from harness.kinds.share.state import REQUESTS, ShareGroup, ShareMember, ShareReader, ShareState, ShareStep
from harness.replay import wire
from harness.replay.calls import Call, SendRequest
from harness.targets.base import Json


def _request(before: ShareState, after: ShareState) -> Call:
    request, member = after.step.request, after.step.member
    names = None if request.subscription is None else sorted(request.subscription)
    body = {"memberId": member, "memberEpoch": request.epoch, "rackId": None, "subscribedTopicNames": names}
    return SendRequest(SHARE.api, wire.client(member), {"groupId": wire.GROUP, **body})


_partitions: Final = wire.expected_partitions
HANDLERS: Final = events("Share") | dict.fromkeys(REQUESTS, _request)


def _metadata_json(one: ShareMember) -> Json:
    client = {"rackId": None, "clientId": wire.client_id(one.member), "clientHost": wire.CLIENT_HOST}
    return {**client, "subscribedTopicNames": sorted(one.subscription)} if one.epoch else {}


def _current(one: ShareMember) -> Json:
    epochs = {"memberEpoch": one.epoch, "previousMemberEpoch": one.previous_epoch, "state": 0}
    return {**epochs, "assignedPartitions": _partitions(one.assigned)}


_RECORDS: Final = Written[ShareGroup](
    "ShareGroup",
    (
        ("MemberMetadata", True, _metadata_json),
        ("PartitionMetadata", False, lambda group: {"topics": wire.metadata(dict(group.metadata))}),
        ("Metadata", False, lambda group: {"epoch": group.epoch}),
        ("TargetAssignmentMember", True, lambda one: {"topicPartitions": _partitions(one.target)}),
        ("TargetAssignmentMetadata", False, lambda group: {"assignmentEpoch": group.assignment_epoch}),
        ("CurrentMemberAssignment", True, _current),
    ),
    ShareMember("", 0, 0, frozenset(), frozenset(), frozenset()),
    ("TargetAssignmentMetadata", "PartitionMetadata", "Metadata"),
)
"""Q8: the values of records."""


class ShareLoad(SessionLoad[ShareGroup, ShareStep]):
    """A whole state."""

    name = SHARE.name
    records_of = _RECORDS
    none = ShareGroup(0, 0, frozenset(), frozenset())


class ShareDecoding(SessionDecoding[ShareGroup, ShareStep]):
    """A trace of a share group."""

    handlers = frozenset(HANDLERS)
    api = SHARE.api
    kind = SHARE.name
    load = ShareLoad
    calls = HANDLERS

    def described(self, group: ShareGroup) -> Json:
        """The description; a group that does not exist has only its epochs."""
        shown: Json = {
            "groupId": wire.GROUP,
            "state": group.title,
            "groupEpoch": group.epoch,
            "assignmentEpoch": group.assignment_epoch,
            "metadata": wire.metadata(dict(group.metadata)),
            "members": [record_of(ShareMember).described(one, wire.SHOWN) for one in group.named.values()],
        }
        return {**shown, "type": SHARE.name} if group.epoch else shown

    def body(self, after: ShareState) -> Json:
        """The body of the response: Q5, Q7, and of DeleteGroups."""
        step, answer = after.step, after.step.response
        assignment = None if answer.assigned is None else {"topicPartitions": _partitions(answer.assigned)}
        return {
            **{"throttleTimeMs": 0, "errorCode": wire.ERROR_CODES[step.error], "errorMessage": None},
            "memberId": step.member if step.error == "NONE" else None,
            "memberEpoch": answer.epoch,
            "heartbeatIntervalMs": wire.HEARTBEAT_INTERVAL_MS if answer.epoch > 0 else 0,
            "assignment": assignment,
        }


share_decoder: Final = decoder_of(ShareReader, ShareDecoding)
