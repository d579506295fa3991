"""The work of requests with long lists, counted: twice the list is not four times the work."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from work_counter import instructions

from coordinator import Coordinator, Dialect
from coordinator.classic.embedded import Subscription, write_subscription
from coordinator.classic.model import ClassicGroup, ClassicMember
from coordinator.computing.select import common_offers, rank
from coordinator.connect.model import assignor_name
from coordinator.consumer.describe_request import DescribeRequest, consumer_group_describe
from coordinator.consumer.model import ClientAssignor, MemberMetadata
from coordinator.migration.upgrade import upgraded

Json = dict[str, Any]
FOO = "00000000-0000-4000-8000-0000000000f0"
FEW, MANY = 100, 200
JOIN: Json = {
    **{"groupId": "g", "memberEpoch": 0, "rebalanceTimeoutMs": 5000},
    **{"subscribedTopicNames": ["foo"], "topicPartitions": []},
}


class Compared(str):
    """Text that counts how often it is compared."""

    count = 0

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def fetch(coordinator: Coordinator, number: int) -> Callable[[], object]:
    groups = [{"groupId": f"g{index}", "topics": []} for index in range(number)]
    return partial(coordinator.request, "OffsetFetch", 9, {}, {"groups": groups})


def heartbeat(coordinator: Coordinator, member: str, epoch: int, **more: Any) -> Json:
    body = {**(JOIN if epoch == 0 else {"groupId": "g"}), "memberId": member, "memberEpoch": epoch, **more}
    answer = coordinator.request("ConsumerGroupHeartbeat", 0, {}, body)
    assert answer["errorCode"] == 0, answer
    return answer


def leave(coordinator: Coordinator, number: int) -> Callable[[], object]:
    """The consumer leaves a group with a member that has many protocols."""
    heartbeat(coordinator, "m1", 0)
    metadata = base64.b64encode(write_subscription(Subscription(frozenset({"foo"})))).decode()
    protocols = [{"name": f"p{index:03}", "metadata": metadata} for index in range(number)]
    body = {"groupId": "g", "memberId": "a", "sessionTimeoutMs": 45_000, "rebalanceTimeoutMs": 60_000}
    body |= {"protocolType": "consumer", "protocols": protocols}
    assert coordinator.request("JoinGroup", 9, {}, body)["errorCode"] == 0
    return partial(heartbeat, coordinator, "m1", -1)


def join(coordinator: Coordinator, number: int) -> Callable[[], object]:
    """A member joins others that offer as many assignors as it does."""
    offers = [
        {"name": f"p{index:03}", "minimumVersion": 0, "maximumVersion": 1, "metadataVersion": 1}
        for index in range(number)
    ]
    for member in ("m1", "m2"):
        heartbeat(coordinator, member, 0, clientAssignors=offers)
    return partial(heartbeat, coordinator, "m3", 0, clientAssignors=offers)


def convert(coordinator: Coordinator, number: int) -> Callable[[], object]:
    """A consumer joins a classic group of many members, each of which owns partitions."""
    coordinator.upsert_topic("foo", FOO, 2 * number)
    members = {}
    for index in range(number):
        owned = frozenset({("foo", 2 * index), ("foo", 2 * index + 1)})
        metadata = write_subscription(Subscription(frozenset({"foo"}), None, owned, 1))
        members[f"m{index:03}"] = ClassicMember(
            *(None, "", "", 45_000, 60_000, (("range", base64.b64encode(metadata).decode()),))
        )
    group = ClassicGroup("g", "Stable", 2, "consumer", "range", "m000", members=members)
    return partial(upgraded, coordinator._env, group, None)


@pytest.mark.parametrize("prepared", [fetch, leave, join, convert], ids=lambda one: str(one.__name__))
def test_twice_the_list_is_twice_the_work(
    prepared: Callable[[Coordinator, int], Callable[[], object]],
) -> None:
    counts = []
    for number in (FEW, MANY):
        coordinator = Coordinator(dialect=Dialect())
        coordinator.upsert_topic("foo", FOO, 4)
        counts.append(instructions(prepared(coordinator, number)))
    assert counts[0] > FEW
    assert counts[1] < 2.5 * counts[0], counts


def test_a_group_id_is_not_compared_with_all_before_it() -> None:
    """An id that is named twice is noticed all the same."""
    env, groups = Coordinator()._env, [Compared(f"g{index}") for index in range(MANY)]
    Compared.count = 0
    request = DescribeRequest([*groups, Compared("g7")], False, "")
    answers = consumer_group_describe(env, {}, request, lambda *_: True, "active")["groups"]
    assert [one["errorCode"] for one in answers] == [69] * MANY + [42]
    assert Compared.count < 10 * MANY, "200 ids are 19,900 pairs"


def test_places_of_assignors_are_added_up_once() -> None:
    """A1, W1: of a name that a log has twice in a list the first place counts."""

    def offering(*names: str) -> MemberMetadata:
        offers = tuple(ClientAssignor(name, 1, 0, 0, 0, "") for name in names)
        return MemberMetadata(None, None, "", "", frozenset(), None, 1, None, offers)

    workers = {"a": offering("x", "y", "z", "x"), "b": offering("z", "x")}
    assert {name: rank(offers) for name, offers in common_offers(workers).items()} == {"x": 1, "z": 2}
    assert assignor_name(workers) == "x"
    assert common_offers({}) == common_offers({**workers, "c": offering()}) == {}
    counts = []
    for number in (FEW, MANY):
        names = [f"p{index:03}" for index in range(number)]
        counts.append(instructions(partial(assignor_name, {name: offering(*names) for name in "abc"})))
    assert counts[1] < 2.5 * counts[0], counts
