"""`conform client --json`: a client under schedules, rule by rule; and the record of the kit's own member."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import field

from harness.report.readers.form import Message, Result, result_of
from harness.sources import code_hash

REFERENCE = "reference"
"""The name of the kit's own member."""


class Ruled(Result, frozen=True, kw_only=True):
    """A rule on a client: the number of times that it had something to judge, and if it was broken."""

    rule: str
    requirement: str
    sentence: str
    judged: int
    broken: bool


class Breach(Result, frozen=True, kw_only=True):
    """A broken rule: the client's action, the shortest schedule in words, and its messages."""

    rule: str
    requirement: str
    message: str
    origin: str
    ms: int
    auto_commit: bool = field(name="autoCommit")
    instance: str = ""
    schedule: Sequence[str] = field(name="inWords")
    again: str
    messages: Sequence[Message]

    @property
    def configured(self) -> str:
        """The configuration of the client in words."""
        return f"instance id {self.instance or 'none'}, auto-commit {'on' if self.auto_commit else 'off'}"


class Client(Result, frozen=True, kw_only=True):
    """A client that was judged. `note` has the origin of the figures if they are not of this run."""

    name: str = field(name="client")
    schedules: int
    rules: Sequence[Ruled]
    breaches: Sequence[Breach] = field(name="findings", default=())
    note: str = ""


class Run(Result, frozen=True, kw_only=True):
    """A recorded run: its schedules, and how often each rule had something to judge."""

    schedules: int
    judged: Mapping[str, int]


class Record(Result, frozen=True, kw_only=True):
    """The record of the kit's own member; `files` are its sources with their hashes."""

    simulated: Run
    sockets: Run
    files: Mapping[str, str]


def recorded(file: Path, root: Path, rules: Mapping[str, tuple[str, str]]) -> Client:
    """The kit's own member in its record; `rules` gives requirement and sentence of each rule. A broken rule
    leaves no record, so that all judged rules hold."""
    record = result_of(file, Record)
    runs = record.simulated, record.sockets
    counts = {name: sum(run.judged.get(name, 0) for run in runs) for name in rules}
    return Client(
        name=REFERENCE,
        schedules=sum(run.schedules for run in runs),
        rules=[
            Ruled(rule=name, requirement=number, sentence=sentence, judged=counts[name], broken=False)
            for name, (number, sentence) in rules.items()
        ],
        note=_note(record.files, root),
    )


def _note(hashes: Mapping[str, str], root: Path) -> str:
    there = {name: root / name for name in hashes if (root / name).is_file()}
    changed = len(there) < len(hashes) or any(code_hash(there[name]) != hashes[name] for name in there)
    return "recorded; its sources have changed since" if there and changed else "recorded"
