"""Shrinking with questions that are answered together: the result of `shrink`, in few runs of the oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from harness.shrink.ask import shrink_together
from harness.simulate.shrink import shrink

Fails = Callable[[Sequence[int]], bool]
ORACLES: list[Fails] = [
    lambda items: 3 in items and 17 in items,
    lambda items: sum(items) >= 40,
    lambda items: sum(item % 2 for item in items) >= 4 and 30 in items,
    lambda items: list(items[-1:]) == [31] and len(items) % 2 == 0,
    lambda items: 5 in items,
]


def halves(item: int) -> Iterator[int]:
    if item > 8:
        yield item // 2


@pytest.mark.parametrize("fails", ORACLES)
@pytest.mark.parametrize("at_once", [1, 40, 10_000])
def test_gives_what_one_question_after_the_other_gives(fails: Fails, at_once: int) -> None:
    items = list(range(32))
    request: list[tuple[int, ...]] = []

    def answer(questions: Sequence[Sequence[int]]) -> list[bool]:
        request.extend(tuple(question) for question in questions)
        return [fails(question) for question in questions]

    assert shrink_together(items, answer, at_once, halves) == shrink(items, fails, simpler=halves)
    assert len(request) == len(set(request))


def test_few_runs_of_the_oracle() -> None:
    runs = 0

    def answer(questions: Sequence[Sequence[int]]) -> list[bool]:
        nonlocal runs
        runs += 1
        return [3 in question and 17 in question for question in questions]

    assert shrink_together(list(range(64)), answer, 10_000) == [3, 17]
    assert runs <= 12
