"""Mutants of the coordinator on the kit's own checks, each in a process of its own.

The checks are replays, those of committed traces first, then the tours of small open models (every step of
them), so that most mutants end after a few milliseconds, then simulations. The traces are read once, before
the processes are forked.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Final, Protocol

from harness.engines.base import Limits, Model, Progress
from harness.errors import ConformError
from harness.generate import STEP_VARIABLE, dump_graph, tour_traces
from harness.itf import read_trace
from harness.kinds.registry import TRACE_FOLDERS
from harness.manifest import Manifest
from harness.mutate.journal import Needed, files, of_model
from harness.mutate.mutant import KILLED, SURVIVED, TESTS_OF_ITS_OWN, TIMED_OUT, UNVIABLE, Mutant, Verdict
from harness.mutate.own_tests import failed_tests
from harness.mutate.simulated import PARTS, SIMULATIONS
from harness.replay.decode import Decoder
from harness.replay.files import SUFFIX, trace_files
from harness.replay.prepared import DecodedTrace
from harness.replay.run import Failure, Replayer
from harness.stategraph import merge_by_hidden

PACKAGE: Final = "coordinator"
REBOUND: Final = (
    *("harness.targets.python", "harness.targets.python_member"),
    *("harness.targets.groups.local_assignors", "harness.targets.groups.python"),
    *("harness.targets.groups.classic", PARTS),
)
"""Modules that hold classes and functions of the coordinator, and are imported anew with a mutant."""
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
"""Tests that take seconds; the tests of a file or a package come before them."""
_INPUT: Final = ("tests/coordinator/test_heartbeat_input.py", "tests/coordinator/test_offset_input.py")
_SCHEDULES: Final = (
    "tests/coordinator/test_line_protocol.py",
    "tests/coordinator/test_line_program.py",
    "tests/coordinator/test_lines_of_bytes.py",
    "tests/coordinator/test_random_schedules.py",
    "tests/coordinator/test_real_bugs.py",
)
_ADMINISTRATION: Final = (
    "tests/coordinator/test_admin_groups.py",
    "tests/coordinator/test_group_configs.py",
)
_KINDS: Final = (
    *("tests/coordinator/test_service.py", "tests/migration/test_conversion.py"),
    *("tests/classic/test_classic_groups.py", "tests/classic/test_classic_administration.py"),
    "tests/connect/test_connect_administration.py",
)
_STORAGE: Final = "tests/coordinator/test_storage.py"
_RECORDS: Final = "tests/coordinator/test_records_as_json.py"
_CLASSIC: Final = (
    *(f"tests/classic/test_classic_{name}.py" for name in ("survivors", "service", "input", "groups")),
    "tests/classic/test_classic_administration.py",
    *("tests/classic/test_leaders.py", "tests/classic/test_classic_assignors.py"),
)
OF_PACKAGE: Final = {
    "core/admission": ("tests/coordinator/test_admin_groups.py",),
    "admin": _ADMINISTRATION,
    "assignors": ("tests/assignors",),
    "classic": _CLASSIC,
    "classic/model": ("tests/classic/test_classic_model.py", *_CLASSIC),
    **dict.fromkeys(("classic/records", "classic/response"), (_RECORDS, *_CLASSIC)),
    "classic/assignors": ("tests/classic/test_leaders.py", "tests/classic/test_classic_assignors.py"),
    "classic/embedded": ("tests/classic/test_leaders.py", "tests/classic/test_embedded_protocol.py"),
    "members/classic": ("tests/classic_member",),
    "computing": tuple(
        f"tests/client/test_{name}.py"
        for name in ("client_survivors", "client_assignors", "client_administration", "member_assignors")
    ),
    "connect": tuple(
        f"tests/connect/test_connect_{name}.py"
        for name in ("records", "survivors", "versions", "input", "administration", "metadata", "selection")
    ),
    "members/connect": ("tests/connect/test_worker.py", "tests/connect/test_worker_assignor.py"),
    "members/consumer": ("tests/member",),
    "migration": ("tests/migration",),
    **dict.fromkeys(("share", "sessions", "core/plain_records"), ("tests/share/test_share_groups.py",)),
    "core/config": (
        "tests/coordinator/test_config.py",
        "tests/coordinator/test_configured_log.py",
        "tests/coordinator/test_group_configs.py",
    ),
    "core/fields": ("tests/coordinator/test_fields.py", *_INPUT),
    "core/dialect": (
        *(f"tests/coordinator/test_departures_of_{name}.py" for name in ("groups", "members")),
        "tests/coordinator/test_departures_of_reconciliation.py",
        "tests/coordinator/test_group_configs.py",
    ),
    "core/wire": ("tests/coordinator/test_wire.py", *_INPUT),
    "core/storage": (
        *(_STORAGE, "tests/coordinator/test_compaction.py", "tests/coordinator/test_groups_command.py"),
    ),
    "core/topics": (_STORAGE,),
    "core/log": (
        "tests/coordinator/test_log_of_coordinator.py",
        *(_STORAGE, "tests/migration/test_large_conversion.py"),
    ),
    "consumer/records": (_RECORDS, _STORAGE),
    "consumer/describe": _SCHEDULES[:1],
    "consumer/describe_request": (
        *(f"tests/coordinator/test_{name}.py" for name in ("describe_api", "client_of_a_request")),
        "tests/client/test_client_administration.py",
    ),
    "consumer/load": (
        *("tests/coordinator/test_fail_over.py", "tests/coordinator/test_group_configs.py"),
        *(_STORAGE, "tests/migration/test_migrating_log.py"),
    ),
    "service": (
        *_KINDS,
        "tests/coordinator/test_metrics.py",
        *_SCHEDULES,
        *_ADMINISTRATION,
        _STORAGE,
    ),
    "core/timers": ("tests/coordinator/test_timers.py", "tests/coordinator/test_line_protocol.py"),
    "others": _KINDS,
    "apis": ("tests/coordinator/test_client_of_a_request.py", *_SCHEDULES[:1]),
    "core/step": _SCHEDULES,
    **dict.fromkeys(
        ("offsets/handlers", "offsets/records", "consumer/notice"),
        ("tests/coordinator/test_offsets.py", _INPUT[1]),
    ),
    **dict.fromkeys(
        ("consumer/heartbeat", "consumer/request", "consumer/validation", "offsets/request"), _INPUT
    ),
    **dict.fromkeys(
        ("consumer/partition_epochs", "consumer/reconcile"), ("tests/coordinator/test_partition_epochs.py",)
    ),
}
"""By the name of a package, or of a file that is in none."""
TESTS_FOLDERS: Final = tuple(
    sorted(
        {
            test.rpartition("/")[0] if test.endswith(".py") else test
            for test in (*TESTS, *chain(*OF_PACKAGE.values()))
        }
    )
)
ALWAYS: Final = (PACKAGE, "harness/replay", "harness/targets")
"""Folders that every judgement reads, besides the trace, the model or the test."""
TYPES: Final = "types"
CONFIGURED: Final = "pyproject.toml"
"""The file on which a judgement by types, or by loading the mutant, depends."""
TYPES_CACHE: Final = "build/mutate/mypy"
TYPES_LIMIT_S: Final = 120.0
LENGTH: Final = 200
"""The length of a tour, in steps, about."""


class Check(Protocol):
    """A check of the kit by its name, on the loaded coordinator and members."""

    @property
    def name(self) -> str:
        """The name in reports."""

    def noticed(self) -> Verdict | None:
        """The first difference or violation; None if there is none."""


@dataclass(frozen=True, slots=True)
class Traces:
    """Traces of one dialect that are replayed together, with their origin: folders, or a model."""

    name: str
    dialect: str
    traces: Sequence[DecodedTrace]
    of: Sequence[str] = ()

    def noticed(self) -> Verdict | None:
        """The first difference of the replay; it rests on that one trace, if that is a file."""
        on = self.of
        try:
            replayer = started(self.dialect)
            for trace in self.traces:
                on = (trace.name,) if trace.name.endswith(SUFFIX) else self.of
                if failure := first_failure(replayer, trace):
                    signature = failure.signature(failure.differences[0])
                    return Verdict(KILLED, f"{Path(trace.name).name}, step {failure.index}: {signature}", on)
        except Exception as error:
            return Verdict(KILLED, f"{self.name}: {type(error).__name__}: {error}", on)
        return None


def checks_of(
    root: Path, mutant: Mutant, tours: Sequence[str], simulates: bool, with_types: bool, with_tests: bool
) -> Needed:
    """All checks that judge a mutant, in this order, with the things on which each rests."""
    checks: dict[str, Sequence[str]] = {name: of for name, _, of in _committed(root)}
    checks |= {tour(model): (model,) for model in tours}
    if simulates:
        checks |= {simulation.name: (simulation.of,) for simulation in SIMULATIONS}
    if with_types:
        checks[TYPES] = (CONFIGURED,)
    if with_tests:
        checks[TESTS_OF_ITS_OWN] = (*_own(mutant.path), *TESTS)
    return checks


@cache
def _committed(root: Path) -> Sequence[tuple[str, str, Sequence[str]]]:
    """Name, dialect and folders of the committed traces: those of the texts, then those of each dialect."""
    texts = [f"traces/{name}" for name in TRACE_FOLDERS if (root / "traces" / name).is_dir()]
    dialects = sorted(folder.name for folder in (root / "traces" / "dialects").glob("*"))
    return [
        ("committed traces", "kip-848", texts),
        *((f"traces of {name}", name, [f"traces/dialects/{name}"]) for name in dialects),
    ]


def tour(model: str) -> str:
    """The check by a model's tours."""
    return f"every step of {model}"


