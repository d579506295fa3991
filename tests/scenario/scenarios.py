"""Small scenarios to break, and the repository's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from harness.kinds.consumer.scenario.load import load_scenario
from harness.kinds.consumer.scenario.model import Scenario

ROOT = Path(__file__).parent.parent.parent
SPEC = ROOT / "spec"
GOLDEN = ROOT / "traces" / "golden"

SMALL = """\
name: Small
source: a test
shows: A joins, B waits.
topics: {foo: 2}

steps:
  - join: {member: A, subscription: [foo]}
    target: {A: [foo-0, foo-1]}
    expect:
      response: {epoch: 1, assigned: [foo-0, foo-1], pending: []}
      group: {epoch: 1, assignmentEpoch: 1, state: Stable}
      target: {A: [foo-0, foo-1]}
      members:
        A: {epoch: 1, partitions: [foo-0, foo-1], pending: []}
  - join: {member: B, subscription: [foo]}
    target: {A: [foo-0], B: [foo-1]}
    expect:
      response: {epoch: 2, assigned: [], pending: [foo-1]}
      group: {epoch: 2, assignmentEpoch: 2, state: Reconciling}
      target: {A: [foo-0], B: [foo-1]}
      members:
        A: {epoch: 1, partitions: [foo-0, foo-1], pending: []}
        B: {epoch: 2, partitions: [], pending: [foo-1]}
"""
"""A behaviour of the specification, as it is written."""


def small(old: str = "", new: str = "", name: str = "small.yaml") -> Scenario:
    """`SMALL` with its first `old` replaced by `new`."""
    assert old in SMALL
    return load_scenario(Path(name), SMALL.replace(old, new, 1))


def unplaced(scenario: Scenario) -> Scenario:
    """A scenario without the lines of its file."""
    steps = tuple(
        replace(
            step,
            first_line=0,
            last_line=0,
            column=0,
            sections={
                name: replace(section, first_line=0, last_line=0) for name, section in step.sections.items()
            },
        )
        for step in scenario.steps
    )
    return replace(scenario, file="", steps=steps, errata=())
