"""Numbers for values: equal values have equal numbers, in every process.

Distinct steps are counted across the processes of `conform replay --jobs`, none of which has the values of
another. Equal means equal to Python, for which True is 1, as everywhere in the harness.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

from frozendict import frozendict


class Contents(dict[Hashable, int]):
    """Value -> its number, computed at the first use: numbers[value].

    Values are those of TLA+, None, and tuples and frozen dataclasses of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[Hashable, bytes] = {}
        """The digests of parts: the same names, numbers and sets are in nearly every value."""

    def __missing__(self, value: Hashable) -> int:
        number = self[value] = int.from_bytes(self._made(value))
        return number

    def _digest(self, value: Hashable) -> bytes:
        digest = self._parts.get(value)
        if digest is None:
            digest = self._parts[value] = self._made(value)
        return digest

    def _made(self, value: Any) -> bytes:
        if isinstance(value, str):
            return _hashed(b"s", value.encode("utf-8", "surrogatepass"))
        if isinstance(value, int):
            return _hashed(b"i", str(int(value)).encode())
        if value is None:
            return _hashed(b"n")
        if isinstance(value, tuple):
            return _hashed(b"t", *map(self._digest, value))
        if isinstance(value, frozenset):
            return _hashed(b"f", *sorted(map(self._digest, value)))
        if isinstance(value, frozendict):
            pairs = [self._digest(key) + self._digest(item) for key, item in value.items()]
            return _hashed(b"d", *sorted(pairs))
        if is_dataclass(value):
            kind: type = type(value)
            of = [self._digest(getattr(value, name)) for name in _names(kind)]
            return _hashed(b"c", kind.__name__.encode(), *of)
        raise TypeError(f"{value!r} has no number")


@cache
def _names(kind: Callable[..., object]) -> tuple[str, ...]:
    """The fields of such a dataclass."""
    assert is_dataclass(kind)
    return tuple(one.name for one in fields(kind))


def _hashed(kind: bytes, *parts: bytes) -> bytes:
    """A hash of parts; parts of one length, or one part alone, are not ambiguous."""
    return blake2b(b"".join((kind, *parts)), digest_size=16).digest()


class Uncounted(Contents):
    """Numbers for callers that count no inputs: 0 for every value."""

    def __getitem__(self, value: Hashable) -> int:
        return 0
