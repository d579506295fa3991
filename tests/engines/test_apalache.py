"""Apalache: the meaning of its output; and, where it is installed, itself."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest
from frozendict import frozendict

from harness.engines import apalache_home
from harness.engines.apalache import Apalache
from harness.engines.apalache_home import download_apalache, find_apalache
from harness.engines.apalache_output import read_depth, read_failure, read_verdict
from harness.engines.base import EngineError, Failure, Limits, Model, Outcome
from harness.errors import ENGINE_FAILED, USAGE

CONDITIONS = [
    "  > Producing verification conditions from the invariant Ok     I@07:32:11.006",
    "  > VCGen produced 1 verification condition(s)                  I@07:32:11.015",
    "  > Producing verification conditions from the invariant Two    I@07:32:11.031",
    "  > VCGen produced 2 verification condition(s)                  I@07:32:11.036",
]


@pytest.mark.parametrize(
    ("tail", "outcome", "violated"),
    [
        (["State 2: state invariant 0 violated.    I@07:32:12.077"], Outcome.VIOLATED, "Ok"),
        (["State 2: state invariant 2 violated.    I@07:32:12.077"], Outcome.VIOLATED, "Two"),
        (
            # states and actions are numbered apart, and no text has the kind of an invariant
            ["State 0: Checking 1 action invariants", "State 1: action invariant 0 violated."],
            Outcome.VIOLATED,
            None,
        ),
        (["The outcome is: Deadlock   I@07:31:00.089"], Outcome.DEADLOCK, None),
    ],
)
def test_the_violated_invariant_is_named_by_its_number(
    tail: list[str], outcome: Outcome, violated: str | None
) -> None:
    checking = "State 0: Checking 3 state invariants          I@07:32:11.687"
    assert read_verdict([*CONDITIONS, checking, *tail], 12) == (outcome, violated)


@pytest.mark.parametrize(
    ("lines", "exit_code", "failure", "own_exit_code", "message"),
    [
        (
            [
                "PASS #0: SanyParser       I@07:31:37.555",
                "Parsing error: Syntax errors:",
                "",
                "Could not parse module D from file D.tla E@07:31:37.841",
                "It took me 0 days         I@07:31:37.864",
            ],
            255,
            Failure.PARSE,
            USAGE,
            "Apalache cannot parse M.tla.\n"
            "Parsing error: Syntax errors:\nCould not parse module D from file D.tla",
        ),
        (
            [
                "[M.tla:1:2-3:4]: Cannot apply f to 1 E@07:31:31.710",
                "Checker has found an error   I@07:31:31.744",
            ],
            120,
            Failure.TYPE,
            USAGE,
            "M.tla has a type error.\n[M.tla:1:2-3:4]: Cannot apply f to 1",
        ),
        (
            ["Configuration error (see the manual): Operator No not found E@07:32:20.354"],
            255,
            Failure.CONFIGURATION,
            USAGE,
            "Apalache's arguments or configuration for M.tla are wrong.\n"
            "Configuration error (see the manual): Operator No not found",
        ),
        (
            ["usage …", "Failed to parse command \x1b[1mcheck\x1b[22m: No option found for --odd"],
            1,
            Failure.CONFIGURATION,
            USAGE,
            "Apalache's arguments or configuration for M.tla are wrong.\n"
            "Failed to parse command check: No option found for --odd",
        ),
        (
            ["M.tla:1:1: unexpected expression: RECURSIVE F(_). E@07:32:31.140"],
            75,
            Failure.EVALUATION,
            USAGE,
            "M.tla uses something that Apalache does not support.\n"
            "M.tla:1:1: unexpected expression: RECURSIVE F(_).",
        ),
        (
            ["java.lang.OutOfMemoryError: Java heap space", "\tat scala.X"],
            255,
            Failure.MEMORY,
            ENGINE_FAILED,
            "Apalache ran out of memory (1g) on M.tla; allow more with --memory.\n"
            "java.lang.OutOfMemoryError: Java heap space",
        ),
        (
            ["Please report an issue: null", "\tat scala.X"],
            255,
            Failure.CRASH,
            ENGINE_FAILED,
            "Apalache failed on M.tla with exit code 255; its log is m.log.\nPlease report an issue: null",
        ),
    ],
)
def test_failures_have_their_kind_and_the_engines_words(
    lines: list[str], exit_code: int, failure: Failure, own_exit_code: int, message: str
) -> None:
    error = read_failure(lines, exit_code, "M.tla", Path("m.log"), "1g")
    assert (error.failure, error.exit_code, error.message) == (failure, own_exit_code, message)


def test_arguments_become_options_before_the_file(tmp_path: Path) -> None:
    args = {"inv": "Inv", "init": "IndInit", "length": 1, "deadlock": False}
    model = Model("M", tmp_path / "M.tla", tmp_path / "M.cfg", args)
    assert Apalache().options(model) == [
        *("check", "--init=IndInit", "--inv=Inv", "--length=1", "--no-deadlock", "--config=M.cfg")
    ]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Apalache; its cache."""
    monkeypatch.delenv("APALACHE_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "conform"


@pytest.mark.usefixtures("nowhere")
def test_without_apalache_the_error_tells_how_to_get_it() -> None:
    with pytest.raises(EngineError, match=r"not in APALACHE_HOME, PATH or the cache: .*--download") as error:
        find_apalache()
    assert (error.value.failure, error.value.exit_code) == (Failure.MISSING, ENGINE_FAILED)


def test_a_wrong_apalache_home_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("APALACHE_HOME", str(tmp_path))
    with pytest.raises(EngineError, match=r"APALACHE_HOME is .* but there is no .*apalache-mc"):
        find_apalache()


def release(folder: Path) -> tuple[str, str]:
    """A release of the pinned version as a file: its address and hash."""
    path = folder / "apalache.tgz"
    with tarfile.open(path, "w:gz") as tar:
        entry = tarfile.TarInfo(f"apalache-{apalache_home.PINNED}/bin/apalache-mc")
        entry.mode, entry.size = 0o755, 2
        tar.addfile(entry, io.BytesIO(b"#!"))
    return path.as_uri(), hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_download_is_checked_and_used_again(
    nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, digest = release(tmp_path)
    with pytest.raises(EngineError, match=f"is not Apalache .*: its SHA-256 is {digest}"):
        download_apalache(url)
    assert not nowhere.exists()
    monkeypatch.setattr(apalache_home, "SHA256", digest)
    program = download_apalache(url)
    assert program == find_apalache() == nowhere / f"apalache-{apalache_home.PINNED}" / "bin" / "apalache-mc"
    assert [path.name for path in nowhere.iterdir()] == [f"apalache-{apalache_home.PINNED}"]


@pytest.mark.usefixtures("nowhere")
def test_a_download_that_fails(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"cannot be fetched from file:.*set APALACHE_HOME"):
        download_apalache((tmp_path / "none.tgz").as_uri())


def _installed() -> bool:
    try:
        find_apalache()
    except EngineError:
        return False
    return True


installed = pytest.mark.skipif(
    not _installed(), reason="Apalache is not on this machine (APALACHE_HOME, PATH)"
)


@installed
def test_apalache_itself(specs: Path) -> None:
    def facts(**args: object) -> tuple[object, ...]:
        model = Model("Typed", specs / "Typed.tla", None, args)
        result = Apalache().check(model, specs / "typed.log", Limits("1g"))
        last = result.counterexample.states[-1]["at"] if result.counterexample else None
        return result.outcome.value, result.violated, result.length, result.depth, last

    assert facts(inv="Few", length=3) == ("holds", None, None, 3, None)
    assert facts(inv="Few,Small", length=3) == ("violated", "Small", 2, 2, 2)
    assert facts(inv="Grows", length=5) == ("deadlock", None, 3, 4, 3)
    assert facts(command="typecheck")[0] == "holds"
    assert not list(specs.glob("_apalache-out"))


@installed
def test_apalache_itself_with_a_configuration(specs: Path) -> None:
    model = Model("Counter", specs / "Counter.tla", specs / "CounterFails.cfg", {"length": 4})
    result = Apalache().check(model, specs / "log", Limits("1g"))
    assert (result.outcome, result.violated, result.length) == (Outcome.VIOLATED, "NotAllFull", 4)
    trace = result.counterexample
    assert trace is not None
    assert trace.states[-1]["x"] == frozendict(p=2, q=2)
    assert trace.meta["engine"] == "apalache"


@installed
def test_a_time_out_stops_apalache(specs: Path) -> None:
    with pytest.raises(EngineError, match=r"Apalache was stopped after 0\.5 seconds") as error:
        Apalache().check(Model("Typed", specs / "Typed.tla", None), specs / "log", Limits("1g", timeout=0.5))
    assert error.value.failure is Failure.TIME_OUT


@pytest.mark.parametrize(
    ("lines", "depth"),
    [
        (
            [
                "State 0: Checking 1 state invariants",
                "Step 0: picking",
                "State 1: Checking 1 state invariants",
            ],
            1,
        ),
        (
            [
                "Step 0: picking",
                "State 0: Checking 1 action invariants",
                "State 2: Checking",
                "Step 1: picking",
            ],
            1,
        ),
        (["PASS #13: BoundedChecker"], None),
    ],
)
def test_the_depth_is_the_last_step_that_was_looked_at(lines: list[str], depth: int | None) -> None:
    assert read_depth(lines) == depth
