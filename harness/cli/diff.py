"""`conform diff`: what an edit of the specification adds, forbids and answers otherwise."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import MANIFEST, check_json_place, running, write_json
from harness.cli.options import JsonFile, TlcMemory, TlcTimeout
from harness.diff.page import page
from harness.diff.report import summary, to_json, verdict, write_traces
from harness.diff.run import ComparedModel, diff
from harness.diff.sides import Side, open_side
from harness.engines.base import Limits
from harness.errors import MODEL_VIOLATED, ConformError
from harness.files import output_folder, write_text
from harness.kit import kit_path

DEFAULT = "MCTour"
"""The model that is compared where none is named: small, and every request of it is in it."""


def command(
    a: Annotated[str, typer.Argument(metavar="SPEC_A", help="The specification before the edit.")],
    b: Annotated[str, typer.Argument(metavar="SPEC_B", help="The version after the change.")],
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help=f"Compare behaviours and properties (default: {DEFAULT})."),
    ] = None,
    check: Annotated[
        list[str] | None,
        typer.Option(metavar="MODEL", help="Compare the properties alone: large or live models."),
    ] = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH", help="Leave out a new field, as group.members.*.field or step.request.field."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for page, traces, logs.")] = Path(
        "build/diff"
    ),
    manifest: Annotated[Path, typer.Option(help="The manifest of the specification at hand.")] = MANIFEST,
    json_file: JsonFile = None,
    memory: TlcMemory = "2g",
    timeout: TlcTimeout = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Runs of TLC at a time (default: one for each processor)."),
    ] = None,
) -> None:
    """Compare two versions of the specification within the bounds of models: a page for reviewers.

    SPEC_A and SPEC_B are two versions of the specification, each a folder, the path of a module (its model is
    the .cfg beside it), a git revision (HEAD~1, or HEAD~1:spec), a model of the manifest, or a dialect of the
    specification at hand, perhaps with constants changed (kip-848,FencedMemberIsRemoved=FALSE).

    In the states that both versions reach, every input is compared: inputs with another outcome, steps that B
    forbids, and steps that B adds are counted by action, with the shortest example of each kind, also as a
    trace for `conform replay`. Every property of the models is checked in both.

    \b
    conform diff HEAD .
    conform diff MCTour path/to/edited/spec/MCTour.tla
    conform diff kip-848 kafka-4.2 --model MCTour --check MCLive

    Exit codes: 0 B has no failing property but those that fail in A, too; 10 B has another one; 2 a wrong
    command line or specification; 3 TLC failed.
    """
    check_json_place(json_file)
    output_folder(out)
    manifest = kit_path(manifest)
    with tempfile.TemporaryDirectory(prefix="conform-") as folder:
        one = open_side(a, manifest, Path(folder) / "a")
        other = open_side(b, manifest, Path(folder) / "b")
        wanted = _models(one, other, model or [], check or [])
        limits = Limits(memory, timeout, 1)
        with running(f"comparing {a} with {b}") as progress:
            difference = diff(
                one,
                other,
                wanted,
                without=leave_out or [],
                limits=limits,
                jobs=jobs or os.cpu_count() or 1,
                logs=out,
                progress=progress,
            )
    exit_code = MODEL_VIOLATED if difference.broken else 0
    written = write_traces(difference, out)
    write_text(out / "index.html", page(difference, written))
    write_json(json_file, to_json(difference, exit_code, written, out))
    for line in summary(difference, written, out):
        print(line)
    print(f"\npage: {out / 'index.html'}\nverdict: {verdict(difference)}")
    raise typer.Exit(exit_code)


def _models(a: Side, b: Side, models: list[str], checks: list[str]) -> list[ComparedModel]:
    """The models to compare: those that the versions name themselves, or those of the options."""
    wanted = []
    if a.names or b.names:
        wanted.append(ComparedModel(a.names or b.names, b.names or a.names))
    elif not models and not checks:
        models = [DEFAULT]
    wanted += [ComparedModel(name, name) for name in models]
    wanted += [ComparedModel(name, name, behaviours=False) for name in checks]
    names = [one.name for one in wanted]
    for name in names:
        if names.count(name) > 1:
            raise ConformError(f"The model {name} is named {names.count(name)} times: once is enough.")
    return wanted
