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
from typing import Annotated, Any, Final, TypeAlias

from msgspec import Meta

from harness.errors import USAGE, ConformError
from harness.files import read_lines
from harness.forms import Form, formed
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


class _Line(Form):
    """A line of a schedule: the n-th request of an API by a client, and its fault."""

    client: Annotated[int, Meta(ge=1)]
    api: str
    nth: Annotated[int, Meta(ge=1)]
    fault: str
    ms: Annotated[int, Meta(ge=0, le=600_000)] = LONGEST_MS
    code: Annotated[int, Meta(ge=-(2**15), le=2**15 - 1)] = 16
    after: Annotated[int, Meta(ge=1, le=1000)] = 1


def from_file(path: Path) -> Faults:
    """Faults of a schedule: JSON lines in the form of a record, so that a record is a schedule, too.

    ConformError (exit 2) with the line for one that names no request or no fault.
    """
    faults: dict[tuple[int, str, int], Fault] = {}
    for number, text in read_lines(path, "The schedule"):
        place = f"{path}, line {number} is no fault:"
        try:
            line = _line(json.loads(text), place)
        except (ConformError, ValueError, RecursionError) as error:
            what = error.message if isinstance(error, ConformError) else f"{place} it is not JSON ({error})."
            raise ConformError(
                f'{what} A line is {{"client":1,"api":"ConsumerGroupHeartbeat","nth":3,"fault":"answer '
                f'lost"}}, and the faults are {", ".join(KINDS)}.',
                USAGE,
            ) from None
        if line is not None:
            faults[line.client, line.api, line.nth] = Fault(line.fault, line.ms, line.code, line.after)
    return _of(faults)


def _of(faults: Mapping[tuple[int, str, int], Fault]) -> Faults:
    return lambda client, api, nth: faults.get((client, api, nth))


def _line(content: Any, place: str) -> _Line | None:
    """The fault in a line; None for another line of a record, which also has faults that follow from others.
    ConformError for a line of another form."""
    if not isinstance(content, dict):
        raise ConformError(f"{place} it must be an object.")
    recorded = "op" in content
    if recorded and content["op"] != "fault":
        return None
    # a line of a record has the request, too
    fields = {name: content[name] for name in _Line.__struct_fields__ if name in content}
    noted = fields.get("fault")
    if recorded and isinstance(noted, str) and noted not in KINDS:
        return None
    line = formed(fields if recorded else content, _Line, place)
    if line.fault not in KINDS:
        raise ConformError(f"{place} there is no fault {line.fault!r}.")
    if line.fault == "error" and not line.code:
        raise ConformError(f'{place} "code" 0 is no error.')
    if line.api not in RECORDED.values():
        raise ConformError(f"{place} there is no {line.api} among {', '.join(RECORDED.values())}.")
    return line
