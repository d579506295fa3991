"""Shrinking with an oracle that answers many questions at once faster than one by one.

`harness.simulate.shrink` asks one question after the other. Here it is run again and again with the known
answers. A question beyond them is noted, and counts as "no" for the moment, then in another run as "yes",
until there are enough questions to be answered together. When it asks nothing more, all its answers were true
ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Generic, TypeAlias, TypeVar

from harness.simulate.shrink import shrink, unchanged

Item = TypeVar("Item")
Answer: TypeAlias = Callable[[Sequence[Sequence[Item]]], Sequence[bool]]
"""Answers for several sequences: does each still fail in the relevant way?"""


class _Enough(Exception):
    """There are enough questions."""


class _Guess(Generic[Item]):
    """An oracle that knows some answers, assumes all others, and notes their questions."""

    def __init__(self, known: dict[tuple[Item, ...], bool], assumed: bool, at_once: int) -> None:
        self._known, self._assumed, self._left = known, assumed, at_once
        self.asked: dict[tuple[Item, ...], None] = {}

    def __call__(self, sequence: Sequence[Item]) -> bool:
        question = tuple(sequence)
        if question in self._known:
            return self._known[question]
        if question not in self.asked:
            if self._left <= 0:
                raise _Enough
            self._left -= len(question)
            self.asked[question] = None
        return self._assumed


def shrink_together(
    items: Sequence[Item],
    answer: Answer[Item],
    at_once: int,
    simpler: Callable[[Item], Iterable[Item]] = unchanged,
) -> list[Item]:
    """The result of `shrink`, for hashable items; `answer` gets questions of about `at_once` items in all."""
    known: dict[tuple[Item, ...], bool] = {(): False}
    while True:
        wanted: dict[tuple[Item, ...], None] = {}
        shortest = list(items)
        for assumed in (True, False):
            guess = _Guess(known, assumed, at_once)
            with suppress(_Enough):
                shortest = shrink(items, guess, simpler=simpler)
            wanted |= guess.asked
        if not wanted:
            return shortest
        questions = list(wanted)
        known.update(zip(questions, answer(questions), strict=True))
