"""Puts the results of runs of `conform mutate --json` into tests/mutants/score.json.

    python tests/mutate/merge_score.py build/results/request.json build/results/load.json

A file of a run takes the place of that file in the score, if the run judged it whole, or more of its mutants.
Sums are made anew. `killed_by` also counts mutants of earlier versions of a file.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

SCORE: Final = Path(__file__).parents[1] / "mutants" / "score.json"
NUMBERS: Final = ("mutants", "judged", "killed", "timed_out", "survived", "equivalent", "unviable")
LISTS: Final = ("survivors", "equivalent", "timed_out")
Score = dict[str, Any]


def merged(score: Score, run: Score) -> Score:
    """The score with the files that a run judged whole, or more of whose mutants than the score has."""
    rows = {row["path"]: row for row in score["files"]}
    known = {path: row["judged"] for path, row in rows.items()}
    better = {
        row["path"]: row
        for row in run["files"]
        if row["judged"] and (row["judged"] == row["mutants"] or row["judged"] > known.get(row["path"], 0))
    }
    files = list((rows | better).values())
    folders = sorted({row["path"].split("/")[0] for row in files})
    lists = {
        name: [row for row in score[name] if row["path"] not in better]
        + [row for row in run[name] if row["path"] in better]
        for name in LISTS
    }
    killed_by: Counter[str] = Counter(score["killed_by"]) + (
        Counter(run["killed_by"]) if better else Counter()
    )
    return {
        **score,
        "total": _sum(files),
        "folders": [
            {"path": folder, **_sum(row for row in files if row["path"].startswith(f"{folder}/"))}
            for folder in folders
        ],
        "files": files,
        **lists,
        "killed_by": dict(killed_by.most_common()),
    }


def _sum(rows: Iterable[Score]) -> Score:
    chosen = list(rows)
    counts: Score = {name: sum(row[name] for row in chosen) for name in NUMBERS}
    left = counts["judged"] - counts["unviable"] - counts["equivalent"]
    return counts | {"score": round(100 * counts["killed"] / left, 1) if left else None}


def main(names: list[str]) -> int:
    """Merge the runs of these files, and print the sums."""
    if not names:
        print(__doc__)
        return 2
    score = json.loads(SCORE.read_text(encoding="utf-8"))
    for name in names:
        score = merged(score, json.loads(Path(name).read_text(encoding="utf-8")))
    SCORE.write_text(json.dumps(score, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(score["total"]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
