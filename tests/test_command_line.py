"""The command line as a whole: its version, and names that are no commands."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

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
