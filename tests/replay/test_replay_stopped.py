"""A replay that does not come to its end reports the steps that were judged until then."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli.replay import command
from harness.errors import ENGINE_FAILED, ConformError
from harness.replay.run import STOPPED

GOLDEN = Path(__file__).parents[2] / "traces" / "golden"
FILES = [GOLDEN / "basic.itf.json", GOLDEN / "offsets.itf.json"]


def ends_after(lines: int, then: str = "true") -> str:
    """A coordinator of Kafka's dialect that gets no more lines than these."""
    coordinator = f"{shlex.quote(sys.executable)} -m coordinator --stdio --dialect kafka-4.2"
    return f"stdio:sh -c {shlex.quote(f'sed -u {lines}q | {coordinator}; {then}')}"


@pytest.mark.parametrize("jobs", [1, 2])
def test_findings_before_the_target_failed_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], jobs: int
) -> None:
    with pytest.raises(ConformError, match=r"closed its output before it answered") as caught:
        command(
            [*FILES], target=ends_after(30), dialect="kafka-4.2", json_file=tmp_path / "a.json", jobs=jobs
        )
    assert caught.value.exit_code == ENGINE_FAILED
    output = capsys.readouterr().out
    result = json.loads((tmp_path / "a.json").read_text())
    assert result["stopped"] == caught.value.message
    assert result["differences"] and result["target_steps"] > 3
    assert f"before the target failed: 1 of 2 traces begun, {result['target_steps']} steps judged, " in output
    assert (
        f"\nskipped, {STOPPED}: {result['skipped'][STOPPED]['steps']} steps at the end of 1 trace" in output
    )
    assert result["target_steps"] + result["skipped"][STOPPED]["steps"] == result["steps"]
    assert "causes, the most serious first:\n" in output and "cause 1, the most serious: " in output


def test_a_stopped_replay_prints_its_progress(tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    target = ends_after(30, f"touch {shlex.quote(str(silent))}; exec sleep 60")
    stoppable = (
        "import signal; from harness.cli.main import main; "
        "signal.signal(signal.SIGINT, signal.default_int_handler); main()"
    )
    words = ["replay", *map(str, FILES), "--target", target, "--dialect", "kafka-4.2"]
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", stoppable, *words], stdout=pipe, text=True) as run:
        while not silent.exists():
            time.sleep(0.02)
        time.sleep(0.2)
        run.send_signal(signal.SIGINT)
        output, _ = run.communicate()
    assert run.returncode == 130
    assert "stopped; until then: 1 of 2 traces begun, " in output
