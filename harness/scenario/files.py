"""Scenario files and the traces beside them: `basic.yaml` has its behaviour in `basic.itf.json`.

The trace has the same steps and states for users without a model checker; `conform scenario --rewrite` writes
it, never a person, and it counts only while it agrees with the scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from harness.engines.base import Limits
from harness.errors import MODEL_VIOLATED, ConformError
from harness.itf import Trace, read_trace, trace_to_text
from harness.kinds import scenarios as plain
from harness.kinds.scenarios import DEFAULT_LIMITS, Played, Scenario
from harness.kit import kit_name, kit_path
from harness.scenario.fields import read_fields
from harness.scenario.names import SUFFIX as SUFFIX
from harness.scenario.names import trace_beside as trace_beside
from harness.scenario.scripts import write as scripts
from harness.scenario.scripts.load import load_script
from harness.scenario.scripts.model import PlayedScript, Script
from harness.scenario.scripts.play import play_scripts

SPEC: Final = Path("spec")


def scenario_files(paths: Sequence[Path]) -> list[Path]:
    """The files, and all scenarios in and below the folders, in a fixed order; ConformError for none."""
    files: dict[Path, None] = {}
    for path in map(kit_path, paths):
        if path.is_dir():
            inside = sorted(path.rglob(f"*{SUFFIX}"))
            if not inside:
                raise ConformError(f"There are no scenarios (*{SUFFIX}) in {kit_name(path)}.")
            files.update(dict.fromkeys(inside))
        elif path.suffix != SUFFIX:
            raise ConformError(f"{kit_name(path)} is no scenario: their names end with {SUFFIX}.")
        else:
            files[path] = None
    if not files:
        raise ConformError(f"No scenarios were given: name *{SUFFIX} files or folders that have some.")
    return list(files)


def load_file(path: Path) -> Scenario | Script:
    """The scenario in a file, of any kind of group. ConformError (exit 2) for the first mistake."""
    whole = read_fields(path)
    try:
        return load_script(whole) if "protocol" in whole.mapping() else plain.load_scenario(path)
    except RecursionError:  # an alias of YAML may name a value that the alias is in
        raise ConformError(f"{path} has a value that contains itself: write it without the alias.") from None


def play_files(
    files: Sequence[Path], spec: Path, limits: Limits = DEFAULT_LIMITS
) -> list[Played | PlayedScript]:
    """Play scenarios, those of each kind of group in one run of TLC. ConformError as of `play`."""
    loaded = {file: load_file(file) for file in files}
    played: dict[Path, Played | PlayedScript] = {}
    ordinary = {file: one for file, one in loaded.items() if isinstance(one, Scenario)}
    if ordinary:
        played |= zip(ordinary, plain.play(list(ordinary.values()), spec, limits), strict=True)
    others = {file: one for file, one in loaded.items() if isinstance(one, Script)}
    for kind in sorted({script.kind.name for script in others.values()}):
        mine = {file: one for file, one in others.items() if one.kind.name == kind}
        played |= zip(mine, play_scripts(list(mine.values()), spec, limits), strict=True)
    return [played[file] for file in files]


def out_of_step(scenario: Scenario | Script, trace: Trace) -> str:
    """Differences between a trace and the scenario, in words; "" if the trace is the scenario's behaviour."""
    if isinstance(scenario, Script):
        return scripts.out_of_step(scenario, trace)
    return plain.out_of_step(scenario, trace)


def trace_of(path: Path, spec: Path = SPEC) -> Trace:
    """The behaviour of a scenario file: the trace beside it if it agrees, else the one that TLC makes.

    ConformError: exit 10 if the scenario is no behaviour of the specification, 2 for a wrong file, 3 without
    TLC.
    """
    scenario = load_file(path)
    beside = trace_beside(path)
    if beside.is_file():
        trace = read_trace(beside)
        if not out_of_step(scenario, trace):
            return trace
    played = play_files([path], spec)[0]
    wrong = list(explain(played)) if played.broken else []
    if wrong:
        raise ConformError("\n".join(wrong), MODEL_VIOLATED)
    return played.trace


def explain(played: Played | PlayedScript) -> Iterator[str]:
    """All faults, one on a line, with the file's lines."""
    return scripts.explain(played) if isinstance(played, PlayedScript) else plain.explain(played)


def stale(played: Played | PlayedScript) -> Iterator[str]:
    """Faults of the trace beside the file; a file may have none."""
    beside = trace_beside(Path(played.scenario.file))
    if played.stuck or not beside.is_file():
        return
    trace = read_trace(beside)
    reason = out_of_step(played.scenario, trace)
    if not reason and trace_to_text(trace) != trace_to_text(played.trace):
        reason = "the specification gives other states"
    if reason:
        yield f"{beside} is stale: {reason}; write it anew with conform scenario --rewrite"


def rewritten_file(played: Played | PlayedScript, text: str) -> str:
    """A file's text with the states that the specification gives. ConformError (exit 10) if the steps are no
    behaviour at all."""
    if played.stuck:
        raise ConformError(
            "\n".join(line for line in explain(played) if "has no step" in line), MODEL_VIOLATED
        )
    if isinstance(played, PlayedScript):
        return scripts.rewritten(text, played)
    return plain.rewritten(text, played.scenario, played.transcripts)
