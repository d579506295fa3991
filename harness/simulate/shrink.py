"""Delta debugging: the shortest sequence that still fails by an oracle.

This module does not know the kind of the items: operations of a schedule, steps of a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Final, TypeAlias, TypeVar

Item = TypeVar("Item")
Fails: TypeAlias = Callable[[Sequence[Item]], bool]
"""Tell if a sequence still fails in the relevant way."""
FEW: Final = 20
"""The largest number of items of which all pairs are tried."""


def plainly(items: Sequence[Item], start: int, end: int) -> Iterable[list[Item]]:
    """The one way to leave out the items from `start` to `end` if they do not depend on each other."""
    return ([*items[:start], *items[end:]],)


def unchanged(item: Item) -> Iterable[Item]:
    """Nothing: no item is simpler."""
    return ()


def shrink(
    items: Sequence[Item],
    fails: Fails[Item],
    without: Callable[[Sequence[Item], int, int], Iterable[list[Item]]] = plainly,
    simpler: Callable[[Item], Iterable[Item]] = unchanged,
) -> list[Item]:
    """A sequence that fails, of which no single item can be left out or made simpler, and of a few no two.

    `items` must fail. `without` gives the alternatives to leaving some items out, `simpler` the simpler items
    for an item's place. The oracle decides if half of the items can go, then smaller parts, at last each
    alone, and all of it again until nothing can go.
    """
    kept = list(items)
    while True:
        before = kept
        kept = _simplified(_without_pairs(_shorter(kept, fails, without), fails, without), fails, simpler)
        if kept == before:
            return kept


def _shorter(
    items: list[Item],
    fails: Fails[Item],
    without: Callable[[Sequence[Item], int, int], Iterable[list[Item]]],
) -> list[Item]:
    size = max(len(items) // 2, 1)
    while True:
        start, removed = len(items) - size, False
        while start > -size:
            first = max(start, 0)
            found = next((one for one in without(items, first, start + size) if fails(one)), None)
            if found is not None:
                items, removed = found, True
            start -= size
        if size == 1 and not removed:
            return items
        size = max(size // 2, 1)


def _without_pairs(
    items: list[Item],
    fails: Fails[Item],
    without: Callable[[Sequence[Item], int, int], Iterable[list[Item]]],
) -> list[Item]:
    """The sequence without pairs, such as a join and a leave, which only go together."""
    if len(items) > FEW:
        return items
    for first, second in combinations(range(len(items)), 2):
        for one in without(items, second, second + 1):
            for both in without(one, first, first + 1):
                if fails(both):
                    return _without_pairs(both, fails, without)
    return items


def _simplified(
    items: list[Item], fails: Fails[Item], simpler: Callable[[Item], Iterable[Item]]
) -> list[Item]:
    for index in range(len(items)):
        retry = True
        while retry:
            retry = False
            for other in simpler(items[index]):
                tried = [*items[:index], other, *items[index + 1 :]]
                if fails(tried):
                    items, retry = tried, True
                    break
    return items
