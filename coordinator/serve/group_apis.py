"""APIs of groups: from Kafka's requests in each version to those of the coordinator, and back with the
responses.

The coordinator has one version of each API. A field that an older version lacks gets the schema's default. A
field of a response that a version lacks is left out (`codec.fitted`). Kafka's schemas cannot carry pending
partitions, nor user data of an assignment: the heartbeat's response is sent without both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from coordinator.core.errors import ErrorCode
from coordinator.core.fields import Json
from coordinator.serve.describe_topics import TOPIC
from coordinator.serve.forms import (
    ASSIGNMENT,
    FETCHING_MEMBER,
    GROUP_RESOURCE,
    of_other_type,
    to_kafka,
    to_kip,
)
from coordinator.serve.once import once

OFFSET_FETCH: Final = 9
DESCRIBE_CONFIGS: Final = 32
NO_OFFSET: Final = -1


class GroupApi(NamedTuple):
    """An API of groups. `requests` gives the coordinator's requests for one of Kafka's, `answered` Kafka's
    response for the coordinator's responses; both get Kafka's version. `put_off` answers one of several
    requests that the client is to send again; None where all of them are handled."""

    key: int
    name: str
    version: int
    first: int
    last: int
    requests: Callable[[int, Json], list[Json]]
    answered: Callable[[int, list[Json]], Json]
    put_off: Callable[[Json], Json] | None = None


def _same(_: int, body: Json) -> list[Json]:
    return [body]


def _first(_: int, answers: list[Json]) -> Json:
    return answers[0]


def _with_defaults(**defaults: Any) -> Callable[[int, Json], list[Json]]:
    return lambda _, body: [{**defaults, **body}]


def _heartbeat_answered(_: int, answers: list[Json]) -> Json:
    assignment = answers[0]["assignment"]
    if isinstance(assignment, dict):
        assignment = to_kafka(ASSIGNMENT, assignment)
    return {**answers[0], "assignment": assignment}


def _commit_requests(_: int, body: Json) -> list[Json]:
    return [{name: value for name, value in body.items() if name != "retentionTimeMs"}]


def _commit_answered(_: int, answers: list[Json]) -> Json:
    """Kafka's schema has no null for the name of a topic that the request named by nothing; a topic that it
    named by an id may lack a name."""
    topics = [
        {**topic, "name": ""} if topic.get("name", "") is None else topic for topic in answers[0]["topics"]
    ]
    return {**answers[0], "topics": topics}


def _fetch_requests(version: int, body: Json) -> list[Json]:
    """One request for each group: Kafka names the member with the group, KIP-848 once."""
    requests = []
    for group in [body] if version < 8 else once(body["groups"], lambda one: one["groupId"]):
        member = to_kip(FETCHING_MEMBER, group)
        requests.append({**member, "groups": [{name: group[name] for name in ("groupId", "topics")}]})
    return requests


def _fetch_answered(version: int, answers: list[Json]) -> Json:
    groups = [group for answer in answers for group in answer["groups"]]
    if version < 8:
        return {"topics": groups[0]["topics"], "errorCode": groups[0]["errorCode"]}
    return {"groups": groups}


def refused_fetch(version: int, body: Json, answer: Json) -> Json:
    """Give the error of an OffsetFetch to each partition of the request: version 1 has no other place for the
    error."""
    if version > 1 or not answer["errorCode"]:
        return answer
    nothing = {"committedOffset": NO_OFFSET, "metadata": "", "errorCode": answer["errorCode"]}
    topics = [
        {
            "name": topic["name"],
            "partitions": [{"partitionIndex": index, **nothing} for index in topic["partitionIndexes"]],
        }
        for topic in body["topics"]
    ]
    return {**answer, "topics": topics}


def _sync_requests(_: int, body: Json) -> list[Json]:
    return [{"groupInstanceId": None, "protocolType": None, "protocolName": None, **body}]


def _leave_requests(version: int, body: Json) -> list[Json]:
    if version < 3:
        members = [{"memberId": body["memberId"], "groupInstanceId": None}]
        return [{"groupId": body["groupId"], "members": members}]
    return [body]


def _leave_answered(version: int, answers: list[Json]) -> Json:
    """Versions below 3 have one member, whose error is that of the response."""
    [answer] = answers
    if version < 3 and not answer["errorCode"] and answer.get("members"):
        return {**answer, "errorCode": answer["members"][0]["errorCode"]}
    return answer


def _join_answered(_: int, answers: list[Json]) -> Json:
    """A protocol's name may be null only in version 7 and later."""
    answer = answers[0]
    return {**answer, "protocolName": answer.get("protocolName") or ""}


