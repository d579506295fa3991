"""`conform simulate`: whole groups under random faults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place
from harness.cli.options import (
    ALL_PROCESSORS,
    SPARK_MEMORY,
    JsonFile,
    KeptFolder,
    Master,
    NoKept,
    Package,
    Schedule,
    SparkMemory,
    SparkSettings,
)
from harness.cli.simulate_groups import Assumption, Place, check_record, replay_groups, simulate_groups
from harness.errors import USAGE, ConformError
from harness.kept import FOLDER
from harness.simulate.groups.run import SimulationOptions
from harness.simulate.stage import stage_of, stages


def command(
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 848,
    seeds: Annotated[
        int, typer.Option(min=1, metavar="N", help="The number of seeds, from --seed on, which Spark runs.")
    ] = 1,
    events: Annotated[int, typer.Option(min=1, metavar="N", help="Events of each seed.")] = 5_000,
    kind: Annotated[
        str, typer.Option(metavar="KIND", help=f"Kind of the groups: {', '.join(sorted(stages()))}.")
    ] = SimulationOptions().kind,
    schedule: Schedule = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG",
            help="Write the requests to the coordinator and its answers to this log, for conform validate.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for schedules that fail.")] = Path(
        "build/simulate"
    ),
    json_file: JsonFile = None,
    without: Annotated[
        list[Assumption] | None,
        typer.Option(help="Take away an assumption of the protocol: then a violation must be found."),
    ] = None,
    master: Master = ALL_PROCESSORS,
    conf: SparkSettings = None,
    package: Package = None,
    spark_memory: SparkMemory = SPARK_MEMORY,
    kept_folder: KeptFolder = FOLDER,
    no_kept: NoKept = False,
) -> None:
    """Simulate whole groups under random faults.

    Consumers, with their clocks, and the coordinator are one simulation of discrete events. Messages are
    lost, late, doubled and reordered; consumers crash, leave, come back, unsubscribe, stall and are cut off,
    and their callbacks fail; the coordinator fails over; topics come, grow, go and are made anew; members of
    some groups compute the target themselves. After every event the invariants of the touched members are
    checked (R7 in both views, E1 to E4, R1, R2, R5, R6, A4 to A7, H2, H5, H8, O2 to O4, K1 to K4, S1, P2),
    and at the end of a seed the faults stop and every group must converge (R8). A schedule that fails is
    shrunk to the shortest one. --without takes an assumption away: r9, that the network drops a request which
    its process gave up, or exemption, that a zombie may still own another member's partitions.

    With --kind classic the members are those of the classic protocol, eager and cooperative ones, dynamic and
    static ones, with their barriers, leaders and generations (C1 to C7, H5, H8, H9, O2).

    Schedules are written to files, which --replay takes. Those of the last runs are tried first, and end a
    run in which they still fail. --record writes the log of a run, which conform
    validate takes. Two implementations are compared by conform compare.

    \b
    conform simulate --seed 7
    conform simulate --seeds 200
    conform simulate --kind classic --seed 7
    conform simulate --seed 7 --events 800 --record build/seed-7.jsonl

    Exit codes: 0 all holds; 11 a violation; 2 a wrong command line; 3 the coordinator or Spark failed.
    """
    check_json_place(json_file)
    if schedule is not None and json_file is not None:
        raise ConformError("--replay plays one schedule and prints the result: leave out --json.", USAGE)
    if schedule is not None:
        return replay_groups(schedule, record)
    if record is not None and seeds > 1:
        raise ConformError("--record writes down one run: leave out --seeds.", USAGE)
    check_record(record, kind)
    taken, assumes = set(without or ()), stage_of(kind).assumptions
    if strange := sorted(taken - set(assumes)):
        raise ConformError(
            f"The simulation of {kind} groups does not rely on {strange[0]}; --without takes "
            f"{' and '.join(assumes)}.",
            USAGE,
        )
    wanted = SimulationOptions(
        seed, seeds, events, Assumption.r9 not in taken, Assumption.exemption not in taken, kind
    )
    simulate_groups(
        wanted,
        Place(
            out,
            json_file,
            master,
            spark_memory,
            package,
            conf or (),
            record,
            None if no_kept or record else kept_folder,
        ),
    )
