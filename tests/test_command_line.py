"""The command line as a whole: its version, names that are no commands, and how it ends."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import pytest


def conform(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "harness", *words], capture_output=True, text=True)


def test_the_version_is_printed() -> None:
    assert conform("--version").stdout == f"conform {version('group-conformance')}\n"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("replya", "There is no command 'replya'. Did you mean replay?"),
        ("xyzzy", "There is no command 'xyzzy'. There are check, scenario, "),
    ],
)
def test_a_name_that_is_no_command_gets_a_suggestion(name: str, sentence: str) -> None:
    ended = conform(name)
    assert ended.returncode == 2
    assert sentence in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    "words", [("--against", "python"), ("--seed", "3", "--steps=5"), ("--target", "python")]
)
def test_an_option_of_a_verb_that_was_split_is_answered_with_the_new_name(words: tuple[str, ...]) -> None:
    ended = conform("simulate", *words)
    assert ended.returncode == 2
    option = next(word for word in words if word != "--seed" and word.startswith("--")).partition("=")[0]
    said = " ".join(ended.stderr.split())
    assert f"no option {option} any more: two implementations are compared by conform compare" in said
    assert option in conform("compare", "--help").stdout


def test_a_name_that_is_no_model_gets_a_suggestion() -> None:
    ended = conform("check", "MCTuor")
    assert ended.returncode == 2
    assert "Did you mean MCTour?" in " ".join(ended.stderr.split())


STOPPED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts the tests may ignore it
from harness.__main__ import main
main()
"""


@pytest.mark.parametrize(("told", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_who_is_told_to_stop_ends_with_the_code_of_the_list(
    told: signal.Signals, code: int, tmp_path: Path
) -> None:
    """A target that never answers, and so says that it is asked."""
    asked, kit = tmp_path / "asked", Path(__file__).parents[1]
    target = f"stdio:sh -c {shlex.quote(f'touch {shlex.quote(str(asked))}; exec sleep 60')}"
    words = ["replay", str(kit / "traces/golden/basic.itf.json"), "--target", target]
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED, *words], cwd=kit, text=True, stderr=subprocess.PIPE
    ) as run:
        while not asked.exists() and run.poll() is None:
            time.sleep(0.02)
        run.send_signal(told)
        _, said = run.communicate()
    assert run.returncode == code
    assert ("conform: stopped by SIGTERM.\n" in said) is (told is signal.SIGTERM)
    for page in (conform("--help").stdout, (kit / "README.md").read_text()):
        assert f"{code} " in " ".join(page.partition("Exit codes")[2].partition("\n\n")[0].split())