def reads(root: Path, manifest: Manifest, name: str) -> list[Path | str]:
    """The files that a judgement reads: traces, a test with the common parts of tests, a model's tours."""
    always = [file for folder in ALWAYS for file in files(root / folder)]
    if not (root / name).exists():
        model = of_model(manifest, name)
        return [*always, *model] if model else []
    folders = TESTS_FOLDERS if name.startswith("tests/") else ()
    helpers = [
        file for folder in folders for file in files(root / folder) if not file.name.startswith("test_")
    ]
    return [*always, *helpers, *files(root / name)]


def committed_checks(root: Path) -> Iterator[Traces]:
    """The checks by committed traces, which are read here."""
    for name, dialect, folders in _committed(root):
        yield Traces(
            name, dialect, decoded_traces(trace_files([root / folder for folder in folders]), root), folders
        )


def decoded_traces(paths: Sequence[Path], root: Path) -> list[DecodedTrace]:
    """Traces of files, by their paths from the repository's folder."""
    decoder, traces = Decoder(), [file for file in paths if file.name.endswith(SUFFIX)]
    return [decoder.decode(read_trace(file), str(file.relative_to(root))) for file in traces]


def judge(mutant: Mutant, checks: Sequence[Check]) -> Verdict:
    """The verdict of checks on a mutant. Must be called in a process of its own."""
    try:
        compile(mutant.text, mutant.path, "exec")
        load({mutant.path: mutant.text})
    except Exception as error:
        return Verdict(UNVIABLE, f"{type(error).__name__}: {error}", (CONFIGURED,))
    return verdict(checks)


