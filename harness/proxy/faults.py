"""Faults: from a seed, or from a schedule in a file.

A fault belongs to the n-th request of one API by one client, however the requests of clients interleave: the
same seed gives the same faults.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from harness.errors import USAGE, ConformError
from harness.files import read_lines
from harness.proxy.messages import RECORDED
from harness.targets.base import Json

KINDS: Final = {
    "request lost": "the request does not reach the broker, and nothing more comes through its connection",
    "answer lost": "the broker does it, and nothing more comes through its connection",
    "cut before": "the connection is cut before the request reaches the broker",
    "cut after": "the connection is cut after the broker has done it, before the answer",
    "delay": "the request reaches the broker later",
    "error": "the client gets an error code, and the request does not reach the broker",
    "late": "the connection is cut, and the request reaches the broker after later ones of the client",
}
"""The kinds of faults, each with its effect. A cut connection is not the death of a client."""
BEHIND: Final = "behind a lost one"
"""The fault of a request on a connection on which an earlier one was lost: it is lost, too."""
ERRORS: Final = (14, 15, 16)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR: errors after which a client must
try again."""
SHARE: Final = 0.1
"""The share of requests to which a seed gives a fault."""
LONGEST_MS: Final = 1000
LATEST: Final = 3
_FIELDS: Final = {"client": int, "api": str, "nth": int, "fault": str, "ms": int, "code": int, "after": int}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one request. `ms` is the delay, `code` the error, `after` the number of later group requests
    of the client that are answered before the late one arrives."""

    fault: str
    ms: int = 0
    code: int = 0
    after: int = 0

    def shown(self) -> Json:
        """The fields of the fault's kind."""
        named = {"delay": "ms", "error": "code", "late": "after"}.get(self.fault)
        return {"fault": self.fault, **({named: getattr(self, named)} if named else {})}


Faults: TypeAlias = Callable[[int, str, int], Fault | None]
"""A function from (client, API, number of the request among those of the API by the client, from 1) to its
fault."""


def no_faults(client: int, api: str, nth: int) -> Fault | None:
    """No fault for any request."""
    return None


def from_seed(seed: int, share: float = SHARE) -> Faults:
    """Faults drawn from a seed."""

    def fault(client: int, api: str, nth: int) -> Fault | None:
        chance = random.Random(f"{seed} {client} {api} {nth}")
        if chance.random() >= share:
            return None
        kind = chance.choice(list(KINDS))
        ms, code, after = chance.randint(1, LONGEST_MS), chance.choice(ERRORS), chance.randint(1, LATEST)
        return Fault(
            kind,
            ms if kind == "delay" else 0,
            code if kind == "error" else 0,
            after if kind == "late" else 0,
        )

    return fault


def from_file(path: Path) -> Faults:
    """Faults of a schedule: JSON lines in the form of a record, so that a record is a schedule, too.

    ConformError (exit 2) with the line for one that names no request or no fault.
    """
    faults: dict[tuple[int, str, int], Fault] = {}
    for number, text in read_lines(path, "The schedule"):
        try:
            content = json.loads(text)
            if not isinstance(content, dict):
                raise ValueError("a line is an object")
            if "op" not in content or (content["op"] == "fault" and content["fault"] in KINDS):
                faults[_place(content)] = _fault(content)
        except (ValueError, KeyError) as error:
            raise ConformError(
                f"{path}, line {number} is no fault ({type(error).__name__}: {error}): a line is "
                '{"client":1,"api":"ConsumerGroupHeartbeat","nth":3,"fault":"answer lost"}, and the faults '
                f"are {', '.join(KINDS)}.",
                USAGE,
            ) from None
    return _of(faults)


def _of(faults: Mapping[tuple[int, str, int], Fault]) -> Faults:
    return lambda client, api, nth: faults.get((client, api, nth))


def _place(fields: Json) -> tuple[int, str, int]:
    for name, kind in _FIELDS.items():
        if name in fields and type(fields[name]) is not kind:
            raise ValueError(f"{name} is {fields[name]!r}")
    if fields["api"] not in RECORDED.values():
        raise ValueError(f"there is no {fields['api']} among {', '.join(RECORDED.values())}")
    return fields["client"], fields["api"], fields["nth"]


def _fault(fields: Json) -> Fault:
    if fields["fault"] not in KINDS:
        raise ValueError(f"there is no fault {fields['fault']!r}")
    fault = Fault(
        fields["fault"], fields.get("ms", LONGEST_MS), fields.get("code", 16), fields.get("after", 1)
    )
    if not (0 <= fault.ms <= 600_000 and -(2**15) <= fault.code < 2**15 and 1 <= fault.after <= 1000):
        raise ValueError("ms is 0 to 600000, code an error code, after 1 to 1000")
    return fault
