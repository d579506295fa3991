"""Commits and fetches of random schedules (O1, O2, O4): of existing partitions, by topic id."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, TypeAlias

from harness.kinds.fields import Partition
from harness.replay import wire
from harness.simulate import draw
from harness.targets.base import Json

Sender: TypeAlias = tuple[str, int]
"""A member id and the epoch in its request."""
EPOCH: Final = "generationIdOrMemberEpoch"
"""The field with the epoch."""
NO_MEMBER: Final[Sender] = "", -1
"""The sender that is not a member: a consumer with partitions assigned by hand, or an administrator."""
TOO_LONG: Final = "m" * 4097
"""Metadata that is refused, by Kafka's default (offset.metadata.max.bytes)."""


def epoch(rng: random.Random, member: Json, group_epoch: int) -> int:
    """Draw the epoch of a commit or fetch: mostly the epoch of the member, or an older epoch, perhaps older
    than the partitions that the member holds."""
    kind, known = rng.random(), int(member["memberEpoch"])
    if kind < 0.35:
        return known
    if kind < 0.88:
        latest = known if known > 0 else max(group_epoch, 1)
        return rng.randint(max(latest - 4, 1), latest)
    return rng.choice((known + 1, 0, -1, -2))


def partitions(rng: random.Random, held: Sequence[Json], topics: Mapping[str, int]) -> list[Partition]:
    """(topic id, index), sorted: all partitions that a member holds, or one or two, or any existing ones."""
    there = _each(draw.every(topics))
    own = [one for one in _each(held) if one in there]
    kind = rng.random()
    if own and kind < 0.20:
        return sorted(own)
    source = own if own and kind < 0.80 else there
    return sorted(rng.sample(source, min(rng.choice((1, 1, 2, 3)), len(source))))


def _each(parts: Sequence[Json]) -> list[Partition]:
    return [(part["topicId"], index) for part in parts for index in part["partitions"]]


def commit(rng: random.Random, sender: Sender, instance: str | None, chosen: Sequence[Partition]) -> Json:
    """An OffsetCommit of these partitions."""
    member, at = sender
    body = {
        "groupId": wire.GROUP,
        EPOCH: at,
        "memberId": member,
        "groupInstanceId": instance,
        "topics": [
            {"name": None, "topicId": topic, "partitions": [_committed(rng, index) for _, index in parts]}
            for topic, parts in groupby(chosen, key=itemgetter(0))
        ],
    }
    return _request(wire.COMMIT, member, body)


def _committed(rng: random.Random, index: int) -> Json:
    return {
        "partitionIndex": index,
        "committedOffset": rng.randint(0, 20),
        "committedLeaderEpoch": rng.choice((-1, 0, 3)),
        "committedMetadata": TOO_LONG if rng.random() < 0.02 else rng.choice(("", "", "m")),
    }


def fetch(sender: Sender, chosen: Sequence[Partition]) -> Json:
    """An OffsetFetch of these partitions."""
    member, at = sender
    topics = [
        {"name": None, "topicId": topic, "partitionIndexes": [index for _, index in parts]}
        for topic, parts in groupby(chosen, key=itemgetter(0))
    ]
    body = {
        EPOCH: at,
        "memberId": member,
        "groups": [{"groupId": wire.GROUP, "topics": topics}],
        "requireStable": False,
    }
    return _request(wire.FETCH, member, body)


def _request(api: str, member: str, body: dict[str, Any]) -> Json:
    return {"op": "request", "api": api, "client": wire.client(member or "x"), "body": body}


# Operations that were drawn


def is_drawn(request: Json) -> bool:
    """Tell if a request is a commit or a fetch."""
    return request["api"] in _LISTS


def partitions_of(request: Json) -> set[Partition]:
    """The partitions that the request commits or fetches."""
    name = _LISTS[request["api"]]
    return {(topic["topicId"], _index(one)) for topic in _topics(request) for one in topic[name]}


def of_those(request: Json, kept: Collection[Partition]) -> Json:
    """The request with only these partitions, perhaps with none."""
    name = _LISTS[request["api"]]
    topics = [
        {**topic, name: left}
        for topic in _topics(request)
        if (left := [one for one in topic[name] if (topic["topicId"], _index(one)) in kept])
    ]
    body = request["body"]
    if request["api"] == wire.COMMIT:
        return {**request, "body": {**body, "topics": topics}}
    return {**request, "body": {**body, "groups": [{**body["groups"][0], "topics": topics}]}}


_LISTS: Final = {wire.COMMIT: "partitions", wire.FETCH: "partitionIndexes"}


def _topics(request: Json) -> Iterable[Json]:
    body = request["body"]
    topics: Iterable[Json] = (body if request["api"] == wire.COMMIT else body["groups"][0])["topics"]
    return topics


def _index(partition: Any) -> int:
    return int(partition["partitionIndex"] if isinstance(partition, dict) else partition)
