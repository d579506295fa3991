"""Hashes of the sources of a recorded run: the parts that count, and that no module that ran is left out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.sources import code_hash, hashes, imported, verify

ROOT = Path(__file__).parents[1]
LOADED = """
import json, runpy, sys
from pathlib import Path
root, sys.argv = Path(sys.argv[1]), sys.argv[2:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except SystemExit as ended:
    assert not ended.code, ended.code
files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
folders = {root / name for name in ("benchmarks", "coordinator", "harness", "tests")}
print(json.dumps([file for file in files if file and not folders.isdisjoint(Path(file).parents)]))
"""
"""Runs a program, and prints the files that it has loaded from the project."""


def test_prose_is_not_counted(tmp_path: Path) -> None:
    """A statement, a name and a number count."""
    file = tmp_path / "next.py"

    def hash_of(source: str) -> str:
        file.write_text(source, encoding="utf-8")
        return code_hash(file)

    source = 'def next(a: int) -> int:\n    """Give it."""\n    return a + 1\n'
    prose = '# A comment.\ndef next(a: int) -> int:\n    """Give the next number."""\n\n    return (a + 1)\n'
    assert hash_of(source) == hash_of(prose)
    assert hash_of(source) != hash_of(source.replace("1", "2"))
    assert hash_of(source) != hash_of(source.replace("next", "later"))


def test_files_of_other_languages_count_with_their_text(tmp_path: Path) -> None:
    file = tmp_path / "Adapter.java"
    file.write_text("// one\n", encoding="utf-8")
    before = code_hash(file)
    file.write_text("// two\n", encoding="utf-8")
    assert code_hash(file) != before


def test_imports_within_functions_are_followed(tmp_path: Path) -> None:
    files = {
        "program.py": "import first\n",
        "first.py": "def late():\n    from package import second\n",
        "package/__init__.py": "",
        "package/second.py": "import never\nimport json\n",
        "never.py": "",
        "other.py": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    program, reached = tmp_path / "program.py", {"program.py", "first.py", "package/__init__.py"}
    names = {name.relative_to(tmp_path).as_posix() for name in imported(tmp_path, program, ["never"])}
    assert names == reached | {"package/second.py"}
    assert set(hashes(tmp_path, ["**/*.py"], "program.py")) == names | {"never.py"}


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("tests/fuzz/fuzz.py", ["--operations", "500"]),
        ("tests/simulate/soak.py", ["--against", "python", "--dialect", "kip-848", "--steps", "50"]),
        ("tests/clients/soak.py", ["--seeds", "5", "--sockets", "0"]),
        ("tests/serve/serve_soak.py", ["frames", "100"]),
        ("tests/coordinator/sigkill.py", ["--kills", "1"]),
        ("coordinator/__main__.py", ["serve", "--help"]),
    ],
)
def test_no_module_that_runs_is_left_out(program: str, words: list[str]) -> None:
    """The programs whose results are recorded: each module that a short run loads is one that is followed."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(ROOT), program, *words],
        cwd=ROOT,
        env={"PYTHONPATH": str((ROOT / program).parent)},
        capture_output=True,
        text=True,
    )
    loaded = {Path(file) for file in json.loads(done.stdout.splitlines()[-1])}
    assert len(loaded) > 1, done.stderr
    assert loaded - imported(ROOT, ROOT / program) == set()


def test_a_record_of_other_sources_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.json"
    assert verify(record, {}) == 12
    assert "record it with --evidence" in capsys.readouterr().err
    record.write_text(json.dumps({"files": {"a.py": "1", "b.py": "2"}}))
    assert verify(record, {"a.py": "1", "b.py": "2"}) == 0
    assert verify(record, {"a.py": "1"}) == verify(record, {"a.py": "1", "b.py": "2", "c.py": "3"}) == 12
    assert capsys.readouterr().out.splitlines()[1:] == [
        "stale: changed since are b.py",
        "stale: changed since are c.py",
    ]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"files": ["a.py"]}', "[" * 100_000])
def test_a_damaged_record_is_refused(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "record.json"
    record.write_text(text)
    assert verify(record, {}) == 12
    message = capsys.readouterr().err
    assert str(record) in message and "Record it with --evidence" in message
