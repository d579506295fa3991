"""The plugin of pytest, in a folder of a user: one test for each trace."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "traces" / "golden"
TRACES = sorted(GOLDEN.glob("*.itf.json"))


def pytest_in(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder, as a user does."""
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True)


def lying(lie: str) -> str:
    """A target that answers wrongly in one way."""
    program = shlex.quote(str(ROOT / "tests/replay/partial_target.py"))
    return f"""stdio:{sys.executable} {program} '{lie}'"""


def test_one_test_a_trace_beside_the_tests_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine(): pass\n")
    ended = pytest_in(tmp_path, "--conform-target", "python", f"--conform-traces={TRACES[0]}", "-v")
    assert ended.returncode == 0, ended.stdout
    assert "test_mine.py::test_mine PASSED" in ended.stdout
    assert f"conform::golden/{TRACES[0].name.partition('.')[0]} PASSED" in ended.stdout
    assert "2 passed" in ended.stdout


def test_nothing_is_replayed_without_the_option(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import sys\n"
        "def test_mine(): assert not [name for name in sys.modules if name.startswith('harness.replay')]\n"
    )
    ended = pytest_in(tmp_path)
    assert (ended.returncode, "1 passed" in ended.stdout) == (0, True), ended.stdout


def test_a_difference_fails_with_its_diff_and_no_traceback(tmp_path: Path) -> None:
    basic = GOLDEN / "basic.itf.json"
    target = lying('{"lie": "late metadata"}')
    ended = pytest_in(tmp_path, "--conform-target", target, f"--conform-traces={basic}")
    assert ended.returncode == 1
    assert "1 failed" in ended.stdout
    assert "group.metadata (- expected, + got)" in ended.stdout
    assert "+ [{'topicName': 'another'}]" in ended.stdout
    assert "Traceback" not in ended.stdout and "pytest_plugin.py" not in ended.stdout


def test_a_waiver_is_taken(tmp_path: Path) -> None:
    (tmp_path / "waivers.toml").write_text(
        '[[waiver]]\nsignature = "*: group.metadata*"\nreason = "late"\nexpires = 2999-01-01\n'
        '[[waiver]]\nsignature = "Join: group.x"\nreason = "old"\nexpires = 2999-01-01\n'
    )
    target = lying('{"lie": "late metadata"}')
    options = ("--conform-target", target, f"--conform-traces={GOLDEN / 'basic.itf.json'}")
    ended = pytest_in(tmp_path, *options, "--conform-waivers=waivers.toml")
    assert (ended.returncode, "1 passed" in ended.stdout) == (0, True), ended.stdout
    assert 'conform: The waiver of "Join: group.x" covers nothing' in ended.stdout


def test_processes_share_the_traces(tmp_path: Path) -> None:
    options = [f"--conform-traces={trace}" for trace in TRACES[:3]]
    ended = pytest_in(tmp_path, "--conform-target", "python", "-n", "2", *options)
    assert (ended.returncode, "3 passed" in ended.stdout) == (0, True), ended.stdout


def test_a_target_that_can_do_no_step_skips_with_the_reason(tmp_path: Path) -> None:
    target = lying('{"controls": ["load", "fresh", "topics", "describe", "records", "assign"]}')
    classic = next((ROOT / "traces" / "classic").glob("*.itf.json"))
    ended = pytest_in(tmp_path, "--conform-target", target, f"--conform-traces={classic}", "-rs")
    assert ended.returncode == 0, ended.stdout
    assert "1 skipped" in ended.stdout and "needs " in ended.stdout


def test_wrong_options_are_named(tmp_path: Path) -> None:
    ended = pytest_in(tmp_path, "--conform-target", "python", "--conform-traces=nowhere")
    assert ended.returncode == 1 and "The trace nowhere does not exist." in ended.stdout
    options = ("--conform-target", "python", f"--conform-traces={TRACES[0]}", "--conform-dialect=kafka-9")
    ended = pytest_in(tmp_path, *options)
    assert (
        ended.returncode == 4 and "no dialect 'kafka-9'" in ended.stderr and "Traceback" not in ended.stderr
    )
    options = ("--conform-target", "python", "--conform-waivers=nowhere.toml")
    ended = pytest_in(tmp_path, *options)
    assert ended.returncode == 4 and "nowhere.toml" in ended.stderr


@pytest.mark.parametrize(
    ("target", "message"),
    [("nope", "There is no target 'nope'"), ("stdio:/no/such/program", "/no/such/program")],
)
def test_a_target_that_is_not_there_is_one_usage_error(tmp_path: Path, target: str, message: str) -> None:
    options = [f"--conform-traces={trace}" for trace in TRACES[:2]]
    ended = pytest_in(tmp_path, "--conform-target", target, *options)
    assert (ended.returncode, ended.stderr.count("ERROR: ")) == (4, 1), ended.stdout
    assert message in ended.stderr and "failed" not in ended.stdout
    assert "Traceback" not in ended.stderr + ended.stdout
