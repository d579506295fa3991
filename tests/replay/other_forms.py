"""This repository's coordinator behind the line protocol, with one value of each answer in another form.

python other_forms.py 'true for 1'
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from typing import Any, Final

from coordinator import Coordinator
from coordinator.core.clock import SimulatedClock
from coordinator.stdio import LineProtocol

Json = dict[str, Any]


def target(form: str) -> str:
    """The name of such a target."""
    return f"stdio:{shlex.quote(sys.executable)} {shlex.quote(__file__)} {shlex.quote(form)}"


def _numbers(change: Callable[[int], Any]) -> Callable[[Json], Json]:
    """A change of all whole numbers in the body of an answer."""

    def changed(answer: Json) -> Json:
        body = answer.get("body") or {}
        return {
            **answer,
            "body": {name: change(one) if type(one) is int else one for name, one in body.items()},
        }

    return changed


def _with(name: str, value: Any) -> Callable[[Json], Json]:
    return lambda answer: {**answer, name: value} if "body" in answer else answer


def _of_group(name: str, value: Any) -> Callable[[Json], Json]:
    return lambda answer: (
        {**answer, "group": {**answer["group"], name: value}}
        if "body" in answer and answer.get("group")
        else answer
    )


def _true_epochs(answer: Json) -> Json:
    group = answer.get("group") or {}
    return {**answer, "group": {**group, "groupEpoch": True}} if group.get("groupEpoch") == 1 else answer


def _real_offsets(answer: Json) -> Json:
    records = [{**record, "offset": float(record["offset"])} for record in answer.get("records", [])]
    return {**answer, "records": records} if records else answer


EQUAL: Final[dict[str, Callable[[Json], Json]]] = {
    "true for 1": _numbers(lambda number: bool(number) if number in (0, 1) else number),
    "1.0 for 1": _numbers(float),
    "a group epoch that is true": _true_epochs,
    "offsets that are real numbers": _real_offsets,
}
"""Values that Python takes for the expected ones, and that are other values in JSON."""
MALFORMED: Final[dict[str, Callable[[Json], Json]]] = {
    "versions are texts": lambda answer: (
        {**answer, "apis": {"ConsumerGroupHeartbeat": ["0", 1]}} if "apis" in answer else answer
    ),
    "a record is a number": _with("records", [5]),
    "the key of a record is null": _with("records", [{"key": None, "value": None}]),
    "a timer that has fired is a number": _with("fired", [3]),
    "a late answer is a number": _with("completed", [3]),
    "the body is a list": _with("body", [3]),
    "members are a number": _of_group("members", 5),
    "a member is a number": _of_group("members", [5]),
    "a timer is a number": _of_group("timers", [3]),
}
"""Answers that the line protocol does not have."""


def main(form: str) -> None:
    """Serve standard input."""
    protocol = LineProtocol(Coordinator(clock=SimulatedClock()))
    change = {**EQUAL, **MALFORMED}[form]
    for line in sys.stdin:
        print(json.dumps(change(json.loads(protocol.handle(line)))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
