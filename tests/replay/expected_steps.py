"""What the tests of the replay look at: steps of a hand-written behaviour, and failures on a target."""

from __future__ import annotations

from typing import Any

from spec_model import Model

from harness.replay import wire
from harness.replay.decode import DecodedTrace, Decoder, Step
from harness.replay.records import KEY_NUMBERS
from harness.replay.run import Failure, Replayer
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
