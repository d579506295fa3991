"""Things that a request names several times: each is answered once.

A frame of some kB could otherwise name a topic with many partitions a hundred times. As in Kafka's Fetch and
Metadata, the answer has the place of the first mention; where mentions differ, the last one counts.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from coordinator.core.fields import Json


def once(items: Iterable[Json], key: Callable[[Json], Hashable]) -> list[Json]:
    """The items without those of which a later one has the same key."""
    return list({key(one): one for one in items}.values())


def partitions_once(topics: Iterable[Json], index: str) -> list[Json]:
    """The topics of a request by name or id, each with all its partitions, which `index` numbers."""
    merged: dict[Hashable, tuple[Json, list[Json]]] = {}
    for topic in topics:
        _, partitions = merged.setdefault((topic.get("topic"), topic.get("topicId")), (topic, []))
        partitions += topic["partitions"]
    return [
        {**topic, "partitions": once(partitions, lambda one: one[index])}
        for topic, partitions in merged.values()
    ]
