"""Readers of the texts of specifications: the bounds of a model, definitions, and steps in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from frozendict import frozendict

from harness.diff.edits import definitions
from harness.diff.properties import cited
from harness.diff.words import changes, effects, input_of
from harness.engines.base import Model
from harness.engines.tlc_config import Config, read_config
from harness.itf import read_trace
from harness.manifest import read_manifest
from harness.modules import strip_comments
from harness.transitions import behaviour, bounds_of

ROOT = Path(__file__).parents[2]
MODELS = read_manifest(ROOT / "spec" / "manifest.json")
SOURCES = [
    strip_comments((ROOT / "spec" / name).read_text())
    for name in ("MCKafkaStatic.tla", "MCOpen.tla", "OpenGroup.tla", "MCFenced.tla")
]


def config(model: Model) -> Config:
    return read_config(model.configuration)


@pytest.mark.parametrize(
    ("name", "init", "following"),
    [
        ("MCOpen", "Init", "BoundedNext"),
        # fairness in two definitions, one over the other
        ("MCKafka43LagsLive", "Init", "(Next /\\ FirstTargetIsNotLate)"),
        ("MCHandOverUnfenced", "OffsetInit", "(OffsetNext \\/ ReceiveLateCommitUnfenced)"),
        ("MCKafka43Offsets", "(OffsetInit /\\ partitionEpochs = NothingGiven)", "EpochNext"),
    ],
)
def test_the_behaviour_of_a_model(name: str, init: str, following: str) -> None:
    model = MODELS.entry(name).model()
    assert behaviour(model, config(model)) == (init, following)


def test_every_model_says_its_behaviour_by_name() -> None:
    models = [entry.model() for entry in MODELS.entries if entry.engine == "tlc"]
    assert all(all(behaviour(model, config(model))) for model in models)


@pytest.mark.parametrize(
    ("relation", "free", "bounds"),
    [
        ("Next", "Next", []),
        ("BoundedNext", "Next", ["group'.epoch <= MaxEpoch"]),
        # A conjunct that restricts the steps (KeepsInstance is about step') is none of the bounds of the
        # states.
        ("SteadyNext", "Next /\\ KeepsInstance", ["group'.epoch <= MaxEpoch"]),
        ("FencedNext", "Next /\\ OneLateHeartbeat", []),
    ],
)
def test_the_bounds_of_a_model(relation: str, free: str, bounds: list[str]) -> None:
    assert bounds_of(relation, SOURCES) == (free, bounds)


def test_a_relation_that_is_no_plain_conjunction_is_left_alone() -> None:
    source = "Some == A /\\ \\E x \\in S : x' = 1 /\\ y' = 2\n\nOther == A /\\ x' = 1 \\/ B\n"
    assert bounds_of("Some", [source]) == ("Some", [])
    assert bounds_of("Other", [source]) == ("Other", [])


def test_a_restriction_of_steps_is_no_bound() -> None:
    source = "Told ==\n  /\\ Next\n  /\\ x' < 3\n  /\\ step'.action # \"Up\"\n"
    assert bounds_of("Told", [source]) == ('Next /\\ step\'.action # "Up"', ["x' < 3"])


def test_definitions_without_comments(tmp_path: Path) -> None:
    module = tmp_path / "M.tla"
    module.write_text(
        "---- MODULE M ----\nEXTENDS Naturals\n(* A == 1 *)\nA == 1 \\* one\nLOCAL B(x, y) ==\n"
        "  \\* how\n  x + y\nf[n \\in Nat] == n\n====\n"
    )
    results = definitions(module)
    assert list(results) == ["(declarations)", "A", "B", "f"]
    assert results["A"] == ["A == 1"]
    assert results["B"] == ["LOCAL B(x, y) ==", "  x + y"]


def test_the_requirements_of_properties() -> None:
    model = MODELS.entry("MCFencedLive").model()
    names = ["NoDoubleOwnership", "NoDoubleHolding", "EventuallyConverged", "TypeOK"]
    assert cited(model, names) == {
        "NoDoubleOwnership": ("R7",),  # over it
        "NoDoubleHolding": ("R7",),  # over HeldDisjoint, whose name it has
        "EventuallyConverged": ("R8",),
        "TypeOK": (),  # it names zombies, of which R7 speaks
    }


def test_a_step_of_the_protocol_in_words() -> None:
    """A golden trace: a member joins, revokes, reports."""
    trace = read_trace(ROOT / "traces" / "golden" / "basic.itf.json")
    plain = [state.delete("step") for state in trace.states]
    messages = [
        input_of(after["step"], before) for before, after in zip(plain, trace.states[1:], strict=False)
    ]
    assert messages[0].startswith("Join of A, ")
    assert effects(plain[0], plain[1])[0].startswith("A is a member, with epoch 1")
    assert any(text.startswith("Heartbeat of A with epoch 1, owning foo-0 ") for text in messages)
    assert effects(plain[0], plain[0]) == ["nothing changes"]


def test_where_two_values_differ() -> None:
    a = frozendict(x=frozendict(p=1, q=2), y=frozenset({1}))
    b = frozendict(x=frozendict(p=1, q=3), y=frozenset({1}), z=4)
    assert list(changes(a, b)) == [(("x", "q"), 2, 3), (("z",), None, 4)]


def test_a_name_that_is_not_there_is_none() -> None:
    """An assignor, an instance or an owner: "" says of each that there is none."""
    before, after = (
        frozendict(group=frozendict(members=frozendict(m1=frozendict(epoch=1, assignor=name))))
        for name in ("", "range")
    )
    assert effects(before, after) == ["m1 assignor: none → range"]
    assert effects(after, before) == ["m1 assignor: range → none"]
