"""Verbs and options are completed: bash itself asks, with the script that `--install-completion` installs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ASKING = """
eval "$(_CONFORM_COMPLETE=source_bash conform)"
completed() {
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
    _conform_completion conform
    echo "${COMPREPLY[@]}"
}
completed conform re
completed conform replay --max
complete -p conform
"""


@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not on this machine")
def test_bash_completes_verbs_and_options() -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "--norc", "-c", ASKING]
    ended = subprocess.run(words, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    verbs, options, registered = ended.stdout.splitlines()
    assert verbs.split() == ["replay", "report"], ended.stderr
    assert options.split() == ["--max-differences"]
    assert registered.endswith("-F _conform_completion conform")
