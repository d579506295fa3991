"""`conform client --json`: a client under schedules, rule by rule; and the record of the kit's own member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.report.readers.fields import Fields
from harness.sources import code_hash

REFERENCE = "reference"
"""The name of the kit's own member."""


@dataclass(frozen=True)
class Ruled:
    """A rule on a client: the number of times that it had something to judge, and if it was broken."""

    rule: str
    requirement: str
    sentence: str
    judged: int
    broken: bool


@dataclass(frozen=True)
class Breach:
    """A broken rule: the client's action, the shortest schedule in words, and its messages."""

    rule: str
    requirement: str
    message: str
    origin: str
    ms: int
    configured: str
    schedule: Sequence[str]
    again: str
    messages: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Client:
    """A client that was judged. `note` has the origin of the figures if they are not of this run."""

    name: str
    schedules: int
    rules: Sequence[Ruled]
    breaches: Sequence[Breach] = ()
    note: str = ""


def client(data: Fields) -> Client:
    """The client of a file."""
    return Client(
        name=data.get("client", str),
        schedules=data.get("schedules", int),
        rules=[_ruled(one) for one in data.items("rules")],
        breaches=[_breach(one) for one in data.items("findings")],
    )


def _ruled(one: Fields) -> Ruled:
    return Ruled(
        rule=one.get("rule", str),
        requirement=one.get("requirement", str),
        sentence=one.get("sentence", str),
        judged=one.get("judged", int),
        broken=one.get("broken", bool),
    )


def _breach(one: Fields) -> Breach:
    commits = "on" if one.get("autoCommit", bool) else "off"
    return Breach(
        rule=one.get("rule", str),
        requirement=one.get("requirement", str),
        message=one.get("message", str),
        origin=one.get("origin", str),
        ms=one.get("ms", int),
        configured=f"instance id {one.text('instance') or 'none'}, auto-commit {commits}",
        schedule=one.get("inWords", list),
        again=one.get("again", str),
        messages=one.get("messages", list),
    )


def recorded(file: Path, root: Path, rules: Mapping[str, tuple[str, str]]) -> Client:
    """The kit's own member in its record; `rules` gives requirement and sentence of each rule. A broken rule
    leaves no record, so that all judged rules hold."""
    data = Fields.of(file)
    runs = [data.get(name, dict) for name in ("simulated", "sockets")]
    counts = {name: sum(run["judged"].get(name, 0) for run in runs) for name in rules}
    return Client(
        name=REFERENCE,
        schedules=sum(run["schedules"] for run in runs),
        rules=[Ruled(name, *rules[name], counts[name], broken=False) for name in rules],
        note=_note(data.get("files", dict), root),
    )


def _note(hashes: Mapping[str, str], root: Path) -> str:
    there = {name: root / name for name in hashes if (root / name).is_file()}
    changed = len(there) < len(hashes) or any(code_hash(there[name]) != hashes[name] for name in there)
    return "recorded; its sources have changed since" if there and changed else "recorded"
