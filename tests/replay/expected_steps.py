"""Steps of a hand-written behaviour, and failures on a target, for the tests of the replay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spec_model import Model

from harness.replay import wire
from harness.replay.decode import Decoder
from harness.replay.prepared import DecodedTrace, Step
from harness.replay.run import Failure, Replayer
from harness.replay.wire import KEY_NUMBERS
from harness.targets.python import PythonTarget

FOO = frozenset({"foo"})


def decoded(model: Model) -> DecodedTrace:
    return Decoder().decode(model.trace(), "a trace")


def steps(model: Model) -> list[Step]:
    return decoded(model).steps


def kinds(step: Step) -> list[str]:
    """The key number and member of each record, with - for tombstones."""
    return [
        f"{'-' if record['value'] is None else ''}{KEY_NUMBERS[record['key']['type']]}"
        f"{record['key'].get('memberId', '')}"
        for record in step.expected.records
    ]


def wire_partitions(*indexes: int) -> list[Any]:
    """Partitions of foo."""
    return [{"topicId": wire.topic_id("foo"), "partitions": list(indexes)}] if indexes else []


def failures(target: PythonTarget, model: Model, most: int = 1000) -> list[Failure]:
    replayer = Replayer(target, most)
    replayer.replay(decoded(model))
    return replayer.result.failures


def corruptions(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Each copy of a JSON value with one change: another leaf, an item less, or an item more."""
    if isinstance(value, dict):
        for key in value:
            for where, changed in corruptions(value[key], f"{path}.{key}"):
                yield where, {**value, key: changed}
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield f"{path} without {index}", value[:index] + value[index + 1 :]
            for where, changed in corruptions(item, f"{path}[{index}]"):
                yield where, [*value[:index], changed, *value[index + 1 :]]
        yield f"{path} with another", [*value, {"memberId": "m9"}]
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int):
        yield path, value + 1
    else:
        yield path, "x" if value is None else None
        yield path, f"{value}x"
