"""Modules in which each arm reports to TLC that it was reached.

An arm `e` becomes `(IF ArmReached(7) THEN (e) ELSE FALSE)`. Bullets of lists are read by their columns, so
each word of the module keeps its column; only lines are added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness.coverage.arms import Arm, Place

MODULE: Final = "CoverageArms"
FIRST: Final = "CoverageFirst"
TEXT: Final = f"""---- MODULE {MODULE} ----
LOCAL INSTANCE TLC
LOCAL INSTANCE Naturals
NoArmReached(last) == \\A number \\in 1..last: TLCSet(number, FALSE)
ArmReached(number) ==
  IF TLCGet(number) THEN TRUE ELSE TLCSet(number, TRUE) /\\ PrintT(<<"arm", number>>)
====
"""
"""The module that the others use: it sets TLC's register of an arm, and prints the number once."""
FIRST_TEXT: Final = f"""---- MODULE {FIRST} ----
LOCAL INSTANCE {MODULE}
ASSUME NoArmReached(%d)
====
"""
"""The module that the model's own module extends before all others: its assumption empties the registers 1 to
`%d`. TLC checks assumptions in the order of EXTENDS, and a model's own assumptions may reach arms."""
REACHED: Final = re.compile(r'<<"arm", (\d+)>>')
"""The line that TLC prints when an arm is reached for the first time."""
_EXTENDS: Final = re.compile(r"^EXTENDS\b[^\n]*(?:\n[ \t]+[^\n]*)*", re.MULTILINE)
_HEADER: Final = re.compile(r"^-{4,}.*MODULE.*$", re.MULTILINE)


def instrumented(text: str, arms: Mapping[Arm, int]) -> str:
    """The module's text, in which each of the given arms reports its number."""
    begins: dict[Place, list[int]] = {}
    ends: dict[Place, int] = {}
    for arm in sorted(arms, key=lambda one: (one.begin, tuple(-place for place in one.end))):
        begins.setdefault(arm.begin, []).append(arms[arm])
        after = arm.end[0], arm.end[1] + 1
        ends[after] = ends.get(after, 0) + 1
    lines: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        done = 1
        for column in sorted({place[1] for place in {*begins, *ends} if place[0] == number}):
            lines.append(_padded(line, done, column) + ") ELSE FALSE)" * ends.get((number, column), 0))
            for arm_number in begins.get((number, column), ()):
                lines.append(f"{' ' * (column - 1)}(IF ArmReached({arm_number}) THEN (")
            done = column
        lines.append(_padded(line, done, len(line) + 1))
    return _using(_EXTENDS.search("\n".join(lines)) or _HEADER.search("\n".join(lines)), "\n".join(lines))


def as_root(text: str) -> str:
    """The text of the model's own module, which extends the module that empties the registers."""
    if _EXTENDS.search(text):
        return re.sub(r"^EXTENDS\b", f"EXTENDS {FIRST},", text, count=1, flags=re.MULTILINE)
    return _HEADER.sub(lambda head: f"{head[0]}\nEXTENDS {FIRST}", text, count=1)


def _padded(line: str, begin: int, end: int) -> str:
    """The part of a line between two columns, at its place."""
    return " " * (begin - 1) + line[begin - 1 : end - 1]


def _using(head: re.Match[str] | None, text: str) -> str:
    place = head.end() if head else 0
    return f"{text[:place]}\nLOCAL INSTANCE {MODULE}\n{text[place:]}"
