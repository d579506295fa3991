"""Mutants of the coordinator on the kit's own checks, in a process of their own each.

The checks are replays, those of committed traces first, then the tours of small open models (every step of
them), so that most mutants end after a few milliseconds. The traces are read once, before the processes
are forked.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from harness.engines.base import Limits, Model, Progress
from harness.errors import ConformError
from harness.generate import STEP_VARIABLE, dump_graph, tour_traces
from harness.itf import read_trace
from harness.mutants import failed_tests
from harness.mutate.mutant import KILLED, SURVIVED, TESTS_OF_ITS_OWN, TIMED_OUT, UNVIABLE, Mutant
from harness.replay.decode import DecodedTrace, Decoder
from harness.replay.files import trace_files
from harness.replay.run import Replayer
from harness.stategraph import merge_by_hidden

PACKAGE: Final = "coordinator"
REBOUND: Final = ("harness.targets.python", "harness.targets.python_member")
"""What has the coordinator's classes and functions in it, and is imported anew with a mutant."""
TEXT: Final = (
    "golden",
    "corpus",
    "members",
    "counterexamples",
    "client",
    "connect",
    "classic",
    "cooperative",
)
"""Folders of traces/ that are of the protocols' texts."""
TESTS: Final = (
    *(
        f"tests/coordinator/test_{name}.py"
        for name in (
            *("survivors", "dialects", "reconciliation", "target", "membership", "static_members", "topics"),
            *("timers", "records", "validation", "fail_over", "offsets", "compaction", "regex"),
        )
    ),
    "tests/client/test_client_assignors.py",
    "tests/migration/test_classic_members.py",
)
"""Those that take seconds; a package's own come first."""
OF_PACKAGE: Final = {
    "admin": ("tests/coordinator/test_admin_groups.py", "tests/coordinator/test_group_configs.py"),
    "assignors": ("tests/assignors",),
    "classic": ("tests/classic/test_classic_groups.py", "tests/classic/test_classic_assignors.py"),
    "classic_member": ("tests/classic_member",),
    "connect": ("tests/connect/test_connect_administration.py",),
    "member": ("tests/member/test_requests.py", "tests/member/test_callbacks.py"),
    "migration": ("tests/migration",),
}
TESTS_FOLDER: Final = "tests"
TYPES_CACHE: Final = "build/mutate/mypy"
TYPES_LIMIT_S: Final = 120.0
LENGTH: Final = 200
"""Steps of a tour, about."""


@dataclass(frozen=True, slots=True)
class Check:
    """Traces of one dialect that are replayed together."""

    name: str
    dialect: str
    traces: Sequence[DecodedTrace]


def committed_checks(traces: Path) -> Iterator[Check]:
    """Of the committed traces: those of the texts, then those of each dialect."""
    folders = [traces / name for name in TEXT if (traces / name).is_dir()]
    yield Check("committed traces", "kip-848", _decoded(trace_files(folders)))
    dialects = traces / "dialects"
    for folder in sorted(dialects.iterdir()) if dialects.is_dir() else ():
        yield Check(f"traces of {folder.name}", folder.name, _decoded(trace_files([folder])))


def _decoded(files: Sequence[Path]) -> list[DecodedTrace]:
    decoder = Decoder()
    return [decoder.decode(read_trace(file), str(file)) for file in files if file.name.endswith(".itf.json")]


def judge(mutant: Mutant, checks: Sequence[Check]) -> tuple[str, str]:
    """The outcome for a mutant, and what said so. To be called in a process of its own."""
    try:
        compile(mutant.text, mutant.path, "exec")
        load(mutant)
    except Exception as error:
        return UNVIABLE, f"{type(error).__name__}: {error}"
    return verdict(checks)


