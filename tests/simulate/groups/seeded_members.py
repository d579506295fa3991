"""Seeds of the simulation on a coordinator and members with a seeded bug; prints what is found first.

    python tests/simulate/groups/seeded_members.py FIRST SEEDS EVENTS   # prints JSON

in a folder that has the mutated package `coordinator`, with the repository on PYTHONPATH.
"""

from __future__ import annotations

import json
import os
import sys

sys.path.insert(0, os.getcwd())  # before the folder of this file, and before PYTHONPATH

from harness.simulate.groups.run import SimulationOptions, run_seed, shrunk
from harness.targets.groups.python import PythonParts


def main(first: int, seeds: int, events: int) -> None:
    """Exit with the first violation."""
    parts, request, done = PythonParts(), SimulationOptions(events=events), 0
    for seed in range(first, first + seeds):
        outcome = run_seed(parts, request, seed)
        done += outcome.counts.events
        if outcome.violation is not None:
            short = shrunk(parts, outcome.violation)
            given = {"requirement": short.requirement, "invariant": short.invariant, "message": short.message}
            print(json.dumps({**given, "events": done, "shortest": len(short.schedule.events)}))
            return
    print(json.dumps({"events": done}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