def _deleted_requests(_: int, body: Json) -> list[Json]:
    """One request for each group, as each is deleted on its own."""
    return [{"groupsNames": [group_id]} for group_id in dict.fromkeys(body["groupsNames"])]


def _deleted(_: int, answers: list[Json]) -> Json:
    return {"results": [result for answer in answers for result in answer["results"]]}


def _not_deleted(body: Json) -> Json:
    """An error after which Kafka's clients look the coordinator up and send the request again."""
    error = int(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return {"results": [{"groupId": group_id, "errorCode": error} for group_id in body["groupsNames"]]}


def _described_requests(_: int, body: Json) -> list[Json]:
    """The requests for configurations of groups; topics are not the coordinator's."""
    others = [of_other_type(one) for one in body["resources"] if one["resourceType"] != TOPIC]
    return [{**body, "resources": others}]


def _configs_requests(_: int, body: Json) -> list[Json]:
    return [{**body, "resources": [of_other_type(one) for one in body["resources"]]}]


def _altered(_: int, answers: list[Json]) -> Json:
    return {**answers[0], "responses": [of_other_type(one) for one in answers[0]["responses"]]}


def _described(_: int, answers: list[Json]) -> Json:
    """Configurations by Kafka's names, which leave out the beginning of the full names."""
    results = [of_other_type(one) for one in answers[0]["results"]]
    for result in results:
        if result["resourceType"] == GROUP_RESOURCE:
            result["configs"] = [
                {**one, "name": one["name"].removeprefix("group.")} for one in result["configs"]
            ]
    return {**answers[0], "results": results}


_JOIN: Final = {"rebalanceTimeoutMs": -1, "groupInstanceId": None, "reason": None}

GROUP_APIS: Final = {
    api.key: api
    for api in (
        GroupApi(8, "OffsetCommit", 9, 2, 10, _commit_requests, _commit_answered),
        GroupApi(OFFSET_FETCH, "OffsetFetch", 9, 1, 10, _fetch_requests, _fetch_answered),
        GroupApi(11, "JoinGroup", 9, 0, 9, _with_defaults(**_JOIN), _join_answered),
        GroupApi(12, "Heartbeat", 4, 0, 4, _with_defaults(groupInstanceId=None), _first),
        GroupApi(13, "LeaveGroup", 5, 0, 5, _leave_requests, _leave_answered),
        GroupApi(14, "SyncGroup", 5, 0, 5, _sync_requests, _first),
        GroupApi(16, "ListGroups", 5, 0, 5, _same, _first),
        GroupApi(DESCRIBE_CONFIGS, "DescribeConfigs", 4, 1, 4, _described_requests, _described),
        GroupApi(42, "DeleteGroups", 2, 0, 2, _deleted_requests, _deleted, _not_deleted),
        GroupApi(44, "IncrementalAlterConfigs", 1, 0, 1, _configs_requests, _altered),
        GroupApi(68, "ConsumerGroupHeartbeat", 0, 0, 1, _same, _heartbeat_answered),
        GroupApi(69, "ConsumerGroupDescribe", 0, 0, 0, _same, _first),
    )
}
"""By Kafka's number of the API. Versions are those that kio has and the coordinator can answer."""