def judge_more(
    mutant: Mutant, checks: Sequence[Check], root: Path, with_types: bool, with_tests: bool
) -> tuple[str, str]:
    """The same, and what survives is judged by its types and by the coordinator's own tests, too."""
    outcome, by = judge(mutant, checks)
    if outcome == SURVIVED and with_types and (wrong := _wrong_types(mutant, root)):
        return UNVIABLE, wrong
    return _tested(mutant, root, by) if outcome == SURVIVED and with_tests else (outcome, by)


def _wrong_types(mutant: Mutant, root: Path) -> str:
    """What mypy says of the mutant; "" if nothing."""
    with tempfile.TemporaryDirectory(prefix="conform-mutate-") as name:
        shadow = Path(name) / Path(mutant.path).name
        shadow.write_text(mutant.text, encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", TYPES_CACHE]
        command += ["--shadow-file", mutant.path, str(shadow), mutant.path]
        ended = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=TYPES_LIMIT_S)
    return ended.stdout.partition("\n")[0] if ended.returncode == 1 else ""


def _tested(mutant: Mutant, root: Path, by: str) -> tuple[str, str]:
    with tempfile.TemporaryDirectory(prefix="conform-mutate-") as name:
        folder = Path(name)
        shutil.copytree(root / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / mutant.path).write_text(mutant.text, encoding="utf-8")
        try:
            failed = any(
                failed_tests(root, folder, list(tests)) for tests in (_own(mutant.path), TESTS) if tests
            )
        except ConformError as error:
            return TIMED_OUT, error.message
    return (KILLED, TESTS_OF_ITS_OWN) if failed else (SURVIVED, f"{by}, {TESTS_OF_ITS_OWN}")


def _own(path: str) -> tuple[str, ...]:
    """The tests of the package that a file is in."""
    return OF_PACKAGE.get(Path(path).parent.name, ())


def verdict(checks: Sequence[Check]) -> tuple[str, str]:
    """The same for the coordinator as it is loaded."""
    for check in checks:
        try:
            if found := _difference(check):
                return KILLED, found
        except Exception as error:
            return KILLED, f"{check.name}: {type(error).__name__}: {error}"
    return SURVIVED, ", ".join(check.name for check in checks)


def _difference(check: Check) -> str:
    target = importlib.import_module(REBOUND[0]).PythonTarget(check.dialect)
    process = importlib.import_module(REBOUND[1]).PythonProcess
    replayer = Replayer(target, 1, process)
    for trace in check.traces:
        replayer.replay(trace)
        for failure in replayer.result.failures:
            signature = failure.signature(failure.differences[0])
            return f"{Path(trace.name).name}, step {failure.index}: {signature}"
    return ""


def load(mutant: Mutant) -> None:
    """Make this process's coordinator the one with the mutant's text in it."""
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE or name in REBOUND]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder(_module(mutant.path), mutant))
    for name in REBOUND:
        importlib.import_module(name)


def _module(path: str) -> str:
    """coordinator/member/__init__.py -> coordinator.member"""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds one module in the text of a mutant, all others where they are."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        self._name, self._mutant = name, mutant

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path)
        if found is None or found.origin is None:
            return None
        loader = _Loader(fullname, found.origin)
        loader.text = self._mutant.text
        return importlib.util.spec_from_file_location(
            fullname, found.origin, loader=loader, submodule_search_locations=found.submodule_search_locations
        )


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the text that it is given, and never what was compiled before."""

    text = ""

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        return compile(self.text, self.path, "exec")


def tour_check(model: Model, log: Path, limits: Limits, progress: Progress) -> Check:
    """Tours of every edge of a model's state graph, made by TLC."""
    graph = merge_by_hidden(dump_graph(model, limits=limits, log=log, progress=progress), STEP_VARIABLE)
    decoder = Decoder()
    traces = [
        decoder.decode(trace, f"{model.name}-tour-{number}")
        for number, trace in enumerate(tour_traces(model, graph, max_length=LENGTH), start=1)
    ]
    return Check(f"every step of {model.name}", traces[0].start.forms.name, traces)
