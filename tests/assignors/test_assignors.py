"""Laws of all assignors (A2-A4): legal, and a function of the AssignmentSpec alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from assignor_specs import assert_legal, spec_of, specs
from hypothesis import given
from hypothesis import strategies as st

from coordinator.assignors import ASSIGNORS, AssignmentSpec, MemberSubscription, PartitionAssignor

both = pytest.mark.parametrize("assignor", ASSIGNORS.values(), ids=ASSIGNORS)


def test_uniform_is_the_default_and_each_has_its_name() -> None:
    assert {name: assignor.name for name, assignor in ASSIGNORS.items()} == {
        "uniform": "uniform",
        "range": "range",
    }
    assert next(iter(ASSIGNORS)) == "uniform"


@both
@given(spec=specs(members=8, topics=5, partitions=8))
def test_every_assignment_is_legal(assignor: PartitionAssignor, spec: AssignmentSpec) -> None:
    assert_legal(spec, assignor.assign(spec))


@both
@given(spec=specs(members=5), everybody_has=st.sampled_from(["bar", "baz"]))
def test_legal_even_if_two_members_have_the_same_partition(
    assignor: PartitionAssignor, spec: AssignmentSpec, everybody_has: str
) -> None:
    shared = frozenset((everybody_has, index) for index in range(2))
    members = {
        id_: MemberSubscription(member.topics, member.assigned | shared)
        for id_, member in spec.members.items()
    }
    overlapping = AssignmentSpec(members, spec.partitions)
    assert_legal(overlapping, assignor.assign(overlapping))


@both
@given(spec=specs(members=8, topics=5, partitions=5), random=st.randoms(use_true_random=False))
def test_the_order_of_members_and_topics_makes_no_difference(
    assignor: PartitionAssignor, spec: AssignmentSpec, random: Random
) -> None:
    members, partitions = list(spec.members.items()), list(spec.partitions.items())
    random.shuffle(members)
    random.shuffle(partitions)
    assert assignor.assign(AssignmentSpec(dict(members), dict(partitions))) == assignor.assign(spec)


ASSIGN_MANY = """
from random import Random
from coordinator.assignors import ASSIGNORS, AssignmentSpec, MemberSubscription

random = Random(848)
for _ in range(60):
    partitions = {f"topic-{n}": random.randint(1, 9) for n in range(6)}
    names = sorted(partitions)
    topics = [frozenset(random.sample(names, random.randint(1, 6))) for _ in range(random.randint(1, 4))]
    subscriptions = {f"member-{n}": random.choice(topics) for n in range(7)}
    owned = {member_id: set() for member_id in subscriptions}
    for topic, count in partitions.items():
        for index in range(count):
            owned[random.choice(sorted(owned))].add((topic, index))
    members = {id_: MemberSubscription(subscriptions[id_], frozenset(owned[id_])) for id_ in owned}
    for assignor in ASSIGNORS.values():
        assignment = assignor.assign(AssignmentSpec(members, partitions))
        print({member_id: sorted(assignment[member_id]) for member_id in sorted(assignment)})
"""


def test_the_hash_seed_makes_no_difference() -> None:
    root = str(Path(__file__).parents[2])
    outputs = [
        subprocess.run(
            [sys.executable, "-c", ASSIGN_MANY],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    ]
    assert outputs[0].count("\n") == 60 * len(ASSIGNORS)
    assert outputs[1:] == outputs[:1] * 2


@both
def test_a_group_without_members_gets_an_empty_assignment(assignor: PartitionAssignor) -> None:
    assert assignor.assign(spec_of({}, {"foo": 3})) == {}


@both
def test_all_members_without_topics(assignor: PartitionAssignor) -> None:
    assert assignor.assign(spec_of({"a": set(), "b": set()}, {"foo": 3})) == {
        "a": frozenset(),
        "b": frozenset(),
    }
