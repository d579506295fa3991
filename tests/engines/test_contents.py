"""Numbers of values: the same in every process, and different for different values."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from frozendict import frozendict
from hypothesis import given
from tla_values import values

from harness.replay.contents import Contents
from harness.values import Value

ROOT = Path(__file__).parents[2]


@given(values, values)
def test_equal_values_and_no_others_have_equal_numbers(one: Value, other: Value) -> None:
    numbers, again = Contents(), Contents()
    again[other]
    assert numbers[one] == again[one]
    assert (numbers[one] == again[other]) == (one == other)


def test_values_that_python_takes_for_equal_have_their_own_numbers() -> None:
    numbers = Contents()
    assert numbers[(True, frozenset({1}))] == numbers[(1, frozenset({True}))]
    alike: list[Any] = [
        -1,
        -2,
        "-1",
        (),
        frozenset(),
        None,
        "",
        (-1,),
        ((-1,),),
        frozenset({-1}),
        frozenset({-2}),
    ]
    alike += [("a", "b"), ("ab",), frozendict(a="b"), frozendict(b="a"), frozenset({("a", "b")})]
    assert len({numbers[value] for value in alike}) == len(alike)


def test_numbers_do_not_depend_on_the_seed_of_hashes() -> None:
    code = "from harness.replay.contents import Contents; print(Contents()[frozenset({'a', 'b', ('c', 1)})])"
    content = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(content) == 1
