"""Topics with the same subscribers, found without a look at every topic of every member."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def topics_by_subscribers(
    subscriptions: Sequence[frozenset[str]], existing: Collection[str]
) -> list[tuple[list[int], list[str]]]:
    """Each set of subscribers and all its topics that exist, both ascending; in the order of the first topic.

    A subscriber is the position of its subscription. Members that subscribe alike are taken together: a group
    of 10,000 members with 1,000 topics has few subscriptions, but ten million pairs.
    """
    members: dict[frozenset[str], list[int]] = {}
    for number, topics in enumerate(subscriptions):
        members.setdefault(topics, []).append(number)
    alike = list(members.values())
    subscribing: dict[str, list[int]] = {}
    for number, topics in enumerate(members):
        for topic in topics:
            if topic in existing:
                subscribing.setdefault(topic, []).append(number)
    sets: dict[tuple[int, ...], list[str]] = {}
    for topic in sorted(subscribing):
        sets.setdefault(tuple(subscribing[topic]), []).append(topic)
    return [
        (sorted(number for subscription in numbers for number in alike[subscription]), topics)
        for numbers, topics in sets.items()
    ]
