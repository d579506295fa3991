"""Agents of clients that lack an ability declare that, and rules that need it are left out, by name."""

from __future__ import annotations

import json
import shlex

import pytest
from on_wire import JOINED, MEMBER, ROOT, WAIT, played

from harness.clients.agent import AgentFailed
from harness.clients.judge import RULES
from harness.clients.run import Result, left_out, rows
from harness.clients.timeline import ABILITIES, CALLBACKS, Setup


def saying(uses: list[str], faulty: str = "") -> list[str]:
    """The kit's own agent, after a first line with its client's abilities."""
    line = json.dumps({"event": "uses", "uses": uses})
    agent = shlex.join([*MEMBER, *([faulty] if faulty else [])])
    return ["sh", "-c", f"echo {shlex.quote(line)}; exec {agent}"]


def test_rules_that_need_callbacks_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that acknowledges too early is caught, unless its agent declares that it has no callbacks."""
    steps = [*JOINED, {"do": "ghost", "who": "G1"}, WAIT]
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests/clients"))
    faulty = "faulty:AcknowledgesAtOnce"
    whole, without = played(
        (saying(sorted(ABILITIES), faulty), Setup(), steps),
        (saying(sorted(ABILITIES - {CALLBACKS}), faulty), Setup(), steps),
    )
    assert (whole.broken(), whole.missing) == ({"AcknowledgesAfterCallback"}, frozenset())
    needy = {rule.__name__ for rule in RULES if CALLBACKS in rule.needs}
    assert (without.broken(), without.missing) == (set(), {CALLBACKS})
    assert needy & without.counts.keys() == set() and without.counts["HeartbeatsInTime"]
    result = Result(1, missing=without.missing)
    result.counts.update(without.counts)
    lines = left_out(result)
    assert lines.startswith("The agent says that its client has no callbacks: not judged are ")
    assert all(name in lines for name in needy)
    assert {row[1] for row in rows(result) if row[2] == "not judged"} >= needy


def test_a_word_that_means_nothing_is_an_error() -> None:
    with pytest.raises(AgentFailed, match="The agent uses telepathy; the words are callbacks, commit"):
        played((saying(["telepathy"]), Setup(), JOINED))


def test_the_schema_has_the_words() -> None:
    schema = json.loads((ROOT / "examples/clients/agent.schema.json").read_text())
    [uses] = [
        one["properties"]["uses"] for one in schema["$defs"]["event"]["oneOf"] if "uses" in one["properties"]
    ]
    assert set(uses["items"]["enum"]) == ABILITIES
