"""Waivers: differences that a user accepts for a while, in a file.

    [[waiver]]
    signature = "Heartbeat/stable/NONE: response.assignment"
    reason = "sent only when it changes, see issue 17"
    expires = 2027-03-01

A signature is what `conform replay --json` gives with each difference and `conform exhaust --json` with each
finding. In a waiver's signature `*` stands for any text, as in "*: response.heartbeatIntervalMs"; a waiver
without `*` goes before one with it, else the first in the file counts. A waiver counts until the end of the
day that it expires on; one that covers nothing, or has expired, is a failure, so none outlives its reason.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any

from msgspec import structs

from harness.errors import ConformError, meant
from harness.files import read_text
from harness.forms import Form, formed


class Waiver(Form):
    """One entry of a file."""

    signature: str
    reason: str
    expires: date


class Waivers:
    """Waivers of a run that takes place `today`; `used` counts the differences that each has covered."""

    def __init__(self, waivers: Iterable[Waiver] = (), today: date = date.min) -> None:
        self._waivers = {waiver.signature: waiver for waiver in waivers}
        self._patterns = [(name, _pattern(name)) for name in self._waivers if "*" in name]
        self._today = today
        self.used: Counter[str] = Counter()
        self._refused: dict[str, None] = {}

    def __bool__(self) -> bool:
        return bool(self._waivers)

    def again(self) -> Waivers:
        """These waivers, with all counts at zero."""
        return Waivers(self._waivers.values(), self._today)

    def add(self, other: Waivers) -> None:
        """Add the counts of these waivers in another run, and the differences that they did not cover."""
        self.used += other.used
        self._refused |= other._refused

    def covers(self, signature: str, count: int = 1) -> bool:
        """Tell if a difference with this signature is accepted; it is counted, so many times."""
        waiver = self._waiver_of(signature)
        if waiver is None:
            self._refused[signature] = None
            return False
        self.used[waiver.signature] += count
        return True

    def _waiver_of(self, signature: str) -> Waiver | None:
        exact = [self._waivers[signature]] if signature in self._waivers else []
        alike = (self._waivers[name] for name, pattern in self._patterns if pattern.fullmatch(signature))
        return next((one for one in chain(exact, alike) if one.expires >= self._today), None)

    def listed(self) -> Iterator[tuple[Waiver, int]]:
        """The waivers that covered something, with their numbers of differences."""
        for signature, waiver in self._waivers.items():
            if self.used[signature]:
                yield waiver, self.used[signature]

    def to_json(self, counted: str) -> list[dict[str, Any]]:
        """The waivers for `--json`, the count under the name `counted`."""
        return [
            {**structs.asdict(waiver), "expires": str(waiver.expires), counted: count}
            for waiver, count in self.listed()
        ]

    def lines(self) -> Iterator[str]:
        """The waivers in words."""
        for waiver, count in self.listed():
            yield f"waived until {waiver.expires}, {waiver.reason}: {count:,} x {waiver.signature}"

    def excepted(self, what: str) -> str:
        """Exceptions of a claim: ', except 3 differences waived by "…"'; "" if there are none."""
        return excepted([one.signature for one, _ in self.listed()], self.used.total(), what)

    def problems(self) -> Iterator[str]:
        """A sentence for each waiver that has expired or covered nothing."""
        for signature, waiver in self._waivers.items():
            if waiver.expires < self._today:
                yield f'The waiver of "{signature}" expired on {waiver.expires}: {waiver.reason}.'
            elif not self.used[signature]:
                hint = meant(signature, self._refused)
                yield f'The waiver of "{signature}" covers nothing: no difference has that signature.{hint}'


def _pattern(signature: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, signature.split("*"))), re.DOTALL)


def excepted(signatures: Iterable[str], count: int, what: str) -> str:
    """The end of a claim that holds except for the differences that waivers with these signatures cover."""
    names = ", ".join(f'"{signature}"' for signature in signatures)
    return f", except {count:,} {what} waived by {names}" if count else ""


def read_waivers(path: Path | None, today: date) -> Waivers:
    """The waivers in a file; none without a file. ConformError (exit 2) for a waiver that lacks a part."""
    if path is None:
        return Waivers()
    try:
        data = tomllib.loads(read_text(path, "The file of waivers"))
    except tomllib.TOMLDecodeError as error:
        raise ConformError(f"The file of waivers {path} is not TOML: {error}.") from None
    entries = data.pop("waiver", [])
    if data or not isinstance(entries, list):
        raise ConformError(f"The file of waivers {path} must have tables [[waiver]], and nothing else.")
    waivers = [_waiver(entry, f"{path}, waiver {number}") for number, entry in enumerate(entries, start=1)]
    repeated = [name for name, count in Counter(one.signature for one in waivers).items() if count > 1]
    if repeated:
        raise ConformError(f'{path} has more than one waiver of "{repeated[0]}".')
    return Waivers(waivers, today)


def _waiver(entry: Any, where: str) -> Waiver:
    read = formed(entry, Waiver, f"{where}:")
    if not read.reason.strip():
        raise ConformError(f"{where}: the reason is empty; say why the difference is accepted.")
    if not read.signature.strip("*: "):
        raise ConformError(f"{where}: its signature covers everything; name an action or a field.")
    return read
