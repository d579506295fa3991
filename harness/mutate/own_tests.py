"""Tests of the repository on a coordinator with a mutant in it, run in a fork with no other work.

A new process for the tests of one mutant would import pytest and hypothesis again, which takes longer than
most of these tests.
"""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final

from harness.errors import ConformError

OPTIONS: Final = ("-q", "-x", "--assert=plain", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist")
"""A failure ends the tests and is not explained: rewriting the asserts would take half of the time."""
PREPARED: Final = ("pytest", "_hypothesis_pytestplugin", "hypothesis.stateful", "numpy")
_RAN: Final = (0, 1)
"""Exit codes of pytest: all passed, or some failed."""


class _First:
    """A plugin of pytest: the first test that failed."""

    failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self.failed:
            self.failed = report.nodeid


def prepare() -> None:
    """Import the modules that tests need and no mutant changes, so that forks have them."""
    for name in PREPARED:
        importlib.import_module(name)


def failed_tests(root: Path, folder: Path, tests: Sequence[str]) -> str:
    """The first failing test of the repository in `root`, "" if none fails.

    This process must have loaded the coordinator under test (`coordinator.load`); `folder` has the
    coordinator for processes that tests start. ConformError if the tests could not be run.
    """
    import pytest

    first, output = _First(), io.StringIO()
    os.chdir(folder)
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (folder, root)))
    # the repository itself must not come before the folder: pyproject.toml puts it first
    options = [*OPTIONS, "-o", "pythonpath=", "--hypothesis-seed=0"]
    with redirect_stdout(output), redirect_stderr(output):
        code = pytest.main([*options, *(str(root / test) for test in tests)], plugins=[first])
    if code not in _RAN:
        text = output.getvalue().strip()
        raise ConformError(f"The tests {', '.join(tests)} could not be run: {text}")
    return first.failed if code else ""
