"""The seeded bugs of one folder, and what catches each; for the report, once both folders have run."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from harness.files import output_folder, write_text
from harness.mutants import FOLDER, Mutant, caught_by, read_mutant

ROOT: Final = Path(__file__).parents[2]
TRACES: Final = [ROOT / "traces" / "golden", ROOT / "traces" / "corpus"]
TARGETS: Final = ("coordinator", "spec")

Verdicts = Mapping[Mutant, Future[str]]


def mutants(target: str) -> list[Mutant]:
    """All seeded bugs of a folder, in the order of their files."""
    return [read_mutant(path) for path in sorted((ROOT / FOLDER / target).glob("*.patch"))]


def name(mutant: Mutant) -> str:
    """What its test is called."""
    return f"{mutant.target}/{mutant.path.stem}"


@contextmanager
def verdicts(target: str, asked: set[str], build: Path = ROOT / "build") -> Iterator[Verdicts]:
    """What catches each mutant of the folder whose test is `asked` for, as many at a time as there are
    processors for this process; if that was all of them and every one has run, it goes to the report."""
    known = mutants(target)
    chosen = [mutant for mutant in known if f"test_mutant_is_caught[{name(mutant)}]" in asked]
    others = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) // others)) as pool:
        futures = {
            mutant: pool.submit(caught_by, ROOT, TRACES, mutant.target, mutant.check, mutant)
            for mutant in chosen
        }
        yield futures
        pool.shutdown(cancel_futures=True)
    if chosen == known and not any(future.cancelled() or future.exception() for future in futures.values()):
        report(target, {mutant: future.result() for mutant, future in futures.items()}, build)


def report(target: str, caught: Mapping[Mutant, str], build: Path) -> None:
    """Write what one folder's mutants came to, and `mutants.json` if that is now known of both: the files of
    tests run in processes of their own, and either may be the last."""
    write_text(_part(target, build), json.dumps([_row(*one) for one in caught.items()], indent=2) + "\n")
    parts = [_read(_part(each, build)) for each in TARGETS]
    names = [[mutant.path.name for mutant in mutants(each)] for each in TARGETS]
    if [[row["mutant"] for row in part] for part in parts] == names:
        rows = [row for part in parts for row in part]
        write_text(output_folder(build) / "mutants.json", json.dumps(rows, indent=2) + "\n")


def _part(target: str, build: Path) -> Path:
    return output_folder(build / "mutants") / f"{target}.json"


def _read(part: Path) -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = json.loads(part.read_text()) if part.is_file() else []
    return rows


def _row(mutant: Mutant, caught: str) -> dict[str, Any]:
    return {
        "mutant": mutant.path.name,
        "target": mutant.target,
        "bug": mutant.bug,
        "requirement": mutant.requirement,
        "real_bug": mutant.real_bug,
        "caught_by": caught or None,
        "survived": not caught,
    }
