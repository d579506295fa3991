"""Fields of the specification's records, read by name and type.

A trace of another specification ends here with a sentence that names the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

from frozendict import frozendict

from harness.errors import ConformError
from harness.values import Value, as_function

Partition: TypeAlias = tuple[str, int]
"""Topic and index, the specification's <<"foo", 0>>. A topic is an id (T2); `wire.topic_name` is its name."""
T = TypeVar("T")
A = TypeVar("A")


class BadField(ValueError):
    """A field that is missing or of another type, in words."""


class Fields:
    """A record of the specification whose fields are read by name and type. BadField for a missing field or
    another type."""

    def __init__(self, raw: Value, path: str) -> None:
        if not isinstance(raw, frozendict):
            raise BadField(f"{path} must be a record, not {raw!r}")
        self.raw: frozendict[Any, Value] = raw
        self.path = path

    def get(self, name: str, kind: type[T]) -> T:
        if name not in self.raw:
            raise BadField(f'{self.path} has no field "{name}"')
        return typed(self.raw[name], kind, f"{self.path}.{name}")

    def get_or(self, name: str, kind: type[T], default: T) -> T:
        """A field that older traces do not have."""
        return self.get(name, kind) if name in self.raw else default

    def record(self, name: str) -> Fields:
        return Fields(self.get(name, frozendict), f"{self.path}.{name}")

    def function(self, name: str) -> frozendict[Any, Value]:
        if name not in self.raw:
            raise BadField(f'{self.path} has no field "{name}"')
        return read_function(self.raw[name], f"{self.path}.{name}")

    def records(self, name: str, key: str) -> list[Fields]:
        """The records of a function from names to records, each with its name as the field `key`."""
        path = f"{self.path}.{name}"
        there = [
            (typed(one, str, path), Fields(raw, f"{path}[{one}]")) for one, raw in self.function(name).items()
        ]
        return [Fields(one.raw.set(key, name), one.path) for name, one in there]

    def metadata(self, name: str) -> dict[str, int]:
        """Number of partitions of each topic; topics without partitions are left out."""
        counts = counts_in(self.function(name), f"{self.path}.{name}")
        return {topic: count for topic, count in counts.items() if count > 0}

    def names(self, name: str) -> frozenset[str]:
        return names_in(self.get(name, frozenset), f"{self.path}.{name}")

    def option(self, name: str, kind: type[T]) -> T | None:
        """A set of at most one element: {} is None."""
        return self._one(self.get(name, frozenset), name, kind)

    def option_or_none(self, name: str, kind: type[T]) -> T | None:
        """An option that older traces do not have."""
        return self._one(self.get_or(name, frozenset, _NOTHING), name, kind)

    def _one(self, values: frozenset[Any], name: str, kind: type[T]) -> T | None:
        if len(values) > 1:
            raise BadField(f"{self.path}.{name} must have at most one element, not {len(values)}")
        for value in values:
            return typed(value, kind, f"{self.path}.{name}")
        return None

    def partition(self, name: str) -> Partition | None:
        """At most one partition; older traces have none."""
        raw = self.option_or_none(name, tuple)
        return None if raw is None else partition_in(raw, f"{self.path}.{name}")

    def partitions(self, name: str) -> frozenset[Partition]:
        return partitions_in(self.get(name, frozenset), f"{self.path}.{name}")


_NOTHING: frozenset[Any] = frozenset()


def typed(value: Any, kind: type[T], path: str) -> T:
    # bool is an int to Python, but not to TLA+.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadField(f"{path} must be {_KINDS[kind]}, not {value!r}")
    return value


_KINDS = {
    int: "an integer",
    str: "a string",
    bool: "a boolean",
    frozenset: "a set",
    frozendict: "a record",
    tuple: "a tuple",
}


def read_function(raw: Value, path: str) -> frozendict[Any, Value]:
    """A function of the specification. BadField for another value."""
    try:
        return as_function(raw)
    except TypeError:
        raise BadField(f"{path} must be a function, not {raw!r}") from None


def value_at(function: frozendict[Any, Value], key: str, path: str) -> Value:
    """The value of a function for a key. BadField if the function has none."""
    if key not in function:
        raise BadField(f"{path} has no value for {key!r}")
    return function[key]


def partition_in(raw: Any, path: str) -> Partition:
    if isinstance(raw, tuple) and len(raw) == 2:
        return typed(raw[0], str, path), typed(raw[1], int, path)
    raise BadField(f"{path} must have partitions like <<topic, index>>, not {raw!r}")


def partitions_in(raw: frozenset[Any], path: str) -> frozenset[Partition]:
    for item in raw:
        partition_in(item, path)
    return raw


def names_in(raw: frozenset[Any], path: str) -> frozenset[str]:
    return frozenset(typed(item, str, path) for item in raw)


def counts_in(raw: Value, path: str) -> dict[str, int]:
    return {
        typed(topic, str, path): typed(count, int, f"{path}[{topic}]")
        for topic, count in read_function(raw, path).items()
    }


def committed_offsets(raw: Value) -> dict[Partition, int]:
    """The committed offsets (O1); -1 stands for none."""
    offsets = {
        partition_in(partition, "offsets"): typed(offset, int, f"offsets[{partition}]")
        for partition, offset in read_function(raw, "offsets").items()
    }
    return {partition: offset for partition, offset in offsets.items() if offset >= 0}


def partition_epochs(raw: Value) -> dict[str, dict[Partition, int]]:
    """The member epoch at which each member was given each partition (O2); 0 where the member has none."""
    return {
        typed(member, str, "partitionEpochs"): {
            partition_in(partition, "partitionEpochs"): typed(epoch, int, f"partitionEpochs[{member}]")
            for partition, epoch in read_function(given, f"partitionEpochs[{member}]").items()
        }
        for member, given in read_function(raw, "partitionEpochs").items()
    }


def read_states(states: Iterable[A], name: str, read: Callable[[A], T]) -> list[T]:
    """All states of the trace `name`. ConformError (exit 2) with the first field that is missing or of
    another type."""
    result = []
    for index, state in enumerate(states):
        try:
            result.append(read(state))
        except BadField as error:
            raise ConformError(f"{name}, state {index}: {error}.") from None
    return result


@contextmanager
def drawing(name: str) -> Iterator[None]:
    """Draw values of states that no reader has checked. ConformError (exit 2) where the drawing raises an
    error of Python: a variable has other values than those of the specification, or the kit is at fault."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as error:
        what = str(error) if isinstance(error, BadField) else f"{type(error).__name__}: {error}"
        raise ConformError(
            f"{name} cannot be drawn ({what}). Either a variable has other values than the specification "
            "gives it, or this is a fault of the kit: then please report the fault with this sentence."
        ) from error
