"""Replaying traces from files: what `conform replay`, the gate and the benchmark have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from harness.errors import ENGINE_FAILED, ConformError
from harness.itf import Trace, read_meta, read_trace
from harness.replay.decode import Decoder
from harness.replay.dialects import TEXT, dialect_of
from harness.replay.report import reason, skipped
from harness.replay.run import Replayed, Replayer
from harness.scenario.files import SUFFIX as SCENARIO
from harness.scenario.files import trace_beside, trace_of
from harness.targets import open_target
from harness.targets.members import open_members
from harness.targets.recording import recorded

SUFFIX = ".itf.json"


def trace_files(paths: Sequence[Path]) -> list[Path]:
    """The files, and all traces in and below the folders, in a fixed order; ConformError for none.

    Of a folder's scenarios those that have no trace beside them are among them.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            alone = [one for one in path.rglob(f"*{SCENARIO}") if not trace_beside(one).is_file()]
            inside = sorted([*path.rglob(f"*{SUFFIX}"), *alone])
            if not inside:
                raise ConformError(f"There are no traces (*{SUFFIX}) in {path}.")
            found.update(dict.fromkeys(inside))
        else:
            found[path] = None
    if not found:
        raise ConformError(f"No traces were given: name *{SUFFIX} files or folders that have some.")
    return list(found)


def _read(file: Path) -> Trace:
    return trace_of(file) if file.suffix == SCENARIO else read_trace(file)


def common_dialect(files: Sequence[Path]) -> str | None:
    """The name of the dialect that all traces are of; None if they are of several, or one cannot be read.
    ConformError for a dialect that there is not."""
    names = {
        TEXT.name
        if file.suffix == SCENARIO
        else dialect_of(read_meta(file).get("constants"), f"The trace {file}")
        for file in files
        if file.is_file()
    }
    return names.pop() if len(names) == 1 else None


def replay_files(
    files: Sequence[Path],
    target: str,
    dialect: str = "kip-848",
    max_differences: int = 20,
    progress: Callable[[Replayed], None] = lambda _: None,
    waives: Callable[[str], bool] = lambda _: False,
    record: Path | None = None,
    some: bool = True,
) -> Replayed:
    """Replay traces on a target; `progress` is called after each with what there is so far, and `waives` says
    of a difference's signature whether it is accepted. `record` is a log for what it was told and said.
    `some` says whether a target must be able to do any of the steps.

    Every file is read even when enough differences were found. ConformError: exit 2 for a file that is not
    a trace of the group protocol or has no steps, 3 for a target that fails or can do none of the steps.
    """
    decoder = Decoder()
    with ExitStack() as stack:
        opened = stack.enter_context(closing(open_target(target, dialect)))
        if record is not None:
            opened = stack.enter_context(recorded(opened, record))
        replayer = Replayer(opened, max_differences, open_members(target), waives)
        for file in files:
            replayer.replay(decoder.decode(_read(file), str(file)))
            progress(replayer.result)
    result = replayer.result
    if some and not result.judged and not result.failures:
        if result.ended_early:
            reasons = ", ".join(reason(name) for name in skipped(result))
            raise ConformError(
                f"None of the {len(files)} traces can be replayed on {target}: {reasons}. "
                "conform doctor says what it can do.",
                ENGINE_FAILED,
            )
        raise ConformError(f"None of the {len(files)} traces has a step that calls the coordinator.")
    return result
