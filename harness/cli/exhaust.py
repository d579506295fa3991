"""`conform exhaust`: every step of a state graph, and traces, on an implementation, by Spark."""

from __future__ import annotations

import tempfile
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.console import MANIFEST, check_json_place, find_model, running, write_json
from harness.cli.options import (
    ALL_PROCESSORS,
    SPARK_MEMORY,
    Config,
    JsonFile,
    ManifestFile,
    Master,
    Package,
    SparkMemory,
    SparkSettings,
    TlcMemory,
    TlcTimeout,
    WaiverFile,
    dialect_option,
)
from harness.engines.base import Limits
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT, ConformError
from harness.files import output_folder
from harness.pipeline import need_spark
from harness.replay.dialects import chosen_dialect
from harness.waivers import read_waivers
from harness.words import counted

if TYPE_CHECKING:
    from harness.pipeline.exhaust import Exhausted

_OUTPUT = "build/exhaust"


def command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[MODEL]", help="An open model of the manifest, or the path of its module."),
    ] = None,
    target: Annotated[
        str, typer.Option(help="The implementation: python, or stdio:COMMAND (the line protocol).")
    ] = "python",
    dialect: Annotated[
        str | None, dialect_option("The dialect of the target; by default that of the model and the traces.")
    ] = None,
    inputs: Annotated[
        list[str] | None,
        typer.Option(
            "--input",
            metavar="URI",
            help="Traces (*.itf.json), scenarios (*.yaml), logs (*.jsonl), dumps (*.dot), folders.",
        ),
    ] = None,
    tour: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="Replay tours of this closed model; the manifest says which."),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="URI", help="Place for the tables (default: build/exhaust/MODEL).")
    ] = None,
    tables: Annotated[
        str,
        typer.Option(
            metavar="URI", help="A place to which Spark writes findings, coverage and verdicts, too."
        ),
    ] = "",
    table_format: Annotated[
        str, typer.Option("--format", metavar="NAME", help="Format of --tables: parquet, delta or iceberg.")
    ] = "parquet",
    master: Master = ALL_PROCESSORS,
    page: Annotated[
        bool,
        typer.Option(
            "--page", help="Write a page of the state graph with its coverage: graph.html in --out."
        ),
    ] = False,
    package: Package = None,
    conf: SparkSettings = None,
    config: Config = None,
    manifest: ManifestFile = MANIFEST,
    waivers: WaiverFile = None,
    json_file: JsonFile = None,
    memory: TlcMemory = "2g",
    spark_memory: SparkMemory = SPARK_MEMORY,
    timeout: TlcTimeout = None,
) -> None:
    """Judge every step of a model's whole state graph on an implementation, and traces beside it.

    TLC dumps the state graph of an open model. Each transition is judged by itself: the implementation is
    loaded with the state before, acts, and its response, state and records are compared with the
    specification. A state that is not there after its load is reached by its shortest path; the output says
    which part of it differs. Then tours of the closed model that the manifest names beside it are replayed as
    long paths ("--tour ''" leaves them out), and with --input traces as they are.

    A waiver accepts differences by their signature, which `--json` gives with each finding. A waiver
    that covers nothing or has expired is a failure.

    All results are in tables (Parquet) in the output folder. A run that was stopped goes on where it was when
    it is started again.

    \b
    conform exhaust MCTour --page
    conform exhaust MCOpen --target "stdio:python -m coordinator --stdio" --master "local[2]"
    conform exhaust --input traces/golden --input traces/corpus --out build/exhaust/traces

    Exit codes: 0 all steps hold that were judged (the output counts those that were left out); 11
    differences; 2 a wrong command line or input; 3 an engine or the target failed, or loaded states wrongly,
    or steps could not be judged or read.
    """
    need_spark("conform exhaust")
    # imported here, so that no other verb waits for the import of Spark
    from harness.pipeline.exhaust import Job, exhaust
    from harness.pipeline.inputs import model_dialect
    from harness.pipeline.publish import check_format
    from harness.pipeline.report import summary
    from harness.pipeline.session import Cluster, settings_of
    from harness.pipeline.sources import by_spark, dialects_of, find_files
    from harness.pipeline.store import scheme_of

    check_json_place(json_file)
    accepted = read_waivers(waivers, date.today())
    check_format(table_format, tables)
    if name is None and not inputs:
        raise ConformError("Say what to judge: a MODEL, files with --input, or both.")
    model, entry = find_model(name, config, manifest) if name else (None, None)
    if entry and entry.alone:
        raise ConformError(f"{name} is a check of the specification alone: {entry.alone}")
    toured = tour if tour is not None else entry.tour if entry else ""
    closed = find_model(toured, None, manifest)[0] if toured else None
    place = out or f"{_OUTPUT}/{model.name if model else 'traces'}"
    files = find_files(inputs or [])
    judged = {f"The model {one.name}": model_dialect(one) for one in (model, closed) if one}
    spoken = chosen_dialect(dialect, judged | dialects_of([one for one in files if not by_spark(one)]))
    cluster = Cluster(master, spark_memory, package, settings_of(conf or []))
    job = Job(*(target, spoken, place, model, closed, files, page, cluster, accepted), tables, table_format)
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        log = Path(folder) if scheme_of(place) else output_folder(Path(place))
        with running(f"judging {model.name if model else f'{len(files)} files'} on {target}") as progress:
            result = exhaust(job, Limits(memory, timeout), log, progress)
    for line in summary(result, model, place):
        print(line)
    write_json(json_file, {"command": "exhaust", "model": name, "output": place, **result.to_json()})
    end_with(result)


def end_with(result: Exhausted) -> None:
    """Exit as the result says."""
    problems = list(result.waiver_problems)
    if result.failed:
        steps = f"{result.failed:,} of {result.transitions + result.trace_steps:,} steps differ"
        problems.insert(0, f"The target {result.target} does not conform: {steps}.")
    if problems:
        raise ConformError(" ".join(problems), NOT_CONFORMANT)
    if not result.steps + result.trace_steps and not result.quarantined:
        others = f" ({result.of_clients:,} are those of clients)" if result.of_clients else ""
        if result.left_out:
            raise ConformError(
                f"Nothing was judged: all steps need what the target {result.target} lacks "
                f"({', '.join(result.left_out)}).",
            )
        raise ConformError(
            f"There was no step to judge: neither the model nor the files have one of a coordinator{others}."
        )
    if result.not_judged or result.quarantined:
        first = result.first_not_judged or {}
        failure = f"{first['failure']} " if first.get("failure") else ""
        unread, steps = counted(result.quarantined, "input"), counted(result.not_judged, "step")
        raise ConformError(
            f"{failure}{unread} could not be read and {steps} not be judged on {result.target}: "
            "see the tables quarantine and verdicts.",
            ENGINE_FAILED,
        )
    if wrong := result.loads.get("wrong"):
        raise ConformError(
            f"The target {result.target} loads states wrongly, {wrong['states']:,} of them; all steps hold, "
            "from states that were reached by their shortest paths.",
            ENGINE_FAILED,
        )
