"""python -m coordinator --stdio: the coordinator as a program that speaks the line protocol."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Sequence

from coordinator.admin.command import groups
from coordinator.core.clock import SimulatedClock, SystemClock, numbered_ids, random_ids
from coordinator.core.dialect import DIALECTS, Dialect
from coordinator.core.errors import AppendFailed, BadInput
from coordinator.core.storage import SqliteStorage
from coordinator.service import Coordinator
from coordinator.stdio import lines_of, serve

EXAMPLES = """\
examples:
  Join a group, let its session expire, and look at it (one JSON object a line):

    python -m coordinator --stdio <<'END'
    {"op":"hello"}
    {"op":"topics","upsert":[{"name":"foo","id":"11111111-1111-1111-1111-111111111111","partitions":2}]}
    {"op":"request","id":1,"api":"ConsumerGroupHeartbeat","version":0,"client":{"id":"c1","host":"/127.0.0.1"},"body":{"groupId":"g","memberId":"m1","memberEpoch":0,"rebalanceTimeoutMs":5000,"subscribedTopicNames":["foo"],"topicPartitions":[]}}
    {"op":"advance","ms":45000,"observe":"g"}
    END

  Keep the log in a file, and find the group again in a second run:

    python -m coordinator --stdio --log groups.db < operations
    echo '{"op":"describe","group":"g"}' | python -m coordinator --stdio --log groups.db

  As Apache Kafka 4.2 behaves:

    python -m coordinator --stdio --dialect kafka-4.2

  Look at the groups in a log, and change them:

    python -m coordinator groups --help

  Serve Kafka's protocol to unmodified clients:

    python -m coordinator serve --help
"""
OBJECTS_BEFORE_COLLECTION = 50_000
"""Python starts its garbage collector after this many new objects, in place of 700: an operation leaves few
reference cycles, and the search would take a tenth of the time."""
OUTPUT_BYTES = 1 << 15
"""The most bytes of answers that are written at once: half of a pipe's capacity, so that the pipe's
reader need not wait."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program. Exit code 0 at the end of the input, 2 for a wrong command line; for `groups`, see
    `admin.command.groups`."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    if given[:1] == ["groups"]:
        return groups(given[1:])
    if given[:1] == ["serve"]:
        # This module imports kio, which no other part of the coordinator needs.
        from coordinator.serve.command import serve as serve_kafka

        return serve_kafka(given[1:])
    parser = argparse.ArgumentParser(
        prog="python -m coordinator",
        description="Run a KIP-848 group coordinator over the conformance kit's line protocol.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--stdio",
        action="store_true",
        required=True,
        help="read operations from the standard input, and write answers to the standard output",
    )
    parser.add_argument(
        "--dialect",
        default="kip-848",
        help=f"one of {', '.join(DIALECTS)}; departures may follow: kafka-4.2,MetadataChange=at-once",
    )
    parser.add_argument(
        "--clock",
        choices=("simulated", "real"),
        default="simulated",
        help="simulated (default): the operation `advance` moves the time, and ids are numbered; "
        "real: the machine's time, and random ids",
    )
    parser.add_argument(
        "--log",
        metavar="FILE",
        help="keep the log in this SQLite file and go on from it; an answer leaves once its records "
        "are on disk (default: the log ends with the process)",
    )
    options = parser.parse_args(given)
    real = options.clock == "real"
    try:
        dialect = Dialect.named(options.dialect)
        storage = None if options.log is None else SqliteStorage(options.log)
        coordinator = Coordinator(
            dialect=dialect,
            clock=SystemClock() if real else SimulatedClock(),
            ids=random_ids() if real else numbered_ids(),
            storage=storage,
        )
    except (BadInput, AppendFailed) as error:
        parser.error(str(error))
    try:
        # Answers to lines that came together leave together; with a log each leaves at once, so that after a
        # kill at most one operation is in the log whose answer did not leave.
        with open(sys.stdout.fileno(), "wb", buffering=OUTPUT_BYTES, closefd=False) as output:
            for answer in serve(coordinator, lines_of(sys.stdin.fileno(), output.flush)):
                output.write(answer.encode() + b"\n")
                if storage is not None:
                    output.flush()
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    finally:
        if storage is not None:
            storage.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
