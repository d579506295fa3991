"""Replaying traces from files: the common part of `conform replay`, the gate and the benchmark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from harness.dialect_name import base_of
from harness.errors import ENGINE_FAILED, ConformError
from harness.itf import read_meta
from harness.kit import kit_name, kit_path
from harness.replay.dialects import TEXT, chosen_dialect, dialect_of
from harness.replay.jobs import Files, Job, added, check_jobs, processes, rare_collections, with_following
from harness.replay.report import reason, skipped
from harness.replay.run import ALL, Replayed
from harness.scenario.names import SUFFIX as SCENARIO
from harness.scenario.names import trace_beside
from harness.targets.recording import recorded
from harness.words import counted

SUFFIX = ".itf.json"
ENABLED = ".enabled.json"
"""The end of the name of a file beside a trace: by the number of each step the actions that were enabled
before it."""


def trace_files(paths: Sequence[Path]) -> list[Path]:
    """The files, and all traces in and below the folders, in a fixed order; ConformError for none.

    Scenarios of a folder without a trace beside them are among the files.
    """
    files: dict[Path, None] = {}
    for path in map(kit_path, paths):
        if path.is_dir():
            alone = [one for one in path.rglob(f"*{SCENARIO}") if not trace_beside(one).is_file()]
            inside = sorted([*path.rglob(f"*{SUFFIX}"), *alone])
            if not inside:
                raise ConformError(f"There are no traces (*{SUFFIX}) in {kit_name(path)}.")
            files.update(dict.fromkeys(inside))
        else:
            files[path] = None
    if not files:
        raise ConformError(f"No traces were given: name *{SUFFIX} files or folders that have some.")
    return list(files)


def dialects_of(files: Sequence[Path]) -> Counter[str]:
    """Dialect -> the number of its traces. ConformError for an unknown dialect."""
    return Counter(
        TEXT.name
        if file.suffix == SCENARIO
        else dialect_of(read_meta(file).get("constants"), f"The trace {file}")
        for file in files
        if file.is_file()
    )


def spoken_dialect(named: str | None, traces: Counter[str]) -> str:
    """The dialect in which a target replays traces of these dialects: the named one, or else the one of all
    traces. ConformError (exit 2) where that is impossible."""
    return chosen_dialect(named, {"Every trace": next(iter(traces))} if len(traces) == 1 else {})


def disagreements(traces: Mapping[str, int], spoken: str) -> list[str]:
    """Sentences about traces of another dialect than the target speaks, for a user to read first."""
    sentences = []
    for dialect, count in sorted(traces.items()):
        if dialect == base_of(spoken):
            continue
        are, they, them = ("are", "they are", "them by themselves")
        if count == 1:
            are, they, them = ("is", "it is", "it by itself")
        if dialect == TEXT.name:
            sentences.append(
                f"{counted(count, 'trace')} {are} of KIP-848's text ({TEXT.name}) and the target speaks "
                f"{spoken}: each departure of that dialect is a difference."
            )
        else:
            sentences.append(
                f"{counted(count, 'trace')} {are} of the dialect {dialect} and the target speaks {spoken}: "
                f"{they} not judged; replay {them}, or with --dialect {dialect}."
            )
    return sentences


def replay_files(
    files: Sequence[Path],
    target: str,
    dialect: str = "kip-848",
    max_differences: int = ALL,
    progress: Callable[[Replayed], None] = lambda _: None,
    waives: Callable[[str], bool] = lambda _: False,
    record: Path | None = None,
    some: bool = True,
    jobs: int = 1,
    wait_s: float = 0,
) -> Replayed:
    """Replay traces on a target; `progress` is called after each with the result so far, also where the
    replay is stopped or the target fails; `waives` decides by a difference's signature if it is accepted.
    `record` is a log for the target's operations and answers. `some` tells if a target must be able to do any
    of the steps, `wait_s` is the number of seconds in all that a live broker may wait for timers.

    `jobs` processes replay side by side, each on a target of its own; the result is the same.

    Every file is read even when enough differences were found. ConformError: exit 2 for a file that is not a
    trace of the group protocol or has no steps, 3 for a target that fails or can do none of the steps.
    """
    check_jobs(jobs, target, record)
    jobs = min(jobs, len(files))
    job, own = Job(target, dialect, max_differences, waives, wait_s), Files()
    with ExitStack() as stack:
        stack.enter_context(rare_collections())
        # before any object exists that a process should not inherit
        several = stack.enter_context(processes(jobs, files, job)) if jobs > 1 else None
        opened = stack.enter_context(closing(job.open()))
        if record is not None:
            opened = stack.enter_context(recorded(opened, record))
        replayer = job.replayer(opened)
        try:
            if several is None:
                for trace, following in with_following(map(own.read, files)):
                    replayer.replay(trace, following)
                    progress(replayer.result)
            else:
                given, enough = several
                for file, known in zip(files, given, strict=True):
                    if not added(replayer, known, waives):
                        replayer.replay(own.read(file))
                    if replayer.full:
                        enough.set()
                    progress(replayer.result)
        except (ConformError, KeyboardInterrupt):
            progress(replayer.result)
            raise
    result = replayer.result
    every = f"None of the {len(files)} traces" if len(files) > 1 else f"No step of the trace {files[0]}"
    if some and not (result.judged or result.failures or result.not_loaded):
        if result.ended_early:
            reasons = ", ".join(reason(name) for name in skipped(result))
            raise ConformError(
                f"{every} can be replayed on {target}: {reasons}. conform doctor says what it can do.",
                ENGINE_FAILED,
            )
        raise ConformError(
            f"{every} {'has a step that calls' if len(files) > 1 else 'calls'} the coordinator."
        )
    return result
