"""`conform shrink`: the shortest part of a trace that still fails."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import MANIFEST, check_json_place, running, spec_folder, write_json
from harness.cli.options import JsonFile, ManifestFile, TlcMemory, TlcTimeout, Wait, dialect_option
from harness.engines.base import Limits
from harness.errors import NOT_CONFORMANT
from harness.files import output_folder, write_text
from harness.itf import read_trace, write_trace
from harness.kit import kit_name, kit_path
from harness.replay.dialects import chosen_dialect
from harness.replay.files import SUFFIX, dialects_of
from harness.scenario.files import SUFFIX as SCENARIO
from harness.scenario.files import trace_of
from harness.shrink.report import lines, to_json
from harness.shrink.run import Oracle, shrink_trace
from harness.shrink.scenario import as_scenario
from harness.targets import open_target


def command(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help="A trace (ITF) or scenario that fails.")],
    target: Annotated[
        str, typer.Option(help="The implementation on which it fails, as replay takes it.")
    ] = "python",
    dialect: Annotated[
        str | None, dialect_option("The dialect of the target; by default the dialect of the trace.")
    ] = None,
    signature: Annotated[
        str,
        typer.Option(
            metavar="TEXT",
            help="The difference to keep, if not the root of the first step that fails (replay "
            "--json has the signatures).",
        ),
    ] = "",
    wait: Wait = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File for the shortest trace (default: in build/shrunk, by its name)."
        ),
    ] = None,
    json_file: JsonFile = None,
    manifest: ManifestFile = MANIFEST,
    memory: TlcMemory = "1g",
    timeout: TlcTimeout = None,
) -> None:
    """Remove the steps of a trace that its failure does not need.

    The steps up to the first that fails are done again without some of them, on the specification, which
    gives the expected values then, and on the implementation, which must differ in the same way: in the root
    of its differences that conform replay names, so that the remaining steps show the same defect. Member
    epochs, reported partitions and targets that depend on a step that was left out follow. The result is a
    behaviour of the specification from the same beginning: no step and no pair of steps can be left out of
    it, and no field of a request can be left out. It is written as a trace for `conform replay` and, where it
    is of KIP-848's text, as a scenario.

    A trace of a classic, share or Connect group, of a group that migrates, or of members that compute, is
    done again by the model that its #meta names, in which a request may carry another epoch or generation. A
    trace that no model has is cut after the step that fails, and of the steps before that step those are left
    out that lead back to a state.

    On a live broker --wait is as of conform replay, but for all parts that are tried together: a difference
    of a timer takes some seconds a part. Where the seconds run out the shortest part until then is written,
    with a message.

    \b
    conform replay build/more --target "stdio:your-program"
    conform shrink build/more/MCSimulate-simulate-0001.itf.json --target "stdio:your-program"

    Exit codes: 11 shrunk, even if nothing could be left out: the implementation does not conform; 2 a trace
    that does not fail, cannot be judged to its end, or cannot be shrunk; 3 TLC or the implementation failed.
    """
    check_json_place(json_file)
    stem = trace.name.removesuffix(SUFFIX).removesuffix(SCENARIO)
    path = out or Path("build/shrunk") / f"{stem}{SUFFIX}"
    output_folder(path.parent)
    trace, spec = kit_path(trace), spec_folder(manifest)
    named = kit_name(trace)
    known = dialects_of([trace])
    spoken = chosen_dialect(dialect, {f"The trace {named}": name for name in known})
    whole = trace_of(trace, spec) if trace.suffix == SCENARIO else read_trace(trace)
    limits = Limits(memory, timeout, 1)
    beside = path.with_name(f"{path.name.removesuffix(SUFFIX)}{SCENARIO}")
    with (
        running(f"shrinking {trace.name} on {target}") as progress,
        closing(open_target(target, spoken, wait)) as opened,
    ):
        oracle = Oracle(opened)
        shrunk = shrink_trace(whole, named, oracle, spec, limits, signature, progress)
        scenario = as_scenario(shrunk, beside, oracle, spec, limits)
    written = [path]
    if scenario:
        shrunk, text = scenario
        write_text(beside, text)
        written.append(beside)
    shrunk = replace(shrunk, failure=replace(shrunk.failure, trace=str(path)))
    write_trace(path, shrunk.trace)
    for line in lines(shrunk, named, target, spoken, oracle):
        print(line)
    print(f"written: {', '.join(map(str, written))}")
    write_json(json_file, to_json(shrunk, named, target, spoken, written, oracle))
    raise typer.Exit(NOT_CONFORMANT)
