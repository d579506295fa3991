"""Numbers for values: equal values have equal numbers, in every process.

Distinct steps are counted across the processes of `conform replay --jobs`, none of which has the values of
another. Equal means equal to Python, for which True is 1, as everywhere in the harness.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from typing import Any

from frozendict import frozendict


class Contents(dict[Hashable, int]):
    """Value -> its number, computed when it is first asked for: numbers[value].

    Values are those of TLA+, None, and tuples and frozen dataclasses of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[Hashable, bytes] = {}

    def __missing__(self, value: Hashable) -> int:
        number = self[value] = int.from_bytes(self._digest(value))
        return number

    def _digest(self, value: Any) -> bytes:
        if isinstance(value, str):
            return _hashed(b"s", value.encode("utf-8", "surrogatepass"))
        if isinstance(value, int):
            return _hashed(b"i", str(int(value)).encode())
        if value is None:
            return _hashed(b"n")
        if isinstance(value, tuple):
            return _hashed(b"t", *map(self._digest, value))
        if isinstance(value, (frozenset, frozendict)):  # they know their hash, so that asking costs little
            found = self._parts.get(value)
            if found is None:
                found = self._parts[value] = self._unordered(value)
            return found
        if is_dataclass(value):
            of = (self._digest(getattr(value, one.name)) for one in fields(value))
            return _hashed(b"c", type(value).__name__.encode(), *of)
        raise TypeError(f"{value!r} has no number")

    def _unordered(self, value: frozenset[Any] | frozendict[Any, Any]) -> bytes:
        if isinstance(value, frozenset):
            return _hashed(b"f", *sorted(map(self._digest, value)))
        pairs = ((key, item) for key, item in value.items())
        return _hashed(b"d", *sorted(self._digest(key) + self._digest(item) for key, item in pairs))


def _hashed(kind: bytes, *parts: bytes) -> bytes:
    """Of parts of one length, or of one part, nothing is ambiguous."""
    return blake2b(b"".join((kind, *parts)), digest_size=16).digest()
