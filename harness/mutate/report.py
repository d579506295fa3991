"""Results of mutants, in words and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.mutate.equivalent import Equivalent
from harness.mutate.mutant import KILLED, SURVIVED, TIMED_OUT, UNVIABLE, Judged, Mutant
from harness.mutate.spec import FOLDER, by_figure
from harness.targets.base import Json


@dataclass(frozen=True)
class Mutated:
    """The result: `known` are those argued equivalent, `problems` the faults of their file."""

    mutants: Sequence[Mutant]
    judged: Sequence[Judged]
    known: Sequence[Equivalent]
    problems: Sequence[str]
    request: Json = field(default_factory=dict)

    def reason(self, mutant: Mutant) -> str:
        """The argument that a mutant is equivalent; "" if there is none."""
        return next((one.reason for one in self.known if one.covers(mutant)), "")

    @property
    def survivors(self) -> list[Judged]:
        """Mutants that survived and are not argued equivalent, in the order of their places."""
        left = [one for one in self.judged if one.outcome == SURVIVED and not self.reason(one.mutant)]
        return sorted(left, key=lambda one: (one.mutant.path, one.mutant.line))

    @property
    def of_specification(self) -> list[Judged]:
        """The mutants of the specification that were noticed."""
        return [one for one in self.judged if one.outcome == KILLED and _in(one.mutant, FOLDER)]

    @property
    def by_figures(self) -> list[Judged]:
        """Mutants of the specification that only a figure noticed: a number of states or steps."""
        return [one for one in self.of_specification if by_figure(one.by)]

    def counts(self, path: str | None = None) -> Json:
        """Numbers of mutants of each kind in a file, in a folder or in all, and the score in per cent (None
        for no mutants): the killed ones among those that were judged and are not equivalent."""
        mutants = [one for one in self.mutants if _in(one, path)]
        judged = [one for one in self.judged if _in(one.mutant, path)]
        outcomes = Counter(one.outcome for one in judged)
        equivalent = sum(one.outcome == SURVIVED and bool(self.reason(one.mutant)) for one in judged)
        killed = outcomes[KILLED] + outcomes[TIMED_OUT]
        total = len(judged) - outcomes[UNVIABLE] - equivalent
        return {
            "mutants": len(mutants),
            "judged": len(judged),
            "killed": killed,
            "timed_out": outcomes[TIMED_OUT],
            "survived": outcomes[SURVIVED] - equivalent,
            "equivalent": equivalent,
            "unviable": outcomes[UNVIABLE],
            "score": round(100 * killed / total, 1) if total else None,
        }

    @property
    def paths(self) -> list[str]:
        """The mutated files."""
        return sorted({mutant.path for mutant in self.mutants})

    @property
    def folders(self) -> list[str]:
        """The first folders of the mutated files, where there are several."""
        folders = sorted({path.split("/")[0] for path in self.paths})
        return folders if len(folders) > 1 else []


def _in(mutant: Mutant, path: str | None) -> bool:
    return path is None or mutant.path == path or mutant.path.startswith(f"{path}/")


COLUMNS = ["file", "mutants", "judged", "killed", "timed out", "survived"]
COLUMNS += ["equivalent", "unviable", "score"]


def rows(result: Mutated) -> Iterator[list[str]]:
    """A table with a row a file, one a folder, and one of all."""
    for name, path in [*((path, path) for path in (*result.paths, *result.folders)), ("all", None)]:
        counts = result.counts(path)
        *numbers, score = counts.values()
        yield [name, *(f"{number:,}" for number in numbers), "-" if score is None else f"{score} %"]


def survivors(result: Mutated) -> Iterator[str]:
    """The survivors, each with its place, its diff, and the checks that judged it."""
    for one in result.survivors:
        yield f"{one.mutant.place} ({one.mutant.operator}) survived {one.by}"
        yield from (f"  {line}" for line in one.mutant.diff)


def figures(result: Mutated) -> Iterator[str]:
    """The mutants of the specification that no property has noticed, in a sentence; "" if there are none."""
    if noticed := result.by_figures:
        yield (
            f"{len(noticed):,} of {len(result.of_specification):,} mutants of the specification that were "
            "noticed were so by a figure of a model alone, a number of states or steps, and by no property."
        )


def to_json(result: Mutated, exit_code: int) -> Json:
    """The result for `--json`: `total` and each of `folders` and `files` have counts, of which `judged` is
    the number of `mutants` that were judged at all; killed ones that ran out of time are listed, too; `stale`
    are the faults of the file of equivalent mutants, `by_figures` the mutants of the specification that the
    first check to notice noticed only by a figure."""
    return {
        "verb": "mutate",
        "asked": result.request,
        "total": result.counts(),
        "folders": [{"path": path, **result.counts(path)} for path in result.folders],
        "files": [{"path": path, **result.counts(path)} for path in result.paths],
        "survivors": [_row(one) for one in result.survivors],
        "equivalent": [
            {**_row(one), "reason": result.reason(one.mutant)}
            for one in result.judged
            if one.outcome == SURVIVED and result.reason(one.mutant)
        ],
        "by_figures": [_row(one) for one in result.by_figures],
        "timed_out": [_row(one) for one in result.judged if one.outcome == TIMED_OUT],
        "killed_by": dict(
            Counter(_check(one.by) for one in result.judged if one.outcome == KILLED).most_common()
        ),
        "stale": list(result.problems),
        "exit_code": exit_code,
    }


def _check(by: str) -> str:
    """The check that killed a mutant: a trace, a model, the scenarios."""
    return by.split(",", 1)[0].split(":", 1)[0]


def _row(one: Judged) -> dict[str, Any]:
    mutant = one.mutant
    return {
        "path": mutant.path,
        "line": mutant.line,
        "operator": mutant.operator,
        "diff": mutant.diff,
        "by": one.by,
    }
