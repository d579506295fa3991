"""Operations of all kinds, from a seed, on coordinators in this process: what may they never do?

    python tests/fuzz/fuzz.py --operations 200000 --seed 848
    python tests/fuzz/fuzz.py --operations 10000000 --evidence spec/evidence/Fuzz.json
    python tests/fuzz/fuzz.py --verify spec/evidence/Fuzz.json

fuzz_run.py watches them, fuzz_draw.py draws them. An episode is one coordinator and some
hundred operations; one that fails is shortened, and written to --out as a file for tests/fuzz/corpus.
"""

from __future__ import annotations

import argparse
import json
import platform
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from fuzz_draw import Json  # noqa: E402
from fuzz_run import EPISODE, Failure, dialect_of, episode, failing  # noqa: E402

from harness import sources  # noqa: E402
from harness.errors import NOT_CONFORMANT  # noqa: E402
from harness.files import output_folder, write_text  # noqa: E402
from harness.simulate.shrink import shrink  # noqa: E402

SOURCES: Final = ("coordinator/**/*.py", "tests/fuzz/fuzz*.py", "harness/simulate/shrink.py")
"""The sources of a result: the coordinator, the drawing and the checks. Those that are imported count: no
operation comes by Kafka's protocol. Its frames have a fuzzer of their own, tests/serve/test_serve_fuzz.py."""
MOST_SECONDS: Final = 60
"""Seconds of processor time. An episode takes a tenth of a second; after this limit it is taken for endless.
"""


def fuzz(operations: int, seed: int) -> tuple[Counter[str], list[tuple[str, list[Json | str], Failure]]]:
    """Do at least a number of operations: how often each was done, and the episodes that failed."""
    tally: Counter[str] = Counter()
    failed = []
    signal.signal(signal.SIGVTALRM, _stuck)
    for number in range(-(-operations // EPISODE)):
        done: list[Json | str] = []
        signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
        try:
            for operation in episode(f"{seed} {number}", tally):
                done.append(operation)
        except Failure as failure:
            failed.append((f"{seed} {number}", done, failure))
        tally["operations"] += len(done)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return tally, failed


def _stuck(*_: object) -> None:
    raise Failure("endless", f"an episode has taken {MOST_SECONDS} s of processor time")


def shortened(operations: list[Json | str], seed: str, failure: Failure) -> list[Json | str]:
    """The shortest part of an episode that fails in the same way."""

    def fails(part: Any) -> bool:
        found = failing(part, dialect_of(seed))
        return found is not None and found.kind == failure.kind

    return shrink(operations, fails) if fails(operations) else operations


def hashes() -> dict[str, str]:
    """`code_hash` of every source that a result depends on."""
    return sources.hashes(ROOT, SOURCES, "tests/fuzz/fuzz.py")


def main() -> int:
    """Exit code 0, 11 where an episode failed, 12 where evidence does not count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--operations", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=848)
    parser.add_argument("--out", type=Path, default=Path("build") / "fuzz", help="where failures are written")
    parser.add_argument("--evidence", type=Path, help="write the result to this file, if nothing failed")
    parser.add_argument("--verify", type=Path, help="only say whether this evidence is of the code as it is")
    options = parser.parse_args()
    if options.verify:
        return sources.verify(options.verify, hashes())
    began, files = time.process_time(), hashes()
    tally, failed = fuzz(options.operations, options.seed)
    seconds = round(time.process_time() - began, 1)
    print(f"{tally['operations']} operations in {seconds} s of processor time, {len(failed)} episodes failed")
    seen: set[str] = set()
    for seed, operations, failure in failed:
        if failure.kind in seen:
            continue
        seen.add(failure.kind)
        short = shortened(operations, seed, failure)
        again = failing(short, dialect_of(seed)) or failure
        name = f"{seed.replace(' ', '-')}.json"
        kept = {"dialect": dialect_of(seed).name, "failed": failure.kind, "operations": short}
        write_text(output_folder(options.out) / name, json.dumps(kept, indent=1) + "\n")
        print(f"episode {seed!r}, {len(short)} operations in {options.out / name}: {again}", file=sys.stderr)
    if failed:
        return NOT_CONFORMANT
    if options.evidence:
        result = {
            "what": "operations of all kinds, well-formed and bent: no uncaught exception, every operation "
            "ended, nothing changed by what was refused, restarts gave the same state",
            **{"operations": tally.pop("operations"), "seed": options.seed},
            "counts": dict(sorted(tally.items())),
            **{"versions": {"python": platform.python_version()}, "files": files, "seconds": seconds},
        }
        write_text(options.evidence, json.dumps(result, indent=2, sort_keys=True) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
