"""Ownership, the page above the protocol (R7), and the short form of classic groups (M1): a model without a
rule breaks them."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.evidence import verify
from harness.manifest import Entry, read_manifest

SPEC = Path(__file__).parents[2] / "spec"
ENTRIES = {entry.name: entry for entry in read_manifest(SPEC / "manifest.json").entries}
BREAKS = {
    "Holders": "Join",
    "AtOnce": "Heartbeat",
    "Quiet": "SessionTimeout",
    "Circles": "Join",
    "Before": "Heartbeat",
    "Ahead": "Join",
    "All": "SessionTimeout",
    "Kept": "LeaveTemporarily",
    "TakesOver": "Return",
    "Deleted": "DeleteGroup",
    "NoZombie": "SessionTimeout",
    "Pending": "ReceiveResponse",
}
"""Control -> the action of the step that is no step of Ownership."""
BREAKS_SHORT = {
    "MCInShortOneStep": ("JoinGroup", "m1"),
    "MCInShortBarrier": ("JoinGroup", "m2"),
    "MCInShortHasty": ("SyncGroup", "m1"),
    "MCInShortAssigned": ("JoinGroup", "m1"),
}
"""Control of the short form -> action and member of its last step."""


def steps(entry: Entry) -> list[str]:
    """The steps of a model's recorded counterexample."""
    result = verify(entry, SPEC)
    assert result.counts, f"{entry.name}: {result.why}"
    assert result.result and result.result.counterexample
    taken = [state["step"] for state in result.result.counterexample.states]
    return [f"{step['action']} {step['member']}".strip() for step in taken]


def test_every_control_is_listed() -> None:
    broken = {name for name, entry in ENTRIES.items() if entry.module.name == "MCOwnershipBroken.tla"}
    assert broken == {f"MCOwnership{name}" for name in BREAKS}


@pytest.mark.parametrize("name", BREAKS)
def test_the_step_without_the_rule_is_the_one_that_breaks_ownership(name: str) -> None:
    assert steps(ENTRIES[f"MCOwnership{name}"])[-1].split()[0] == BREAKS[name]


def test_without_r9_a_late_heartbeat_takes_what_is_used() -> None:
    """The group takes the partition from m2, whose process uses it."""
    *before, last = steps(ENTRIES["MCOwnershipNoR9"])
    assert last == "Heartbeat m2"
    assert "LoseRequest m2" in before


@pytest.mark.parametrize("name", BREAKS_SHORT)
def test_the_step_that_is_none_of_the_short_form(name: str) -> None:
    assert steps(ENTRIES[name])[-1] == " ".join(BREAKS_SHORT[name])
