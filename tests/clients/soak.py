"""Many schedules of the reference member, as evidence: on the simulated clock, and over sockets.

    python tests/clients/soak.py --seeds 10000 --sockets 100 --evidence spec/evidence/Clients.json
    python tests/clients/soak.py --verify spec/evidence/Clients.json

No rule may be broken. A breach over sockets that does not repeat 5 times of 5 is recorded as such: on a busy
machine a process may not run for seconds.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from harness import sources  # noqa: E402
from harness.clients.draw import draw  # noqa: E402
from harness.clients.judge import Judged  # noqa: E402
from harness.clients.over_sockets import Sockets, judge_agent  # noqa: E402
from harness.clients.schedules import drawn  # noqa: E402
from harness.clients.simulated import simulate  # noqa: E402
from harness.errors import NOT_CONFORMANT, ConformError  # noqa: E402
from harness.files import write_text  # noqa: E402
from harness.targets.groups.python import PythonParts  # noqa: E402
from harness.targets.groups.served import ServedCoordinator  # noqa: E402

SOURCES: Final = (
    *("coordinator/**/*.py", "harness/clients/*.py", "harness/targets/groups/*.py"),
    *("harness/targets/broker/connection.py",),
    *("harness/targets/broker/forms.py", "harness/targets/broker/names.py", "tests/clients/soak.py"),
)
"""The sources of a result: coordinator, member, both ends of the wire, schedules and rules. Those that are
imported count."""
PROGRAMS: Final = (
    *("tests/clients/soak.py", "coordinator/serve/command.py"),
    "harness/targets/groups/member_agent.py",
)


def hashes() -> dict[str, str]:
    """`code_hash` of every source that a result depends on."""
    return sources.hashes(ROOT, SOURCES, *PROGRAMS)


def counted(results: Iterable[tuple[int, Judged]]) -> dict[str, Any]:
    """The number of schedules, and the number of times that each rule had something to judge. ConformError
    (exit 11) for a broken rule."""
    counts: Counter[str] = Counter()
    schedules = 0
    for seed, judged in results:
        if judged.breaches:
            breach = judged.breaches[0]
            sentence = f"seed {seed}: {breach.requirement} {breach.rule}, the reference {breach.message}"
            raise ConformError(sentence, NOT_CONFORMANT)
        counts.update(judged.counts)
        schedules += 1
        if schedules % 1_000 == 0:
            print(f"{schedules} schedules", file=sys.stderr, flush=True)
    return {"schedules": schedules, "judged": dict(sorted(counts.items()))}


def on_the_clock(seeds: int) -> dict[str, Any]:
    """Judge the reference on the simulated clock."""
    parts = PythonParts()
    return counted((seed, simulate(parts, parts.member, *draw(seed))[0]) for seed in range(seeds))


def over_sockets(seeds: int, jobs: int) -> dict[str, Any]:
    """Judge the reference over sockets."""
    command = [sys.executable, "-m", "harness.targets.groups.member_agent"]

    def say(line: str) -> None:
        print(f"over sockets: {line}", file=sys.stderr, flush=True)

    result = judge_agent(Sockets(ServedCoordinator, command, jobs), drawn(range(seeds)), say)
    if result.broken:
        raise ConformError(f"over sockets the reference breaks {', '.join(result.broken)}", NOT_CONFORMANT)
    return {
        "schedules": result.schedules,
        "judged": dict(sorted(result.counts.items())),
        "not repeated": {rule: str(one.origin) for rule, one in result.unsure.items()},
    }


def main() -> int:
    """Exit code 0, 11 if a rule is broken, 12 for evidence that does not count."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10_000, help="schedules on the simulated clock")
    parser.add_argument("--sockets", type=int, default=100, help="schedules over sockets")
    parser.add_argument("--jobs", type=int, default=4, help="schedules over sockets at a time")
    parser.add_argument("--evidence", type=Path, help="write the result to this file")
    parser.add_argument("--verify", type=Path, help="only say whether this evidence is of the code as it is")
    options = parser.parse_args()
    if options.verify:
        return sources.verify(options.verify, hashes())
    started = time.monotonic()
    try:
        result = {
            "what": "random schedules on the reference member: no rule of a client is broken",
            "files": hashes(),
            "simulated": on_the_clock(options.seeds),
            "sockets": over_sockets(options.sockets, options.jobs),
            "versions": {"python": platform.python_version()},
            "seconds": round(time.monotonic() - started, 1),
        }
    except ConformError as error:
        print(error.message, file=sys.stderr)
        return error.exit_code
    if options.evidence:
        write_text(options.evidence, json.dumps(result, indent=2, sort_keys=True) + "\n")
    print(f"{options.seeds} schedules on the simulated clock, {options.sockets} over sockets: no rule broken")
    return 0


if __name__ == "__main__":
    sys.exit(main())
