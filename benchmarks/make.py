"""The time of `make` in a new clone, again with nothing changed, and after an edit of one operator.

The clone has the committed files, and none of the results of this checkout; the installation is not measured.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.account import account
from benchmarks.scale import Progress, Table
from harness.errors import ENGINE_FAILED, ConformError
from harness.files import read_text

EDITED: Final = (
    "spec/ClassicProperties.tla",
    "ClassicInstancesUnique(g) ==\n",
    "ClassicInstancesUnique(g) ==\n  TRUE =>\n",
)
"""A file, and an edit of an operator in it that keeps its meaning: five small models of classic groups depend
on the operator, no other model does."""
_RUN: Final = re.compile(r"results of models: (\d+) computed now(?:, (\d+) recorded)?")
_STAGES: Final = re.compile(r"stages: (\d+) done now")


def makes(progress: Progress, stages: tuple[str, ...] = ()) -> Table:
    """`make` three times in a clone of this checkout; with `stages` only these stages. Processor seconds are
    those of all processes."""
    table = Table(["make", "processor s", "clock s", "models computed", "recorded", "stages done"])
    with tempfile.TemporaryDirectory(prefix="conform-bench-") as name:
        clone = Path(name) / "clone"
        subprocess.run(["git", "clone", "--quiet", ".", str(clone)], check=True)
        for case in ("in a new clone", "again, nothing changed", "after an edit of one operator"):
            progress(f"make {case}")
            if case.startswith("after"):
                _edit(clone)
            _make(case, clone, Path(name) / "make.log", stages, table)
    return table


def _edit(clone: Path) -> None:
    file, before, after = EDITED
    text = read_text(clone / file, "The specification")
    if before not in text:
        raise ConformError(
            f"{file} has no text {before!r}, which the benchmark edits: name another in EDITED."
        )
    (clone / file).write_text(text.replace(before, after, 1))


def _make(case: str, clone: Path, log: Path, stages: tuple[str, ...], table: Table) -> None:
    taken = account([sys.executable, "-m", "harness.stages", *stages], log, clone)
    printed = log.read_text()
    if taken.exit_code:
        raise ConformError(f"make failed {case}:\n{printed}", ENGINE_FAILED)
    again = "nothing was run" in printed
    run, done = _RUN.search(printed), _STAGES.search(printed)
    computed = 0 if again or not run else int(run[1])
    recorded = int(run[2] or 0) + (int(run[1]) if again else 0) if run else 0
    stages_done = 0 if again or not done else int(done[1])
    table.rows.append(
        [case, f"{taken.cpu_s:.1f}", f"{taken.clock_s:.1f}", *map(str, (computed, recorded, stages_done))]
    )
    figures = {"models_computed": computed, "models_recorded": recorded, "stages_done": stages_done}
    table.data.append({"case": case, "cpu_s": taken.cpu_s, "clock_s": taken.clock_s, **figures})
