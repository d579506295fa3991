"""`conform mutate --json`: systematic mutants, with the checks that killed them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.report.readers.fields import Fields

_COUNTS = ("mutants", "killed", "survived", "equivalent", "unviable", "judged")


@dataclass(frozen=True)
class Counted:
    """Numbers of mutants in a file, in a folder or in all: existing ones, judged ones, and those of each
    verdict. `score` is in per cent; None for no mutants."""

    path: str
    mutants: int
    killed: int
    survived: int
    equivalent: int
    unviable: int
    judged: int
    score: float | None


@dataclass(frozen=True)
class Survivor:
    """A mutant that no check kills, with the argument that it is equivalent, if there is one."""

    place: str
    operator: str
    diff: str
    reason: str


@dataclass(frozen=True)
class Mutation:
    """One run; `stale` are the faults of the arguments for equivalence, `exit_code` that of the verb."""

    total: Counted
    folders: Sequence[Counted]
    files: Sequence[Counted]
    survivors: Sequence[Survivor]
    equivalent: Sequence[Survivor]
    killed_by: Mapping[str, int]
    stale: Sequence[str]
    exit_code: int


def mutation(data: Fields) -> Mutation:
    """The run of a file."""
    total = data.part("total")
    return Mutation(
        total=_counted(total or data),
        folders=[_counted(one) for one in data.items_or_none("folders")],
        files=[_counted(one) for one in data.items("files")],
        survivors=[_survivor(one) for one in data.items("survivors")],
        equivalent=[_survivor(one) for one in data.items("equivalent")],
        killed_by=data.get("killed_by", dict),
        stale=data.get("stale", list),
        exit_code=data.get("exit_code", int),
    )


def _counted(one: Fields) -> Counted:
    score = None if one.decoded("score") is None else one.number("score")
    counts = {name: one.get(name, int) for name in _COUNTS}
    return Counted(path=one.text("path"), score=score, **counts)


def _survivor(one: Fields) -> Survivor:
    place = f"{one.get('path', str)}:{one.get('line', int)}"
    return Survivor(place, one.get("operator", str), "\n".join(one.get("diff", list)), one.text("reason"))
