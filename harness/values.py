"""TLA+ values as immutable Python values.

| TLA+                          | Python                                       |
|-------------------------------|----------------------------------------------|
| integer, boolean, string      | `int`, `bool`, `str`                         |
| model value                   | `ModelValue` (equal to the string of its name) |
| tuple, sequence               | `tuple`                                      |
| set                           | `frozenset`                                  |
| record, function              | `frozendict`                                 |

Equal TLA+ values become equal Python values, whichever engine printed them: a function whose domain is
`1..n` *is* a sequence, so it becomes a tuple (`function` does that), and the empty function, the empty
record and the empty sequence are all `()`. Read a function that may be empty with `as_function`.
The one exception: Python's `True == 1`, so `{TRUE, 1}` (which TLC refuses to compute) would collapse.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

from frozendict import frozendict

Value: TypeAlias = "int | bool | str | tuple[Value, ...] | frozenset[Value] | frozendict[Value, Value]"
State: TypeAlias = "frozendict[str, Value]"
"""One state: variable name -> value."""


class ModelValue(str):
    """A model value of TLC. Apalache writes model values as strings, so it equals the string of its name."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"ModelValue({str(self)!r})"


def function(items: Mapping[Any, Value]) -> Value:
    """Return the function (or record) with these arguments and results: a tuple if its domain is 1..n."""
    size = len(items)
    if 1 not in items and size:
        return frozendict(items)
    if all(type(key) is int and 1 <= key <= size for key in items):
        return tuple(items[index] for index in range(1, size + 1))
    return frozendict(items)


def as_function(value: Value) -> frozendict[Any, Value]:
    """Return a function, record or sequence as a mapping: argument -> result. TypeError for other values."""
    if isinstance(value, frozendict):
        return value
    if isinstance(value, tuple):
        return frozendict(enumerate(value, start=1))
    raise TypeError(f"{value!r} is not a function")


def sort_key(value: Value) -> tuple[Any, ...]:
    """A key that puts any TLA+ values into one total order, the same in every process."""
    if isinstance(value, bool):
        return (1, value)
    if isinstance(value, int):
        return (0, value)
    if isinstance(value, str):
        return (2, str(value))
    if isinstance(value, tuple):
        return (3, tuple(sort_key(item) for item in value))
    if isinstance(value, frozenset):
        return (4, len(value), tuple(sorted(sort_key(item) for item in value)))
    return (5, len(value), tuple(sorted((sort_key(k), sort_key(v)) for k, v in value.items())))


def is_field(name: str) -> bool:
    """Tell if TLC prints a function of this string as a record: `_`s, a letter, then letters, digits, `_`."""
    return _FIELD.fullmatch(name) is not None


_FIELD = re.compile("_*[A-Za-z][A-Za-z0-9_]*")
