"""The compact notation of partitions: `foo-0` is one, `foo-0..2` are foo-0, foo-1 and foo-2."""

from __future__ import annotations

import re
from collections.abc import Iterable

from harness.kinds.fields import Partition

_ITEM = re.compile(r"(?P<topic>\S+)-(?P<first>\d{1,9})(?:\.\.(?P<last>\d{1,9}))?")
_MOST = 100_000
"""The most partitions that one item may stand for: a typing error must not fill the memory."""


def parse_partition(text: str) -> Partition:
    """One partition. ValueError, in words."""
    match = _ITEM.fullmatch(text)
    if match is None or match["last"] is not None:
        raise ValueError(f"{text!r} is not a partition: write topic-index, as in foo-0")
    return match["topic"], int(match["first"])


def parse_partitions(items: Iterable[str]) -> frozenset[Partition]:
    """All partitions of a list of items. ValueError, in words, for a wrong item or one given twice."""
    partitions: set[Partition] = set()
    for item in items:
        match = _ITEM.fullmatch(item)
        if match is None:
            raise ValueError(f"{item!r} is no partition: write foo-0, or foo-0..2 for foo-0, foo-1 and foo-2")
        first, last = int(match["first"]), int(match["last"] or match["first"])
        if not first <= last < first + _MOST:
            raise ValueError(f"{item!r} must count upwards, over at most {_MOST:,} partitions")
        for index in range(first, last + 1):
            if (match["topic"], index) in partitions:
                raise ValueError(f"{match['topic']}-{index} is there twice")
            partitions.add((match["topic"], index))
    return frozenset(partitions)


def format_partitions(partitions: Iterable[Partition]) -> list[str]:
    """The shortest items, in order: three and more neighbours are written as a range."""
    runs: list[tuple[str, int, int]] = []
    for topic, index in sorted(partitions):
        if runs and runs[-1][0] == topic and runs[-1][2] == index - 1:
            runs[-1] = (topic, runs[-1][1], index)
        else:
            runs.append((topic, index, index))
    return [item for run in runs for item in _items(*run)]


def _items(topic: str, first: int, last: int) -> list[str]:
    if last - first >= 2:
        return [f"{topic}-{first}..{last}"]
    return [f"{topic}-{index}" for index in range(first, last + 1)]
