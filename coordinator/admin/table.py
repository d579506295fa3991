"""Tables of text, as kafka-consumer-groups prints them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coordinator.core.fields import Json


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as their widest cell; an empty cell shows "-"."""
    lines = [[*columns], *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(columns))]
    return "".join(f"{'  '.join(map(str.ljust, line, widths)).rstrip()}\n" for line in lines)


def _cell(value: object) -> str:
    return "-" if value is None or value == "" else str(value)


def partitions(assignment: Json | None) -> str:
    """An assignment as foo-0, foo-1, or A, A-1 for connectors and tasks; "" where the assignment is not
    known."""
    given = assignment or {}
    names = [
        f"{topic['topicName'] or topic['topicId']}-{index}"
        for topic in given.get("topicPartitions", ())
        for index in topic["partitions"]
    ]
    for work in given.get("connectorsAndTasks", ()):
        names += [*work["connectors"], *(f"{task['connectorId']}-{task['taskId']}" for task in work["tasks"])]
    return ", ".join(sorted(names))