def judge_more(task: tuple[Mutant, Sequence[str]], checks: Sequence[Check], root: Path) -> Verdict:
    """The verdict of some checks on a mutant; types and the coordinator's own tests may be among them."""
    mutant, names = task
    again = judge(mutant, [check for check in checks if check.name in names])
    if again.outcome == SURVIVED and TYPES in names and (wrong := _wrong_types(mutant, root)):
        return Verdict(UNVIABLE, wrong, (CONFIGURED,))
    return (
        _tested(mutant, root, again.by) if again.outcome == SURVIVED and TESTS_OF_ITS_OWN in names else again
    )


def _wrong_types(mutant: Mutant, root: Path) -> str:
    """The first error of mypy in the mutant; "" if there is none."""
    with tempfile.TemporaryDirectory(prefix="conform-mutate-") as name:
        shadow = Path(name) / Path(mutant.path).name
        shadow.write_text(mutant.text, encoding="utf-8")
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", TYPES_CACHE]
        command += ["--shadow-file", mutant.path, str(shadow), mutant.path]
        ended = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=TYPES_LIMIT_S)
    return ended.stdout.partition("\n")[0] if ended.returncode == 1 else ""


def _tested(mutant: Mutant, root: Path, by: str) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="conform-mutate-") as name:
        folder = Path(name)
        shutil.copytree(root / PACKAGE, folder / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / mutant.path).write_text(mutant.text, encoding="utf-8")
        tests = tuple(dict.fromkeys((*_own(mutant.path), *TESTS)))
        try:
            failed = failed_tests(root, folder, tests)
        except ConformError as error:
            return Verdict(TIMED_OUT, error.message, tests)
    if failed:
        return Verdict(KILLED, f"{TESTS_OF_ITS_OWN}: {failed}", (failed.partition("::")[0],))
    return Verdict(SURVIVED, f"{by}, {TESTS_OF_ITS_OWN}")


