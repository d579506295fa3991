"""Seeded bugs, and the failures of their checks.

Each bug is put into a fork of one process. For bugs of the coordinator that process has read the traces and
imported the modules that tests need, once; a fork replays the traces until their first difference, or runs
the tests until the first failure. For bugs of the specification a fork runs TLC, or takes a recorded result.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from harness.errors import ConformError
from harness.mutate import coordinator
from harness.mutate.mutant import Verdict
from harness.mutate.own_tests import failed_tests, prepare
from harness.mutate.patches import REPLAY, REPLAYED, Patch, copy_with
from harness.mutate.pool import run_all
from harness.mutate.seeded_spec import Verdicts, failing, record_name, verdicts
from harness.replay.dialects import TEXT
from harness.replay.files import trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.report import shown_at

LIMIT_S: Final = 300.0
"""The limit of a check, which takes seconds beside other work."""
_FOUND: Final = "found"
_FAILED: Final = "failed"


class SeededCheck(NamedTuple):
    """A check of coordinator or spec (`target`), with a seeded bug in it or, without one, as it is."""

    target: str
    check: str
    patch: Patch | None


class Answer(NamedTuple):
    """The answer of a check. `caught` is its failure, "" for none. `problem` is the reason why there is no
    answer: a patch that does not apply, a check that cannot be made, a fork that ends too soon; "" if there
    is an answer."""

    seeded: SeededCheck
    caught: str
    problem: str


def judge_seeded(
    root: Path, seeded: Sequence[SeededCheck], jobs: int, fresh: bool = False
) -> Iterator[Answer]:
    """The answers, as they come.

    Parameters: `root` is the folder of the repository, `jobs` the number of forks at a time; with `fresh` no
    recorded result of TLC is taken. This process must have one thread only. ConformError if traces of a
    replay cannot be read.
    """
    root = root.resolve()
    ours = [one for one in seeded if one.target == coordinator.PACKAGE]
    traces = {folder: _read(root, folder) for folder in _folders(ours)}
    if any(not one.check.startswith(REPLAY) for one in ours):
        prepare()
    known = verdicts(root, [recorded(one) for one in seeded if one not in ours], fresh)
    with tempfile.TemporaryDirectory(prefix="conform-seeded-") as place:
        work = partial(_judge, check=partial(_check, root, traces, known), root=root, place=Path(place))
        for done in run_all(seeded, work, jobs, LIMIT_S):
            verdict = done.verdict or Verdict(_FAILED, f"There was no answer within {LIMIT_S:.0f} s.")
            caught = verdict.outcome == _FOUND
            yield Answer(done.task, verdict.by if caught else "", "" if caught else verdict.by)


def _judge(
    seeded: SeededCheck, check: Callable[[SeededCheck, Path], str], root: Path, place: Path
) -> Verdict:
    """Judge one check. Must be called in a process of its own."""
    try:
        folder = Path(tempfile.mkdtemp(dir=place))
        copy_with(seeded.patch, root, seeded.target, folder)
        return Verdict(_FOUND, check(seeded, folder))
    except ConformError as error:
        return Verdict(_FAILED, error.message)
    except Exception as error:
        return Verdict(_FAILED, f"{type(error).__name__}: {error}")


def recorded(seeded: SeededCheck) -> str:
    """The name of the record of a bug of the specification."""
    return record_name(seeded.check, seeded.patch.path if seeded.patch else None)


def _check(
    root: Path,
    traces: Mapping[str, Sequence[DecodedTrace]],
    known: Verdicts,
    seeded: SeededCheck,
    folder: Path,
) -> str:
    """The failure of a check of the copy in a folder."""
    if seeded.target != coordinator.PACKAGE:
        return failing(root, folder, seeded.check, seeded.patch.path if seeded.patch else None, known)
    changed = seeded.patch.changed if seeded.patch else []
    coordinator.load({path: (folder / path).read_text(encoding="utf-8") for path in changed})
    if seeded.check.startswith(REPLAY):
        return _difference([trace for name in _named(seeded.check) for trace in traces[name]])
    return failed_tests(root, folder, seeded.check.split())


def _named(check: str) -> Sequence[str]:
    """The folders that a replay replays."""
    return check.split()[1:] or REPLAYED


def _folders(seeded: Sequence[SeededCheck]) -> list[str]:
    checks = dict.fromkeys(one.check for one in seeded if one.check.startswith(REPLAY))
    return list(dict.fromkeys(folder for check in checks for folder in _named(check)))


def _read(root: Path, folder: str) -> list[DecodedTrace]:
    return coordinator.decoded_traces(trace_files([root / folder]), root)


def _difference(traces: Sequence[DecodedTrace]) -> str:
    """The first difference: its trace, step and path, the expected value and the observed one."""
    replayer = coordinator.started(TEXT.name)
    for trace in traces:
        if failure := coordinator.first_failure(replayer, trace):
            one = failure.differences[0]
            branch = f" ({failure.branch})" if failure.branch else ""
            step = f"{failure.trace}, step {failure.index}: {failure.action}{branch}"
            expected, got = (shown_at(one.path, value) for value in (one.expected, one.got))
            return f"{step}: {one.path} expected {expected} got {got}"
    return ""
