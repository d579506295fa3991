"""The shortest sequence that fails, whatever its items are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hypothesis import given
from hypothesis import strategies as st

from harness.simulate.shrink import shrink


@given(
    items=st.lists(st.integers(0, 9), max_size=40), needed=st.lists(st.integers(0, 9), min_size=1, max_size=4)
)
def test_only_what_is_needed_is_left(items: list[int], needed: list[int]) -> None:
    """A sequence fails if it has some numbers, in this order."""

    def fails(tried: Sequence[int]) -> bool:
        left = iter(tried)
        return all(number in left for number in needed)

    whole = [*items, *needed]
    assert shrink(whole, fails) == needed


def test_two_that_only_go_together_go() -> None:

    def fails(tried: Sequence[str]) -> bool:
        return "x" in tried and ("open" in tried) == ("close" in tried)

    assert shrink(["open", "x", "close"], fails) == ["x"]
    assert shrink(["a", "open", "b", "x", "c", "close"], fails) == ["x"]


def test_ten_of_a_thousand_are_isolated_with_few_questions() -> None:
    questions = 0

    def fails(tried: Sequence[int]) -> bool:
        nonlocal questions
        questions += 1
        return set(range(0, 1000, 100)) <= set(tried)

    assert shrink(range(1000), fails) == list(range(0, 1000, 100))
    assert questions < 1000


def test_items_are_made_simpler() -> None:
    def simpler(number: int) -> Iterator[int]:
        if number:
            yield number - 1

    assert shrink([7, 9, 3], lambda tried: sum(tried) >= 5, simpler=simpler) == [5]


def test_later_steps_may_change_with_those_left_out() -> None:
    """Numbers count up from 1, or it is not such a sequence: leaving one out lowers the ones after it."""

    def without(items: Sequence[int], start: int, end: int) -> Iterator[list[int]]:
        yield [*items[:start], *items[end:]]
        yield [*items[:start], *(number - (end - start) for number in items[end:])]

    def fails(tried: Sequence[int]) -> bool:
        return list(tried) == list(range(1, len(tried) + 1)) and len(tried) >= 3

    assert shrink([1, 2, 3, 4, 5, 6], fails, without) == [1, 2, 3]
