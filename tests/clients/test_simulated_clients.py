"""Rules of clients on a simulated clock: the reference member keeps all of them, and each faulty one is
caught by the rule that is broken. K1 to K4, H1, H2, H5, H7, H8, O2, O3, O4, S1."""

from __future__ import annotations

from collections import Counter

import pytest
from faulty import FAULTY

from coordinator.members.consumer import Member, Settings
from harness.clients.draw import draw
from harness.clients.judge import RULES
from harness.clients.simulated import simulate
from harness.simulate.groups.parts import Consumer
from harness.targets.groups.python import PythonParts

PARTS = PythonParts()
SCHEDULES = 300


def made(member: type[Member], consumer: Consumer) -> Member:
    settings = Settings(
        consumer.group,
        instance_id=consumer.instance,
        auto_commit=consumer.auto_commit,
        max_poll_interval_ms=consumer.max_poll_ms,
    )
    return member(settings, consumer.member_id)


def test_the_reference_keeps_every_rule_and_every_rule_has_something_to_judge() -> None:
    counts: Counter[str] = Counter()
    for seed in range(SCHEDULES):
        setup, steps = draw(seed)
        judged, _ = simulate(PARTS, PARTS.member, setup, steps)
        assert not judged.breaches, (seed, judged.breaches, steps)
        counts.update(judged.counts)
    assert min(counts.values()) > 0, counts
    assert counts.keys() == {rule.__name__ for rule in RULES}


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_client_is_caught_by_its_rule(name: str) -> None:
    member, rule = FAULTY[name]
    for seed in range(SCHEDULES):
        setup, steps = draw(seed)
        judged, _ = simulate(PARTS, lambda consumer: made(member, consumer), setup, steps)
        if rule in judged.broken():
            return
    pytest.fail(f"{name} breaks {rule}, and no schedule shows it")


def test_every_rule_has_a_faulty_client() -> None:
    assert {rule.__name__ for rule in RULES} == {rule for _, rule in FAULTY.values()}
    assert len(FAULTY) >= 15


def test_every_rule_has_a_requirement_and_a_sentence() -> None:
    for rule in RULES:
        assert rule.requirement and rule.sentence.endswith("."), rule
