"""Tables are made anew when their code has changed, and only then."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.pipeline.version import HARNESS, code_key, judging_key, modules_of

ROOT = HARNESS.parent
ELSEWHERE = ["cli/exhaust.py", "gate/steps.py", "report/page.py", "simulate/shrink.py", "check.py"]
ROWS = [
    "tlaparse.py",
    "transitions.py",
    "pipeline/rows.py",
    "kinds/consumer/records.py",
    "kinds/classic/expect.py",
]
VERDICTS = ["replay/judge.py", "replay/view.py", "pipeline/judging.py"]


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The harness, to be changed."""
    return Path(shutil.copytree(HARNESS, tmp_path / "harness", ignore=shutil.ignore_patterns("__pycache__")))


def keys(copy: Path, changed: str, folder: Path) -> tuple[str, str]:
    """The keys of the copy with a change."""
    place = folder / changed.replace("/", "-") / "harness"
    shutil.copytree(copy, place)
    assert (place / changed).exists(), "a file that has moved"
    with (place / changed).open("a") as stream:
        stream.write("\n# changed\n")
    return code_key(place), judging_key(place)


def test_a_change_elsewhere_keeps_the_keys_and_one_of_what_makes_a_table_changes_its_key(
    copy: Path, tmp_path: Path
) -> None:
    rows, verdicts = code_key(copy), judging_key(copy)
    assert (rows, verdicts) == (code_key(), judging_key())
    for file in ELSEWHERE:
        assert keys(copy, file, tmp_path) == (rows, verdicts), file
    for file in VERDICTS:
        changed = keys(copy, file, tmp_path)
        assert changed[0] == rows and changed[1] != verdicts, file
    for file in ROWS:
        assert keys(copy, file, tmp_path)[0] != rows, file


PROGRAM = """
import sys
from pathlib import Path
from harness.itf import read_trace
from harness.pipeline import dump, inputs, sources, verdicts
from harness.pipeline.judging import Judge, check_target
from harness.pipeline.rows import StepRows

check_target("python", "kip-848")
judge = Judge("python", "kip-848")
for file in sys.argv[1:]:
    for row in StepRows({}).trace("t", read_trace(Path(file)), "t"):
        judge.judge({**row, "part": 0})
sources._row(Path(sys.argv[1]).as_uri())
files = {name: getattr(module, "__file__", None) for name, module in sys.modules.items()}
print(*(name for name, file in files.items() if file and name.partition(".")[0] == "harness"))
"""


def test_all_that_is_loaded_while_rows_are_made_and_judged_is_in_the_key() -> None:
    """Traces of four kinds of group are tried; modules that functions import count, too."""
    traces = [next((ROOT / "traces" / kind).glob("*.itf.json")) for kind in ("golden", "classic", "connect")]
    traces.append(next((ROOT / "traces" / "migration").glob("*.itf.json")))
    words = [sys.executable, "-c", PROGRAM, *map(str, traces)]
    ended = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    assert set(ended.stdout.split()) <= set(modules_of("harness.pipeline.verdicts"))
