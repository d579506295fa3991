"""A property that its model makes true says nothing, and neither does an operator that nothing uses."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

from harness.dialects import departures
from harness.engines.tlc_config import read_config
from harness.modules import strip_comments
from harness.replay.dialects import FORMS
from harness.values import Value

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "spec"
SAYS_SOMETHING: Final[dict[str, tuple[str, tuple[Value, ...]]]] = {
    "AllTopicsNoticed": ("MetadataChange", ("at-once",)),
    "EmptySettled": ("LastLeaveAdvancesAssignmentEpoch", (True,)),
    "ChangesAreTold": ("AssignmentSent", ("on-change",)),
    "FencedStays": ("FencedMemberIsRemoved", (False,)),
    "InstancesChecked": ("InstanceChecked", ("fenced",)),
    "OwnersAreAsked": ("RevocationAsked", ("if-owned",)),
    "RetriesHaveAll": ("RetrySubsetOf", ("assigned",)),
    "RevocationsGrow": ("RevocationRestart", ("unsubscribed", "waits")),
}
"""Properties of MCOpen whose premise is a choice of the dialect -> the constant, and its values with which
the property says something. With another value it is true by definition."""

NEEDS: Final[tuple[tuple[str, str], ...]] = (
    ("CommitsFenced", "OffsetValues <- NoInts"),
    ("EagerOwnsNothingBetween", "FirstConfig <- AllNew\n  NextConfig <- Stays"),
    ("FailOverKeepsMembers", "WithFailOver = FALSE"),
    ("FailOverLosesNothing", "WithFailOver = FALSE"),
    ("FailOverStillRejoins", "WithFailOver = FALSE"),
    ("FieldsAreKept", "WithFailOver = FALSE"),
    ("InstancesOK", "InstanceIds <- NoStrings"),
    ("PlacesKept", "InstanceIds <- NoStrings"),
    ("StaticInOrder", "InstanceIds <- NoStrings"),
)
"""Properties, and lines of a configuration with which its model has none of the steps that they are about."""


def test_no_configuration_lists_a_property_of_steps_that_its_model_cannot_take() -> None:
    texts = {path.name: path.read_text() for path in sorted(SPEC.glob("*.cfg"))}
    vacuous = [
        f"{name}: {prop}, with {lines}"
        for prop, lines in NEEDS
        for name, text in texts.items()
        if f"  {lines}\n" in text and re.search(rf"\b{prop}\b", text)
    ]
    assert vacuous == []
    assert all(any(re.search(rf"\b{prop}\b", text) for text in texts.values()) for prop, _ in NEEDS)


def test_no_configuration_lists_a_property_that_its_dialect_makes_true() -> None:
    chosen = {one.name: one.values for one in departures(SPEC)}
    listed: Counter[str] = Counter()
    vacuous = []
    for path in sorted(SPEC.glob("*.cfg")):
        config = read_config(path)
        dialect = config.constants().get("Dialect")
        if not isinstance(dialect, str) or dialect not in FORMS:
            continue
        for name in {*config.names("INVARIANT"), *config.names("PROPERTY")} & SAYS_SOMETHING.keys():
            constant, values = SAYS_SOMETHING[name]
            listed[name] += 1
            if chosen[constant][FORMS[dialect].name] not in values:
                vacuous.append(
                    f"{path.name}: {name} is true by definition where {constant} is another choice"
                )
    assert vacuous == []
    assert listed.keys() == SAYS_SOMETHING.keys()


def test_each_operator_of_the_specification_is_used() -> None:
    """In another definition, a configuration, the manifest, a goal, or what the harness or a test writes."""
    modules = {path: strip_comments(path.read_text()) for path in SPEC.glob("*.tla")}
    others = [*SPEC.glob("*.cfg"), *SPEC.glob("*.json"), *SPEC.glob("*.toml")]
    for folder in ("harness", "tests"):
        others += [path for path in (ROOT / folder).rglob("*") if path.suffix in {".j2", ".py"}]
    texts = [*modules.values(), *(path.read_text() for path in others)]
    # the underscore in [Next]_vars and <<Next>>_vars belongs to no name
    words = Counter(word for text in texts for word in re.findall(r"\w+", re.sub(r"(?<=[\]>])_", " ", text)))
    unused = [
        f"{path.name}: {name}"
        for path, text in modules.items()
        for name in re.findall(r"^(\w+)(?:\([^)]*\))? ==", text, re.MULTILINE)
        if words[name] == 1 and not name.endswith("_aliases")
    ]
    assert sorted(unused) == []
