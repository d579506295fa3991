"""The rows of the specification's records: none is missing, none is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
from frozendict import frozendict

from harness.kinds.classic.state import (
    ClassicGroup,
    ClassicMember,
    ClassicRequest,
    ClassicResponse,
    ClassicSpecStep,
    Joined,
    Saved,
    SavedMember,
)
from harness.kinds.connect.state import CallMade, Prepared, PreparedWorker, Work
from harness.kinds.consumer.state import Group, Member, Request, SpecStep
from harness.kinds.features.admission_state import Admission
from harness.kinds.features.computing_state import Base, ClientStep, Offer, UserData
from harness.kinds.features.computing_state import Prepared as PreparedMember
from harness.kinds.fields import BadField, Fields, Partition
from harness.kinds.rows import BESIDE, Counts, Owners, Row, Sizes, record_of

SPEC = Path(__file__).parents[2] / "spec"
ROWS: dict[tuple[str, str], type] = {
    ("GroupTypes", "member"): Member,
    ("GroupTypes", "group"): Group,
    ("GroupTypes", "request"): Request,
    ("GroupTypes", "step"): SpecStep,
    ("ClientTypes", "offer"): Offer,
    ("ClientTypes", "told"): UserData,
    ("ClientTypes", "prepared"): PreparedMember,
    ("ClientTypes", "base"): Base,
    ("ClientTypes", "clientStep"): ClientStep,
    ("Admission", "admission"): Admission,
    ("ClassicTypes", "classicMember"): ClassicMember,
    ("ClassicTypes", "savedMember"): SavedMember,
    ("ClassicTypes", "saved"): Saved,
    ("ClassicTypes", "classicGroup"): ClassicGroup,
    ("ClassicTypes", "classicRequest"): ClassicRequest,
    ("ClassicTypes", "joined"): Joined,
    ("ClassicTypes", "classicResponse"): ClassicResponse,
    ("ClassicTypes", "classicStep"): ClassicSpecStep,
    ("Connect", "prepared"): Prepared,
    ("Connect", "work"): Work,
    ("Connect", "preparedWorker"): PreparedWorker,
    ("Connect", "call"): CallMade,
}
"""Records of the specification, by module and type alias, and the dataclasses that have their rows."""
BY_HAND = {
    "GroupTypes": {"assignment", "response", "updated", "client"},
    "ClassicTypes": {"answer", "outcome", "handled", "classicClient"},
    "ClientTypes": {"computation"},
    "Connect": {"worked"},
}
"""Records that are read by functions, or that no state has."""
APART = {
    "group": {"members"},
    "clientStep": {"offers"},
    "classicMember": {"place"},
    "savedMember": {"there"},
    "classicGroup": {"members"},
}
"""Fields that are read apart: the presence of a record in its function, and the present records."""
_ALIAS = re.compile(r"@typeAlias: (\w+) = \{(.*?)\};", re.DOTALL)


def aliases(module: str) -> dict[str, list[str]]:
    """The record types of a module, with the names of their fields."""
    text = (SPEC / f"{module}.tla").read_text()
    return {name: re.findall(r"(\w+): ", body) for name, body in _ALIAS.findall(text)}


@pytest.mark.parametrize(("module", "alias"), ROWS)
def test_every_field_of_the_specification_has_a_row(module: str, alias: str) -> None:
    rows = [row.spec for row in record_of(ROWS[module, alias]).rows]
    assert sorted([*rows, *APART.get(alias, ())]) == sorted(aliases(module)[alias])


@pytest.mark.parametrize("module", BY_HAND)
def test_every_record_of_the_specification_is_known(module: str) -> None:
    with_rows = {alias for known, alias in ROWS if known == module}
    assert with_rows.isdisjoint(BY_HAND[module])
    assert with_rows | BY_HAND[module] == set(aliases(module))


@dataclass(frozen=True)
class Inner:
    name: str


@dataclass(frozen=True)
class Outer:
    some_epoch: Annotated[int, Row(json="epoch")]
    named: Annotated[str, Row(spec="name", json="shown")]
    said: Annotated[bool, Row(absent=False)]
    topics: frozenset[str]
    order: tuple[str, ...]
    owned: Annotated[frozenset[Partition] | None, Row(json="owned")]
    owners: Owners
    counts: Counts
    sizes: Sizes
    inner: Inner
    several: frozenset[Inner]
    other: Annotated[int, BESIDE] = 7


STATE: dict[str, Any] = {
    "someEpoch": 3,
    "name": "m",
    "said": True,
    "topics": frozenset({"foo", "bar"}),
    "order": ("b", "a"),
    "owned": frozenset({frozenset({("foo", 0)})}),
    "owners": frozendict({("foo", 0): "m2", ("foo", 1): "", ("bar", 0): "m1"}),
    "counts": frozendict({"foo": 0, "bar": 2}),
    "sizes": frozendict({"foo": 0, "bar": 2}),
    "inner": frozendict(name="i"),
    "several": frozenset({frozendict(name="j"), frozendict(name="i")}),
}
READ = Outer(
    some_epoch=3,
    named="m",
    said=True,
    topics=frozenset({"foo", "bar"}),
    order=("b", "a"),
    owned=frozenset({("foo", 0)}),
    owners={"m1": frozenset({("bar", 0)}), "m2": frozenset({("foo", 0)})},
    counts={"foo": 0, "bar": 2},
    sizes={"bar": 2},
    inner=Inner("i"),
    several=frozenset({Inner("i"), Inner("j")}),
)


def read(**changes: Any) -> Outer:
    return record_of(Outer).read(Fields(frozendict({**STATE, **changes}), "outer"))


def test_a_record_is_read_by_its_rows() -> None:
    assert read() == READ
    assert read(owned=frozenset()).owned is None


def test_a_field_that_older_traces_lack_has_its_value() -> None:
    state = {name: value for name, value in STATE.items() if name != "said"}
    assert record_of(Outer).read(Fields(frozendict(state), "outer")).said is False


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"someEpoch": True}, "outer.someEpoch must be an integer, not True"),
        ({"name": 1}, "outer.name must be a string, not 1"),
        ({"topics": frozenset({1})}, "outer.topics must be a string, not 1"),
        ({"owned": frozenset({1, 2})}, "outer.owned must have at most one element, not 2"),
        ({"owned": frozenset({frozenset({"foo"})})}, "outer.owned must have partitions"),
        ({"owners": frozendict({("foo", 0): 1})}, r"outer.owners\[\('foo', 0\)\] must be a string"),
        ({"inner": "i"}, "outer.inner must be a record, not 'i'"),
    ],
)
def test_a_value_of_another_type_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(BadField, match=words):
        read(**changes)


def test_a_missing_field_is_named() -> None:
    with pytest.raises(BadField, match='outer has no field "someEpoch"'):
        record_of(Outer).read(Fields(frozendict(), "outer"))


@dataclass(frozen=True)
class Said:
    epoch: Annotated[int, Row(json="memberEpoch")]
    text: Annotated[str, Row(json="instanceId")]
    yes: bool
    owned: Annotated[frozenset[Partition] | None, Row(json="owned")]
    absent: str | None
    order: tuple[str, ...]
    several: frozenset[Inner]


SAID = Said(3, 'a "b"', True, frozenset({("foo", 1), ("bar", 0)}), None, ("b", "a"), READ.several)


def test_a_literal_has_all_fields_in_the_forms_of_the_specification() -> None:
    assert record_of(Said).literal(SAID) == (
        r'[epoch |-> 3, text |-> "a \"b\"", yes |-> TRUE, owned |-> {{<<"bar", 0>>, <<"foo", 1>>}}, '
        'absent |-> {}, order |-> <<"b", "a">>, several |-> {[name |-> "i"], [name |-> "j"]}]'
    )


def test_json_has_the_fields_that_are_described() -> None:
    shown = record_of(Said).described(SAID, {"partitions or none": sorted, "text": lambda text: text or None})
    assert shown == {"memberEpoch": 3, "instanceId": 'a "b"', "owned": [("bar", 0), ("foo", 1)]}
    assert record_of(Said).only("epoch").described(SAID, {}) == {"memberEpoch": 3}


def test_a_field_that_is_not_shown_is_absent() -> None:
    described = {"memberEpoch": 3, "instanceId": None, "owned": None, "other": 1}
    forms = {"text": lambda text: text or ""}
    assert record_of(Said).seen(described, (), forms) == {"epoch": 3, "text": ""}
    assert record_of(Said).seen(described, {"memberEpoch"}, forms) == {"text": ""}
    assert record_of(Said).seen({}, (), forms) == {}


def test_a_literal_of_what_was_seen_has_an_option_a_field() -> None:
    shown = record_of(Said).only("epoch", "text", "yes")
    assert shown.seen_literal({"text": "i"}) == '[epoch |-> {}, text |-> {"i"}, yes |-> {}]'
    assert shown.seen_literal({}, {"epoch": "-1"}) == "[epoch |-> -1, text |-> {}, yes |-> {}]"


def test_a_type_without_a_form_is_an_error() -> None:
    @dataclass(frozen=True)
    class Odd:
        value: float

    with pytest.raises(TypeError, match="there is no form of"):
        record_of(Odd)
