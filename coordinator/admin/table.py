"""Tables of text, as kafka-consumer-groups prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coordinator.core.fields import Json


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as what is in them; "-" where nothing is."""
    lines = [[*columns], *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    return "".join(f"{'  '.join(map(str.ljust, line, widths)).rstrip()}\n" for line in lines)


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def partitions(assignment: Json) -> str:
    """An assignment of ConsumerGroupDescribe, as foo-0, foo-1."""
    names = [
        f"{topic['topicName'] or topic['topicId']}-{index}"
        for topic in assignment["topicPartitions"]
        for index in topic["partitions"]
    ]
    return ", ".join(sorted(names))
