"""The manifest: required and forbidden entries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.engines.base import Outcome
from harness.errors import USAGE, ConformError
from harness.manifest import read_manifest

SPEC = Path(__file__).parents[2] / "spec"
HOLDS: dict[str, Any] = {
    "name": "Counter",
    "module": "Counter.tla",
    "config": "Counter.cfg",
    "engine": "tlc",
    "purpose": "Counts",
    "bounds": "2 counters up to 2",
    "args": {"deadlock": True},
    "expect": {"outcome": "holds"},
    "distinct_states": 9,
    "depth": 5,
    "seconds": 1,
    "tier": "small",
}
FAILS = {
    **{key: HOLDS[key] for key in ("module", "engine", "purpose", "bounds", "seconds", "tier")},
    "name": "CounterFails",
    "config": "CounterFails.cfg",
    "expect": {"outcome": "violated", "property": "NotAllFull", "length": 4},
}


def write(specs: Path, *entries: Any) -> Path:
    path = specs / "manifest.json"
    path.write_text(json.dumps({"models": list(entries)}))
    return path


def test_entries_become_models(specs: Path) -> None:
    manifest = read_manifest(write(specs, HOLDS, FAILS))
    assert [entry.name for entry in manifest.entries] == ["Counter", "CounterFails"]
    holds, fails = manifest.entries
    assert holds.model().module == specs / "Counter.tla"
    assert holds.model().args == {"deadlock": True}
    assert holds.expected() == {"outcome": "holds", "distinct_states": 9, "depth": 5}
    assert fails.outcome is Outcome.VIOLATED
    assert fails.expected() == {"outcome": "violated", "property": "NotAllFull", "length": 4}
    assert fails.model().args == {"workers": 1}  # so that the counterexample is a shortest one
    assert manifest.entry("CounterFails") is fails


def test_the_error_for_an_unknown_model_names_the_models(specs: Path) -> None:
    manifest = read_manifest(write(specs, HOLDS, FAILS))
    with pytest.raises(
        ConformError, match=r"no model Nope in .*manifest\.json; it has: Counter, CounterFails\."
    ):
        manifest.entry("Nope")


def without(*names: str) -> dict[str, Any]:
    return {key: value for key, value in HOLDS.items() if key not in names}


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (3, "entry 1: must be an object, not a whole number."),
        (without("name"), 'entry 1: the field "name" is missing.'),
        (without("tier"), 'entry Counter: the field "tier" is missing.'),
        (HOLDS | {"seconds": "long"}, 'the field "seconds" must be a number, not a text.'),
        (HOLDS | {"depth": True}, 'the field "depth" must be a whole number or null, not true or false.'),
        (HOLDS | {"state": 9}, 'the field "state" is not known; known are name, module'),
        (HOLDS | {"tier": "large"}, "the field \"tier\" must be one of small, soak, not 'large'."),
        (HOLDS | {"engine": "spin"}, "the field \"engine\" must be one of tlc, apalache, not 'spin'."),
        (HOLDS | {"module": "No.tla"}, "No.tla does not exist."),
        (HOLDS | {"config": "No.cfg"}, "No.cfg does not exist."),
        (HOLDS | {"args": {"inv": "X"}}, 'args: the field "inv" is not known; known are deadlock, workers'),
        (HOLDS | {"args": {"simulate": {"num": 1}}}, 'args: the field "simulate.depth" is missing.'),
        (HOLDS | {"expect": {}}, 'the field "expect.outcome" is missing.'),
        (
            HOLDS | {"expect": {"outcome": "fails"}},
            '"expect.outcome" must be one of holds, violated, deadlock, not',
        ),
        (
            HOLDS | {"expect": {"outcome": "holds", "length": 3}},
            'a model that holds has no "property" or',
        ),
        (FAILS | {"expect": {"outcome": "violated", "length": 4}}, 'must fail needs "property" and "length"'),
        (without("distinct_states"), 'the field "distinct_states" is missing: an exhaustive check gives it.'),
        (without("depth"), 'the field "depth" is missing: an exhaustive check gives it.'),
        (HOLDS | {"engine": "apalache"}, 'Apalache does not count states: leave "distinct_states" out.'),
    ],
)
def test_mistakes_are_named(specs: Path, entry: Any, message: str) -> None:
    path = write(specs, entry)
    with pytest.raises(ConformError) as error:
        read_manifest(path)
    assert message in error.value.message
    assert str(path) in error.value.message
    assert error.value.exit_code == USAGE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON or is cut off (line 1, column 2"),
        ("[]", 'must be {"models": [entries]} with at least one entry.'),
        ('{"models": []}', 'must be {"models": [entries]} with at least one entry.'),
        (json.dumps({"models": [HOLDS, HOLDS]}), "has 2 entries of the name Counter."),
    ],
)
def test_a_file_that_is_no_manifest(specs: Path, text: str, message: str) -> None:
    path = specs / "manifest.json"
    path.write_text(text)
    with pytest.raises(ConformError) as error:
        read_manifest(path)
    assert message in error.value.message


def test_a_simulation_has_no_states_to_expect(specs: Path) -> None:
    entry = without("distinct_states", "depth") | {"args": {"simulate": {"num": 1, "depth": 2, "seed": 3}}}
    assert read_manifest(write(specs, entry)).entries[0].expected() == {"outcome": "holds"}


def test_a_slow_model_with_few_states_has_a_reason() -> None:
    """Judged by the processor time of the records: clocks depend on other work. A model that took between
    5 and 10 s may keep its reason, as another machine is slower."""
    for entry in read_manifest(SPEC / "manifest.json").entries:
        record = json.loads((SPEC / "evidence" / f"{entry.name}.json").read_text())
        few = (record["facts"].get("distinct_states") or 0) < 10_000
        processor = (record.get("processor") or 0) if entry.engine == "tlc" and few else 0
        right = processor >= 5 if entry.slow else processor < 10
        assert right, f"{entry.name}: {processor} s, {entry.slow!r}"


def test_each_configuration_belongs_to_a_model() -> None:
    """A configuration without an entry is a model that nothing checks."""
    of_models = {entry.config for entry in read_manifest(SPEC / "manifest.json").entries}
    assert set(SPEC.glob("*.cfg")) == of_models - {None}
