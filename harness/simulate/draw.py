"""Values from which single fields of operations are drawn."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from harness.kinds.fields import Partition
from harness.replay import wire
from harness.targets.base import Json

NOTHING_REPORTED: Final[Json] = {
    "groupId": wire.GROUP,
    "memberId": "",
    "memberEpoch": 0,
    "instanceId": None,
    "rebalanceTimeoutMs": -1,
    "subscribedTopicNames": None,
    "serverAssignor": None,
    "topicPartitions": None,
}
"""A heartbeat without any optional field (H7)."""
INVALID: Final[tuple[Json, ...]] = (
    {"memberEpoch": -3},
    {"memberEpoch": -2, "instanceId": None},
    {"instanceId": ""},
    {"serverAssignor": "nobodys"},
    {"serverAssignor": ""},
    {"memberId": "", "memberEpoch": 1},
    {"memberEpoch": 0, "rebalanceTimeoutMs": -1},
    {"memberEpoch": 0, "topicPartitions": None},
    {"memberEpoch": 0, "subscribedTopicNames": None},
    {"groupId": ""},
)
"""Changes that make an invalid request of a request (H3, H4)."""


def epoch(rng: random.Random, member: Json) -> int:
    """A member epoch above 0: mostly the member's, or its previous one (H6), or a wrong one."""
    kind, known = rng.random(), member["memberEpoch"]
    if kind < 0.82:
        drawn = known
    elif kind < 0.92:
        drawn = member.get("previousMemberEpoch", known - 1)
    else:
        drawn = known + rng.choice((-1, 1, 2))
    return max(int(drawn), 1)


def timeout_ms(rng: random.Random) -> int:
    """A rebalance time-out: shorter than the session's, as long, longer."""
    return rng.choice((5_000, wire.SESSION_TIMEOUT_MS, wire.REBALANCE_TIMEOUT_MS))


def owned(rng: random.Random, member: Json, topics: Mapping[str, int]) -> list[Json] | None:
    """Draw the partitions that a member reports as owned: nothing, its assignment, fewer, more, or any."""
    kind = rng.random()
    if kind < 0.30:
        return None
    if kind < 0.38:
        return []
    assigned = list(member.get("assigned", ()))
    if kind < 0.70:
        return assigned
    if kind < 0.85:
        return merged(assigned, member.get("pendingRevocation", ()))
    if kind < 0.95:
        return merged([], [part for part in _single(assigned) if rng.random() < 0.5])
    return merged([], [part for part in _single(every(topics)) if rng.random() < 0.3])


def every(topics: Mapping[str, int]) -> list[Json]:
    """All partitions of topics of the specification."""
    return wire.topic_partitions((name, index) for name, count in topics.items() for index in range(count))


def merged(first: Sequence[Json], second: Sequence[Json]) -> list[Json]:
    """The partitions of both lists, sorted."""
    by_topic: dict[str, set[int]] = {}
    for part in (*first, *second):
        by_topic.setdefault(part["topicId"], set()).update(part["partitions"])
    return [{"topicId": topic, "partitions": sorted(by_topic[topic])} for topic in sorted(by_topic)]


def _single(parts: Sequence[Json]) -> list[Json]:
    return [
        {"topicId": part["topicId"], "partitions": [index]} for part in parts for index in part["partitions"]
    ]


def target(
    rng: random.Random,
    members: Mapping[str, Collection[str]],
    held: Mapping[str, Sequence[Json]],
    topics: Mapping[str, int],
) -> dict[str, Any]:
    """A legal target: each partition has at most one member, which subscribes to its topic (A4).

    About half of the held partitions stay in place, so that groups also come to rest.
    """
    holders = {
        (part["topicId"], index): name
        for name, parts in held.items()
        for part in parts
        for index in part["partitions"]
    }
    stays = rng.choice((0.2, 0.6, 1.0))
    given: dict[str, list[Partition]] = {name: [] for name in members}
    for topic, count in topics.items():
        candidates = [name for name in members if wire.topic_name(topic) in members[name]]
        if not candidates:
            continue
        for index in range(count):
            holder = holders.get((wire.topic_id(topic), index))
            if holder in candidates and rng.random() < stays:
                given[holder].append((topic, index))
            elif rng.random() < 0.9:
                given[rng.choice(candidates)].append((topic, index))
    return {name: wire.topic_partitions(parts) for name, parts in given.items()}
