"""Several processes replay traces: the result is that of one, whatever happens in them."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from partial_target import target

from harness import kit
from harness.cli.replay import command as replay
from harness.cli.shrink import command as shrink
from harness.errors import ConformError
from harness.replay.files import replay_files, trace_files
from harness.replay.jobs import Files
from harness.replay.report import summary, to_json
from harness.waivers import Waiver, Waivers

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "traces" / "golden"
FILES = [
    *trace_files([GOLDEN]),
    *trace_files([ROOT / "traces" / "corpus"])[::9],
    *trace_files([ROOT / "traces" / "members"])[:3],
]


def replayed(jobs: int, name: str, files: list[Path], most: int, waived: tuple[str, ...] = ()) -> list[Any]:
    """All that a user is shown of a replay, and its progress; or the sentence that ends the replay."""
    accepted = Waivers([Waiver(one, "known", date.max) for one in waived])
    steps: list[tuple[int, int]] = []
    try:
        result = replay_files(
            files,
            name,
            max_differences=most,
            progress=lambda so_far: steps.append((so_far.steps, so_far.differences)),
            waives=accepted.covers,
            jobs=jobs,
        )
    except ConformError as error:
        return [error.message, error.exit_code]
    text = json.dumps(to_json(result, name, "kip-848", accepted), indent=2)
    return [text, *summary(result, name, accepted), accepted.used, *accepted.problems(), steps]


def test_a_replay_does_not_depend_on_the_number_of_processes() -> None:
    one = replayed(1, "python", FILES, 20)
    assert json.loads(one[0])["member_steps"] > 0 and len(json.loads(one[0])["coverage"]["growth"]) > 20
    assert replayed(2, "python", FILES, 20) == one == replayed(5, "python", FILES, 20)


@pytest.mark.parametrize("most", [1, 5, 12, 15, 1000])
def test_it_ends_with_the_same_difference(most: int) -> None:
    """The first trace has 12 differences: a limit of 5 is reached within it, of 12 at its end, of 15 within
    the second."""
    lies = target(lie="late metadata")
    one = replayed(1, lies, FILES[:12], most)
    assert json.loads(one[0])["differences"] >= min(most, 10)
    assert bool(json.loads(one[0])["not_judged"]) == (most < 1000)
    assert replayed(3, lies, FILES[:12], most) == one


@pytest.mark.parametrize("most", [12, 15, 1000])
def test_a_target_that_dies_after_enough_differences_ends_nothing(most: int) -> None:
    """The target dies in the second trace, after the 15th difference: one process does not come to that
    step where no more are wanted."""
    dies = target(lie="late metadata", dies='"api": "Heartbeat"')
    one = replayed(1, dies, FILES[:4], most)
    assert (one[1] == 3) == (most == 1000)
    assert replayed(2, dies, FILES[:4], most) == one


def test_waivers_count_once_for_each_difference() -> None:
    lies = target(lie="late metadata")
    failures = replay_files(FILES[:12], lies, max_differences=1000).failures
    names = sorted({failure.signature(one) for failure in failures for one in failure.differences})
    for most in (3, 1000):
        one = replayed(1, lies, FILES[:12], most, (names[0], "covers nothing"))
        assert any("covers nothing" in str(line) for line in one)
        assert replayed(3, lies, FILES[:12], most, (names[0], "covers nothing")) == one


def test_a_target_that_does_less_is_left_out_in_the_same_way() -> None:
    less = target(controls=["topics", "fresh", "describe"])
    one = replayed(1, less, FILES[:12], 20)
    assert json.loads(one[0])["skipped"]
    assert replayed(2, less, FILES[:12], 20) == one


def test_errors_are_printed_as_by_one_process(tmp_path: Path) -> None:
    bad = tmp_path / "bad.itf.json"
    bad.write_text('{"vars": ["x"], "states": [{"x": 1}')
    files = [*FILES[:5], bad, *FILES[5:8]]
    assert "is not JSON" in replayed(1, "python", files, 20)[0]
    assert replayed(2, "python", files, 20) == replayed(1, "python", files, 20)
    for name in ("stdio:false", "stdio:cat", "nonsense"):
        one = replayed(1, name, FILES[:4], 20)
        assert one[1] in (2, 3)
        assert replayed(2, name, FILES[:4], 20) == one


def test_a_trace_of_the_package_is_called_as_the_verbs_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, inside = tmp_path / "package", Path("traces/golden/basic.itf.json")
    (package / inside).parent.mkdir(parents=True)
    (package / inside).write_bytes((ROOT / inside).read_bytes())
    monkeypatch.setattr(kit, "_CARRIED", package)
    monkeypatch.chdir(tmp_path)
    assert [Files().read(file).name for file in trace_files([Path("traces/golden")])] == [str(inside)]
    assert Files().read(inside).name == str(inside)
    with pytest.raises(ConformError, match=rf"The trace {inside} does not fail on python"):
        shrink(inside, target="python", out=tmp_path / "shrunk.itf.json")
    (package / "traces" / "empty").mkdir()
    with pytest.raises(ConformError, match=r"There are no traces .* in traces/empty\."):
        trace_files([Path("traces/empty")])
    inside.parent.mkdir(parents=True)
    inside.write_bytes((package / inside).read_bytes())
    assert Files().read(package / inside).name == str(package / inside), "here that is another file"


def test_one_cluster_and_one_log_are_for_one_process(tmp_path: Path) -> None:
    for name in ("broker:localhost:9092", "mock"):
        with pytest.raises(ConformError, match=r"is one cluster.*leave out --jobs"):
            replay_files(FILES[:2], name, jobs=2)
    with pytest.raises(ConformError, match=r"is one cluster.*leave out --jobs"):
        replay(target="broker:127.0.0.1:1", jobs=2)  # which nobody asks for its dialect
    with pytest.raises(ConformError, match=r"--record .* in order: leave out --jobs, or --record"):
        replay_files(FILES[:2], "python", record=tmp_path / "log", jobs=2)
    assert not (tmp_path / "log").exists()


def children(of: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(of)], capture_output=True, text=True)
    return [int(pid) for pid in listed.stdout.split()]


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc and ps of Linux to see processes end")
@pytest.mark.parametrize("answer", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_leaves_no_process(answer: signal.Signals) -> None:
    name = f"stdio:{sys.executable} -m coordinator --stdio"
    command = [sys.executable, "-m", "harness", "replay", "traces", "--target", name, "--jobs", "2"]
    run = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    while len(workers := children(run.pid)) < 3 or not all(map(children, workers[:2])):
        assert run.poll() is None, run.communicate()
        time.sleep(0.05)
    below = [*workers, *(one for worker in workers for one in children(worker))]
    os.kill(run.pid, answer)
    _, errors = run.communicate(timeout=60)
    assert run.returncode != 0 and b"Traceback" not in errors, errors.decode()
    for _ in range(200):
        left = [pid for pid in below if Path(f"/proc/{pid}").exists()]
        if not left:
            break
        time.sleep(0.05)
    assert not left


def test_a_replay_leaves_pythons_collector_as_it_was() -> None:
    before = gc.get_threshold()
    during: list[tuple[int, int, int]] = []
    replay_files(FILES[:1], "python", progress=lambda _: during.append(gc.get_threshold()))
    assert (gc.get_threshold(), during[0] > before) == (before, True)
