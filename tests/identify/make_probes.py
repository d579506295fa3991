"""A program that makes harness/identify/probes.json: for each departure short schedules on which its values
differ.

Two Python coordinators that differ in one departure get the same random schedules (conform simulate); the
first difference is shrunk. A departure may need others to show, so each pair of values is tried in several
dialects. Run it from the repository's root: python tests/identify/make_probes.py
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

from harness.identify.probes import Probe, ProbedTarget
from harness.replay.view import EVERYTHING
from harness.simulate.pair import Pair
from harness.simulate.run import simulate
from harness.targets.python import PythonTarget, departures, named_dialects

BASES = ("kip-848", "kafka-4.0", "kafka-4.2", "kafka-4.4")
STEPS, LENGTH, SEED = 4_000, 60, 848
OUT = Path(__file__).parents[2] / "harness/identify/probes.json"

Question = tuple[str, str, str, str]


def probe(request: Question) -> dict[str, Any] | None:
    """A shrunk schedule on which two values of a departure differ; None without one."""
    base, departure, one, other = request
    pair = Pair(*(PythonTarget(f"{base},{departure}={value}") for value in (one, other)))
    pair.dialects = [
        "kip-848",
        "kafka-4.4",
    ]  # draws only operations that every dialect decides, so any target may get them
    result = simulate(pair, SEED, STEPS, LENGTH).divergences
    if not result:
        return None
    schedule = result[0].schedule
    return {
        "departure": departure,
        "values": [one, other],
        "base": base,
        "settings": schedule.settings,
        "operations": list(schedule.operations),
    }


def probed(dialect: str) -> ProbedTarget:
    """The Python coordinator in a dialect, to which probes are given."""
    target = PythonTarget(dialect)
    return ProbedTarget(target, target.hello(), EVERYTHING, True)


def can_be_sent(one: dict[str, Any]) -> bool:
    """Tell if a real client could send the requests: none goes to a group that a dialect does not have then.

    The dialects do not define the order of checks of such a request. UnknownGroupError alone is about such
    groups.
    """
    probe = Probe(0, one["departure"], ("", ""), one["base"], one["settings"], tuple(one["operations"]))
    answers = [answer for name in named_dialects() for answer in probed(name).answers(probe)]
    return probe.departure == "UnknownGroupError" or '"errorCode": 69' not in json.dumps(answers)


def main() -> None:
    """Search for all probes, and write each schedule once a departure."""
    request = [
        (base, name, *pair)
        for name, values in departures().items()
        for pair in combinations(values, 2)
        for base in BASES
    ]
    with ProcessPoolExecutor(2) as pool:
        made = [one for one in pool.map(probe, request, chunksize=2) if one is not None and can_be_sent(one)]
    unique = {(one["departure"], json.dumps([one["settings"], one["operations"]])): one for one in made}
    lines = ",\n".join(json.dumps(one) for one in unique.values())
    OUT.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    lacking = sorted(departures().keys() - {one["departure"] for one in made})
    print(f"{len(unique)} probes; none of {', '.join(lacking) or 'no departure'}", file=sys.stderr)


if __name__ == "__main__":
    main()
