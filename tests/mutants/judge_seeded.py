"""Judging seeded bugs in a process with no other work, since forks of one with threads may hang.

    python tests/mutants/judge_seeded.py JOBS < asked.json

Reads a JSON list of [target, check, patch or null]; prints a JSON list of [caught, problem] in that order.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from harness.mutate.patches import read_patch  # noqa: E402
from harness.mutate.seeded import SeededCheck, judge_seeded  # noqa: E402


def main(jobs: int) -> None:
    """Judge the checks of the standard input."""
    checks = [
        SeededCheck(target, check, read_patch(Path(patch)) if patch else None)
        for target, check, patch in json.load(sys.stdin)
    ]
    answers = {answer.seeded: (answer.caught, answer.problem) for answer in judge_seeded(ROOT, checks, jobs)}
    json.dump([answers[one] for one in checks], sys.stdout)


if __name__ == "__main__":
    main(int(sys.argv[1]))