def _own(path: str) -> tuple[str, ...]:
    """The tests of a file, or of the package that it is in."""
    inside = Path(path).relative_to(PACKAGE).with_suffix("")
    return OF_PACKAGE.get(inside.as_posix(), OF_PACKAGE.get(inside.parent.as_posix(), ()))


def verdict(checks: Sequence[Check]) -> Verdict:
    """The verdict of checks on the loaded coordinator and members."""
    noticed = (outcome for check in checks if (outcome := check.noticed()))
    return next(noticed, None) or Verdict(SURVIVED, ", ".join(check.name for check in checks))


def started(dialect: str) -> Replayer:
    """A replay on the loaded coordinator and members, which ends at its first difference."""
    target = importlib.import_module(REBOUND[0]).PythonTarget(dialect)
    return Replayer(target, 1, importlib.import_module(REBOUND[1]).PythonProcess)


def first_failure(replayer: Replayer, trace: DecodedTrace) -> Failure | None:
    """The first step of a trace after which the target differs, or that the target did not load."""
    replayer.replay(trace)
    return next(iter([*replayer.result.failures, *replayer.result.not_loaded]), None)


def load(texts: Mapping[str, str]) -> None:
    """Replace this process's coordinator by one with these texts of its files, by their paths from the
    repository's folder."""
    for name in [name for name in sys.modules if name.split(".")[0] == PACKAGE or name in REBOUND]:
        del sys.modules[name]
    sys.meta_path.insert(0, _Finder({_module(path): text for path, text in texts.items()}))
    for name in REBOUND:
        importlib.import_module(name)


def _module(path: str) -> str:
    """coordinator/members/consumer/__init__.py -> coordinator.members.consumer"""
    parts = Path(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


class _Finder(importlib.abc.MetaPathFinder):
    """A finder of modules in the texts of a mutant, by their names; all other modules come from their
    files."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self._texts:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or spec.origin is None:
            return None
        loader = _Loader(fullname, spec.origin)
        loader.text = self._texts[fullname]
        return importlib.util.spec_from_file_location(
            fullname, spec.origin, loader=loader, submodule_search_locations=spec.submodule_search_locations
        )


class _Loader(importlib.machinery.SourceFileLoader):
    """A loader of the given text, never of a compiled file."""

    text = ""

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        return compile(self.text, self.path, "exec")


def tour_check(model: Model, log: Path, limits: Limits, progress: Progress) -> Traces:
    """Tours of every edge of a model's state graph, made by TLC."""
    graph = merge_by_hidden(dump_graph(model, limits=limits, log=log, progress=progress), STEP_VARIABLE)
    decoder = Decoder()
    traces = [
        decoder.decode(trace, f"{model.name}-tour-{number}")
        for number, trace in enumerate(tour_traces(model, graph, max_length=LENGTH), start=1)
    ]
    return Traces(tour(model.name), traces[0].start.forms.name, traces, (model.name,))
