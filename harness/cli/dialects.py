"""`conform dialects`: where implementations depart from KIP-848's text."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import MANIFEST, check_json_place, named_manifest, write_json
from harness.cli.options import JsonFile, ManifestFile
from harness.dialects import (
    Checked,
    Departure,
    Listed,
    Measured,
    departures,
    listed,
    models_of_dialects,
    read_measured,
    shown,
)
from harness.replay.causes import lines, to_json

_WIDTH = 100


def command(
    measured: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="The JSON of `conform replay` on an implementation; repeatable."),
    ] = None,
    manifest: ManifestFile = MANIFEST,
    json_file: JsonFile = None,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the departures as tables of Markdown instead.")
    ] = False,
) -> None:
    """Print where Kafka departs from KIP-848's text, since which version, and which models check that.

    Constants and sentences are those of spec/Dialects.tla, and the Python coordinator can make every choice
    (its --dialect). A model is safe if no partition is ever owned twice (R7), live if the group converges
    (R8). For an implementation without a dialect, such as librdkafka's mock, the command lists the
    differences of a replay instead: first by their causes, then each kind of difference once, with its number
    and the shortest way to it.

    \b
    conform dialects
    conform replay traces/golden --target mock --json build/mock.json
    conform dialects --measured build/mock.json

    Exit codes: 0; 2 a file that cannot be read.
    """
    check_json_place(json_file)
    read = named_manifest(manifest)
    table, checked = [one for one in departures(read.folder) if one.differs], models_of_dialects(read)
    of_targets = {one.target: one for one in map(read_measured, measured or ())}
    without = listed(read.folder)
    for line in markdown(table, without) if as_markdown else _lines(table, without, checked, of_targets):
        print(line)
    write_json(
        json_file,
        {
            "command": "dialects",
            "exit_code": 0,
            "departures": [asdict(one) for one in table],
            "listed": [asdict(one) for one in without],
            "models": [asdict(one) for one in checked],
            "measured": {target: [asdict(one) for one in of.findings] for target, of in of_targets.items()},
            "causes": {target: to_json(of.causes) for target, of in of_targets.items()},
        },
    )


def _lines(
    table: Sequence[Departure],
    without: Sequence[Listed],
    checked: Sequence[Checked],
    measured: dict[str, Measured],
) -> Iterator[str]:
    for one in table:
        yield one.name
        yield from _wrapped(one.sentence)
        yield from _wrapped("; ".join(f"{shown(value)}: {names}" for value, names in one.runs()))
    yield "departures without a constant"
    for other in without:
        models = f"In the models: {other.models}" if other.models else "No model has it."
        yield from _wrapped(f"{other.name}, {other.versions}. {other.sentence} {models}")
    yield "models that hold, with their distinct states"
    for dialect in checked:
        for kind, of in (("safe", dialect.safe), ("live", dialect.live), ("every request", dialect.open)):
            holding = ", ".join(f"{name} {states:,}" for name, states in of.items()) or "none"
            yield from _wrapped(f"{dialect.dialect}, {kind}: {holding}")
    for target, read in measured.items():
        count = sum(one.count for one in read.findings)
        kinds = f"{len(read.findings)} kinds, {len(read.causes)} causes"
        yield f"measured on {target}: {count} differences, {kinds}"
        for line in lines(read.causes):
            yield from _wrapped(line)
        for finding in read.findings:
            yield from _wrapped(
                f"{finding.count} x {finding.signature} (step {finding.step} of {finding.trace})"
            )


def markdown(table: Sequence[Departure], without: Sequence[Listed]) -> Iterator[str]:
    """The departures as tables of Markdown: those with a constant, then those without one."""
    yield from ("| departure | requirement and meaning | choices |", "| --- | --- | --- |")
    for one in table:
        choices = "; ".join(f"{shown(value)}: {names}" for value, names in one.runs())
        yield f"| `{one.name}` | {_cell(one.sentence)} | {_cell(choices)} |"
    yield from (
        "",
        "| departure without a constant | versions | meaning | models |",
        "| --- | --- | --- | --- |",
    )
    for other in without:
        cells = (other.versions, other.sentence, other.models or "none")
        yield f"| `{other.name}` | {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
