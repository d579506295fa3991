"""Forms that KIP-848 and Kafka write differently: requests and responses, from one to the other.

KIP-848's version 9 of OffsetCommit and OffsetFetch names topics by id or by name; Kafka's has names, ids came
with its version 10. KIP-848's OffsetFetch names the member once, Kafka's with each group. The assignment of a
heartbeat's response is called assignedTopicPartitions in KIP-848 and topicPartitions in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from coordinator.serve.forms import ASSIGNMENT, FETCHING_MEMBER, to_kip
from coordinator.serve.forms import to_kafka as to_kafka_form
from harness.kinds.registry import APIS
from harness.targets.base import Json
from harness.targets.broker.names import Names, translated

HEARTBEAT: Final = "ConsumerGroupHeartbeat"
COMMIT: Final = "OffsetCommit"
FETCH: Final = "OffsetFetch"
JOIN: Final = "JoinGroup"
CLASSIC: Final = APIS["classic"]
DESCRIBE: Final = "ConsumerGroupDescribe"

Has = Callable[[str, int], bool]
"""Tell if the broker has this version of an API."""


@dataclass(frozen=True, slots=True)
class Form:
    """A request in the broker's form, and those of its topics that the specification names by id."""

    api: str
    version: int
    body: Json
    by_id: dict[str, str]
    """The ids in the specification by names, of topics that only Kafka's request names."""


def versions_of(has: Has) -> dict[str, list[int]]:
    """The first and last version of each API that a target with such a broker has, in KIP-848's count."""
    offers = {
        HEARTBEAT: [[0, 1]] if has(HEARTBEAT, 1) else [[0, 0]] if has(HEARTBEAT, 0) else [],
        COMMIT: [[9, 9]] if has(COMMIT, 9) else [],
        FETCH: [[9, 9]] if has(FETCH, 9) else [],
        DESCRIBE: [[0, version] for version in (1, 0) if has(DESCRIBE, version)][:1],
    }
    return {api: offered[0] for api, offered in offers.items() if offered}


def to_kafka(api: str, version: int, body: Json, names: Names, has: Has) -> Form:
    """A request of the specification in the broker's form. ValueError, in words, where Kafka has no form for
    it."""
    by_id: dict[str, str] = {}
    if api == HEARTBEAT:
        version, body = _heartbeat(version, body, has)
    elif api == COMMIT:
        version, topics, by_id = _topics(api, body.get("topics"), names, has)
        body = {**body, "topics": topics}
    elif api == FETCH:
        version, body, by_id = _fetch(body, names, has)
    return Form(api, version, translated(body, names.to_broker), by_id)


def classic_form(api: str, version: int, body: Json, names: Names) -> Form:
    """A request of a classic group: Kafka's own form; the only name of this run in it is the group's."""
    return Form(api, version, {**body, "groupId": names.group(body["groupId"])}, {})


def from_kafka(form: Form, answer: Json, names: Names) -> Json:
    """The response to that request in the specification's form."""
    if form.api in CLASSIC:
        return _from_classic(form, answer)
    body: Json = translated(answer, names.from_broker)
    if form.api == HEARTBEAT:
        if assignment := body["assignment"]:
            assigned = to_kip(ASSIGNMENT, assignment)
            body["assignment"] = {name: sorted_partitions(topics) for name, topics in assigned.items()}
    elif form.api == COMMIT:
        body["topics"] = _topics_back(form, body["topics"])
    elif form.api == FETCH:
        body["groups"] = [
            {**group, "topics": _topics_back(form, group["topics"])} for group in body["groups"]
        ]
    return body


def _from_classic(form: Form, answer: Json) -> Json:
    if form.api != JOIN:
        return answer
    return {**answer, "members": sorted(answer["members"], key=lambda member: str(member["memberId"]))}


def sorted_partitions(topic_partitions: list[Json]) -> list[Json]:
    """[{"topicId", "partitions"}] in the normal form: by id, then by index."""
    inner = [{**topic, "partitions": sorted(topic["partitions"])} for topic in topic_partitions]
    return sorted(inner, key=lambda topic: str(topic["topicId"]))


def _heartbeat(version: int, body: Json, has: Has) -> tuple[int, Json]:
    """The heartbeat in the broker's version. Kafka's version 0 has no regular expressions. Where there is
    only version 1, as of librdkafka's mock, a subscription of names alone is sent as its own client does:
    with an empty expression."""
    if version > 0 or body.get("subscribedTopicRegex") is not None:
        return 1, body
    if has(HEARTBEAT, 0):
        return 0, {name: value for name, value in body.items() if name != "subscribedTopicRegex"}
    no_regex = None if body.get("subscribedTopicNames") is None else ""
    return 1, {**body, "subscribedTopicRegex": no_regex}


def _fetch(body: Json, names: Names, has: Has) -> tuple[int, Json, dict[str, str]]:
    of_member = to_kafka_form(FETCHING_MEMBER, body)
    groups, version = [], 9
    by_id: dict[str, str] = {}
    for group in body.get("groups", []):
        version, topics, named = _topics(FETCH, group.get("topics"), names, has)
        groups.append({**of_member, **group, "topics": topics})
        by_id |= named
    once = {row.kip for row in FETCHING_MEMBER}
    rest = {name: value for name, value in body.items() if name not in once}
    return version, {**rest, "groups": groups}, by_id


def _topics(
    api: str, topics: list[Json] | None, names: Names, has: Has
) -> tuple[int, list[Json] | None, dict[str, str]]:
    """Kafka's version, its topics, and the ids of those that are named by name because the version has no
    ids."""
    ids = [topic.get("topicId") for topic in topics or []]
    if not any(ids):
        return 9, _without(topics, "topicId"), {}
    if not all(ids) or any(topic.get("name") is not None for topic in topics or []):
        raise ValueError(f"Kafka's {api} names all topics by id, or all by name")
    if has(api, 10):
        return 10, _without(topics, "name"), {}
    # A topic that never existed has no name: the id itself is sent as a name of no topic.
    by_id = {names.topic_of(str(topic_id)) or str(topic_id): str(topic_id) for topic_id in ids}
    if len(by_id) < len(ids):
        raise ValueError(f"{api} of this broker names topics by name, and two of these have the same")
    named = [{**topic, "name": name} for topic, name in zip(topics or [], by_id, strict=True)]
    return 9, _without(named, "topicId"), by_id


def _without(topics: list[Json] | None, field: str) -> list[Json] | None:
    if topics is None:
        return None
    return [{name: value for name, value in topic.items() if name != field} for topic in topics]


def _topics_back(form: Form, topics: list[Json]) -> list[Json]:
    """Topics with name and id, one of them null, in the form of KIP-848's responses."""
    back = []
    for topic in topics:
        name = topic.get("name")
        topic_id = topic.get("topicId") or form.by_id.get(str(name))
        back.append({**topic, "name": None if topic_id else name, "topicId": topic_id})
    return back
