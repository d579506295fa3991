"""`conform validate`: is a recorded run a behaviour of the specification?"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli.console import MANIFEST, check_json_place, running, spec_folder, write_json
from harness.cli.options import JsonFile, ManifestFile, TlcMemory, TlcTimeout, dialect_option
from harness.cli.sides import Side, clients_in, clients_json, judge_clients
from harness.engines.base import Limits
from harness.errors import NOT_CONFORMANT, ConformError
from harness.files import output_folder, write_text
from harness.itf import trace_to_text
from harness.kinds.recordings import read_log
from harness.replay.dialects import known_name
from harness.targets.base import Json
from harness.validate.recording import Recorded
from harness.validate.run import Instead, Validated, Validation, validate
from harness.validate.unread import unread_fields
from harness.words import counted

SHOWN = 3
"""The number of possible next steps that are shown; all are in the JSON."""
UNREAD = 12
"""The number of unknown fields that are printed; all are in the JSON."""


def command(
    log: Annotated[Path, typer.Argument(metavar="LOG", help="Operations with their answers, as JSON lines.")],
    group: Annotated[
        str | None, typer.Option(help="The group (default: the first that a request names).")
    ] = None,
    dialect: Annotated[
        str | None, dialect_option("The dialect of the target (default: the dialect of the log, or kip-848).")
    ] = None,
    side: Annotated[
        Side | None,
        typer.Option(
            help="The side that is judged: the coordinator's answers, the clients' requests, or "
            "both (default: both for a record of conform proxy, else the coordinator)."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the behaviours, as ITF traces.")
    ] = None,
    manifest: ManifestFile = MANIFEST,
    json_file: JsonFile = None,
    memory: TlcMemory = "2g",
    timeout: TlcTimeout = None,
) -> None:
    """Tell if a recorded run of an implementation is a behaviour of the specification.

    A log has one JSON object a line: an operation of the line protocol with its `answer`; --record of
    `conform replay` and `conform simulate` writes one, and any program can. Fields that an answer leaves
    out are not compared, and fields that the protocol does not have are named. The log, of a consumer,
    classic, Connect or share group or of a group that migrates, is rendered into a module over one of
    spec/Recorded*.tla that TLC follows line by line. Where a line does not fit, the output shows the
    longest prefix that fits, and the steps that the specification has instead.

    A record of `conform proxy` has both ends: its clients are judged, too, by spec/RecordedClient.tla. For a
    request that no member may send, the output names the rule, its requirement and the possible requests.

    \b
    {"op":"request","api":"ConsumerGroupHeartbeat","body":{...},"answer":{"body":{...},"group":{...}}}
    {"op":"fire","timer":"session","group":"g","member":"m1","answer":{"fired":[...]}}

    \b
    conform replay traces/golden/basic.itf.json --record build/basic.jsonl
    conform validate build/basic.jsonl

    Exit codes: 0 a behaviour; 11 not a behaviour; 2 no log, or nothing in it to judge; 3 TLC failed.
    """
    check_json_place(json_file)
    if out:
        output_folder(out)
    recorded = None if side == Side.CLIENT else read_log(log, group, dialect)
    clients = clients_in(log, group, side)
    unread = unread_fields(log)
    for one in [*unread[:UNREAD], *([f"and {len(unread) - UNREAD} more fields"] if unread[UNREAD:] else [])]:
        print(one)
    spec, limits = spec_folder(manifest), Limits(memory, timeout, 1)
    with_clients = clients if recorded is None else recorded
    assert with_clients is not None
    name = known_name(dialect or with_clients.dialect or "kip-848")
    result: Json = {"verb": "validate", "group": with_clients.group, "dialect": name, "unread": unread}
    wrong = []
    if recorded is not None:
        judged = _judge(recorded, log, name, spec, limits, out)
        result |= _json(judged)
        wrong += [] if judged.holds else [f"{log} is no behaviour of the specification."]
    if clients is not None:
        of_clients = judge_clients(clients, name, spec, limits)
        result |= {"engine": of_clients.engine, "spec": result.get("spec") or of_clients.spec}
        result |= {"clients": clients_json(of_clients), "clients_hold": of_clients.holds}
        wrong += [] if of_clients.holds else [f"{log} has a request that no member may send."]
    result["holds"] = not wrong
    write_json(json_file, result)
    if wrong:
        raise ConformError(" ".join(wrong), NOT_CONFORMANT)


def _judge(
    recorded: Recorded[Any], log: Path, name: str, spec: Path, limits: Limits, out: Path | None
) -> Validation[Any]:
    """Follow the coordinator, and report how far."""
    with running(f"validating {recorded.lines} steps of {log.name}") as progress:
        result = validate(recorded, name, spec, limits, progress)
    recorded = result.recorded
    steps, runs = counted(recorded.lines, "step"), counted(len(result.runs), "run")
    print(f"{log}: {steps} of group {recorded.group} in {runs}, dialect {name}")
    for reason, count in sorted(recorded.left_out.items(), key=lambda item: _by_number(item[0])):
        print(f"left out: {counted(count, 'line')}, {reason}")
    if out:
        for number, run in enumerate(result.runs, start=1):
            write_text(out / f"{log.stem}-{number:04}.itf.json", trace_to_text(run.trace))
    if result.holds:
        print(f"a behaviour of the specification ({result.engine}, spec {result.spec[:12]})")
    else:
        _explain(next(run for run in result.runs if run.misfit))
    return result


def _by_number(reason: str) -> list[tuple[str, int]]:
    """A sort key that puts line 9 before line 10."""
    return [("", int(part)) if part.isdigit() else (part, 0) for part in re.split(r"(\d+)", reason)]


def _explain(validated: Validated[Any]) -> None:
    misfit = validated.misfit
    assert misfit is not None
    steps = counted(len(validated.run.lines), "step")
    print(f"the longest prefix that is a behaviour: {validated.fits} of {steps}")
    print(f"line {misfit.line.number} does not fit: {_sentence(misfit.line.content)}")
    for one in misfit.instead[:SHOWN]:
        print(f"  the specification has {one.action}{f' ({one.branch})' if one.branch else ''}, where")
        for difference in one.differences:
            print(f"    {difference.path}: {difference.expected}, not {difference.got}")
    if len(misfit.instead) > SHOWN:
        print(f"  and {len(misfit.instead) - SHOWN} other outcomes of it, further away")
    if not misfit.instead:
        print("  the specification has no such step there")
    if misfit.enabled:
        print(f"  enabled there, too: {', '.join(misfit.enabled)}")


def _sentence(answer: Json) -> str:
    shown = {name: value for name, value in answer.items() if name not in ("answer", "client")}
    return json.dumps(shown)


def _instead(one: Instead) -> Json:
    return {
        "action": one.action,
        "branch": one.branch,
        "differences": [
            {"path": difference.path, "expected": difference.expected, "got": difference.got}
            for difference in one.differences
        ],
    }


def _json(result: Validation[Any]) -> Json:
    recorded = result.recorded
    rows = []
    for run in result.runs:
        row: Json = {"steps": len(run.run.lines), "fits": run.fits}
        if run.misfit:
            row["line"] = run.misfit.line.number
            row["instead"] = [_instead(one) for one in run.misfit.instead]
            row["enabled"] = list(run.misfit.enabled)
        rows.append(row)
    return {
        "engine": result.engine,
        "spec": result.spec,
        "steps": recorded.lines,
        "left_out": dict(recorded.left_out),
        "coordinator_holds": result.holds,
        "runs": rows,
    }
