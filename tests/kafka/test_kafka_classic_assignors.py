"""The assignors of classic groups beside Kafka's own, which read and write the same bytes (C5)."""

from __future__ import annotations

import json
import subprocess
from base64 import b64decode, b64encode
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple

import pytest
from kafka_driver import VERSIONS, skip_without_jars

from coordinator.assignors.spec import GroupAssignment
from coordinator.classic.assignors import ASSIGNORS
from coordinator.classic.assignors.sticky import Claim, owners
from coordinator.classic.embedded import Subscription, read_assignment, write_subscription
from coordinator.classic.leader import lead
from coordinator.core.fields import Json
from harness.targets.kafka.target import java

pytestmark = pytest.mark.maven

MAIN: Final = "conform.kafka.ClassicAssignors"
GROUPS: Final = 200
"""Groups for each assignor; half of them have equal subscriptions."""
versions = pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[-1]])


class Case(NamedTuple):
    """The request to a leader, and the partitions that its members claimed to own."""

    sent: dict[str, Any]
    claims: dict[str, Claim]
    subscribed: int
    """The number of partitions with a subscriber."""
    equal: bool
    """All members subscribe to the same."""
    disputed: bool
    """Two members may claim one partition."""


def case(name: str, seed: int) -> Case:
    """A group of up to 6 members in the middle of its life: some own, some have joined, some come late.

    Their subscriptions are of version 2 or 3: in older ones of another member, Kafka does not see the
    generation in the user data, and takes the claim that it reads last for the latest.
    """
    random = Random(seed)
    equal, disputed = seed % 2 == 0, seed % 4 >= 2
    counts = {topic: random.randint(1, 6) for topic in random.sample(["bar", "foo", "qux", "zap"], 3)}
    free = [(topic, index) for topic, count in sorted(counts.items()) for index in range(count)]
    shared = frozenset(random.sample(sorted(counts), 2))
    members: list[Json] = []
    claims: dict[str, Claim] = {}
    wanted: set[str] = set()
    for number in range(random.randint(1, 6)):
        topics = shared if equal else frozenset(random.sample(sorted(counts), random.randint(1, 3)))
        wanted |= topics
        mine = [one for one in free if one[0] in topics]
        owned = frozenset(random.sample(mine, random.randint(0, min(4, len(mine)))))
        if not disputed:
            free = [one for one in free if one not in owned]
        generation = random.choice([3, 3, 3, 2])
        subscription = Subscription(topics, ASSIGNORS[name].user_data(owned, generation), owned, generation)
        member_id, instance_id = f"m{number}", random.choice([None, None, f"i{9 - number}"])
        metadata = b64encode(write_subscription(subscription, random.choice([2, 3]))).decode()
        members.append({"memberId": member_id, "groupInstanceId": instance_id, "metadata": metadata})
        claims[member_id] = Claim(owned, generation)
    request = {"protocol": name, "members": members, "partitions": counts}
    return Case(request, claims, sum(counts[topic] for topic in wanted), equal, disputed)


@cache
def cases(name: str) -> list[Case]:
    return [case(name, seed) for seed in range(GROUPS)]


@cache
def of_kafka(version: str) -> dict[str, list[GroupAssignment]]:
    """The answers of the assignors of Kafka to all cases, in one JVM."""
    skip_without_jars(version)
    request = [one.sent for name in ASSIGNORS for one in cases(name)]
    lines = "".join(json.dumps(one) + "\n" for one in request)
    ended = subprocess.run([*java(version), MAIN], input=lines, capture_output=True, text=True, check=True)
    answers = [read({n: a for n, a in json.loads(line).items()}) for line in ended.stdout.splitlines()]
    assert len(answers) == len(request)
    return {name: answers[at * GROUPS : (at + 1) * GROUPS] for at, name in enumerate(ASSIGNORS)}


def read(assignments: dict[str, str]) -> GroupAssignment:
    return {name: read_assignment(b64decode(given)).partitions for name, given in assignments.items()}


def here(one: Case) -> GroupAssignment:
    answer = lead(one.sent["protocol"], one.sent["members"], one.sent["partitions"])
    return read({entry["memberId"]: entry["assignment"] for entry in answer})


@versions
@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_the_same_assignment(version: str, name: str) -> None:
    for one, theirs in zip(cases(name), of_kafka(version)[name], strict=True):
        assert here(one) == theirs, one.sent


class Figures(NamedTuple):
    """The unevenness of an assignment, the owned partitions that it moves, and those that it gives to no
    member."""

    uneven: int
    moved: int
    withheld: int


def figures(one: Case, assignment: GroupAssignment) -> Figures:
    owned = owners(one.claims)
    kept = sum(owned.get(partition) == name for name, given in assignment.items() for partition in given)
    sizes = [len(given) for given in assignment.values()]
    return Figures(sum(size * size for size in sizes), len(owned) - kept, one.subscribed - sum(sizes))


def both(name: str, version: str) -> list[tuple[Case, GroupAssignment, GroupAssignment]]:
    """Each case with the answer here and Kafka's."""
    return [
        (one, here(one), theirs) for one, theirs in zip(cases(name), of_kafka(version)[name], strict=True)
    ]


@versions
@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_as_even_as_kafka_and_as_little_moves(version: str, name: str) -> None:
    """With equal subscriptions the figures are the same; otherwise Kafka's heuristic is never better."""
    for one, ours, theirs in both(name, version):
        mine, kafkas = figures(one, ours), figures(one, theirs)
        if name == "sticky":
            assert mine == kafkas if one.equal else mine[:2] <= kafkas[:2], one.sent
        elif one.equal:
            assert mine[1:] == kafkas[1:], one.sent
        elif not one.disputed:
            assert mine.withheld == mine.moved, one.sent
            assert kafkas.withheld == kafkas.moved, one.sent


def handed_over(one: Case, assignment: GroupAssignment) -> int:
    """The number of partitions that a member gets and another claims in a generation that is not earlier."""
    return sum(
        partition in claim.partitions
        and name != other
        and claim.generation >= (own.generation if partition in own.partitions else -2)
        for name, given in assignment.items()
        for own in [one.claims[name]]
        for partition in given
        for other, claim in one.claims.items()
    )


@versions
def test_nothing_is_handed_over_that_another_still_has(version: str) -> None:
    """Kafka keeps this rule, except for members of different subscriptions that claim the same partition."""
    result = both("cooperative-sticky", version)
    assert not any(handed_over(one, ours) for one, ours, _ in result)
    assert not any(handed_over(one, theirs) for one, _, theirs in result if one.equal or not one.disputed)
    assert any(handed_over(one, theirs) for one, _, theirs in result)
