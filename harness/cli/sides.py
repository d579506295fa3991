"""The ends of the wire in a log that `conform validate` judges, and the words about clients."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.cli.console import running
from harness.engines.base import Limits
from harness.errors import USAGE, ConformError
from harness.kinds.recordings import names_clients, read_clients
from harness.targets.base import Json
from harness.validate.recording import Recorded
from harness.validate.run import Validated, Validation, validate
from harness.words import counted

NEAREST = 3
"""The number of possible states of a client that are shown."""


class Side(StrEnum):
    """An end of the wire."""

    COORDINATOR = "coordinator"
    CLIENT = "client"
    BOTH = "both"


def clients_in(log: Path, group: str | None, side: Side | None) -> Recorded[Any] | None:
    """The clients to judge; None for the coordinator's end alone. ConformError (exit 2) if there are none and
    the option asks for them."""
    if side is Side.COORDINATOR or (side is None and not names_clients(log)):
        return None
    clients = read_clients(log, group)
    if not clients.runs and side is not None:
        why = ", ".join(f"{reason}: {count}" for reason, count in clients.left_out.items() if count)
        raise ConformError(
            f"{log} has no member of a consumer group that joins{f' (left out: {why})' if why else ''}: "
            "there is no client to validate. --side coordinator judges the answers alone.",
            USAGE,
        )
    return clients if clients.runs else None


def judge_clients(clients: Recorded[Any], dialect: str, spec: Path, limits: Limits) -> Validation[Any]:
    """Follow each member id, and report how far."""
    with running(f"validating {clients.lines} requests of clients") as progress:
        result = validate(clients, dialect, spec, limits, progress)
    print(f"clients: {counted(clients.lines, 'request')} of {counted(len(result.runs), 'member id')}")
    for reason, count in sorted(clients.left_out.items()):
        print(f"left out of the clients: {counted(count, 'line')}, {reason}")
    for run in result.runs:
        if run.misfit:
            _explain(run)
    if result.holds:
        print(f"each client is a behaviour of a member ({result.engine}, spec {result.spec[:12]})")
    return result


def _explain(validated: Validated[Any]) -> None:
    misfit, run = validated.misfit, validated.run
    assert misfit is not None
    listener = f" (listener {run.listener})" if run.listener is not None else ""
    print(
        f"member {run.member}{listener}: {validated.fits} of {len(run.lines)} requests are those of a "
        f"member; no member may send line {misfit.line.number}"
    )
    print(f"  {json.dumps({name: value for name, value in misfit.line.content.items() if name != 'answer'})}")
    for one in misfit.instead[:NEAREST]:
        print(f"  {one.branch} may not, by")
        for difference in one.differences:
            print(f"    {difference.path}: {difference.expected}; not {difference.got}")


def clients_json(result: Validation[Any]) -> list[Json]:
    """The result of each member id."""
    rows = []
    for validated in result.runs:
        run = validated.run
        row: Json = {
            "member": run.member,
            "listener": run.listener,
            "steps": len(run.lines),
            "fits": validated.fits,
        }
        if validated.misfit:
            row["line"] = validated.misfit.line.number
            row["broken"] = [_broken(one) for one in validated.misfit.instead]
        rows.append(row)
    return rows


def _broken(one: Any) -> Json:
    rules = []
    for difference in one.differences:
        requirement, name = difference.path.split()
        rules.append(
            {
                "requirement": requirement,
                "rule": name,
                "possible": difference.expected,
                "sent": difference.got,
            }
        )
    return {"as": one.branch, "rules": rules}
