"""P3: compaction of any range of the log leads to the same loaded state; equality, not only no failure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from group_driver import IDS, GroupDriver

from coordinator import Config, Coordinator, Dialect
from coordinator.consumer.load import groups_from, restore_volatile
from coordinator.consumer.model import Group, Partition, Subscription
from coordinator.consumer.records import Record
from coordinator.core.clock import SimulatedClock, numbered_ids
from coordinator.core.step import Env
from coordinator.core.storage import SqliteStorage
from coordinator.record_kinds import from_wire

TOPIC = "00000000-0000-0000-0000-000000000001"
Key = tuple[str, str, str | None]


def key_of(record: Record) -> Key:
    return record.type, record.group_id, record.member_id


def compacted(log: list[Record], first: int, last: int, drop_tombstones: bool) -> list[Record]:
    """The log, of whose records first..last only the last of each key is kept.

    A tombstone that is kept so is dropped too, if that is wanted and nothing of its key is left before it.
    """
    kept = {key_of(log[n]): n for n in range(first, last + 1)}
    before = {key_of(record) for record in log[:first]}
    return [
        record
        for n, record in enumerate(log)
        if not first <= n <= last
        or (
            kept[key_of(record)] == n
            and not (drop_tombstones and record.value is None and key_of(record) not in before)
        )
    ]


def loaded(log: list[Record]) -> dict[str, Group]:
    """The groups of a new coordinator that has read the log."""
    groups = groups_from(log, 0)
    restore_volatile(groups, {}, Env(Dialect(), Config(), {}, {}, {}), 0)
    return groups


def indexes_of(group: Group) -> tuple[dict[Partition, str], dict[str, str], dict[Subscription, int]]:
    """The indexes of a group, made from its members alone."""
    subscriptions: dict[Subscription, int] = {}
    for member in group.members.values():
        subscription = (member.metadata.subscription, member.metadata.regex)
        subscriptions[subscription] = subscriptions.get(subscription, 0) + 1
    return (
        {partition: name for name, member in group.members.items() for partition in member.held},
        {m.metadata.instance_id: name for name, m in group.members.items() if m.metadata.instance_id},
        subscriptions,
    )


def records_of(g: GroupDriver) -> list[Record]:
    records = []
    for wire in g.coordinator.records():
        record = from_wire(wire)
        assert isinstance(record, Record)
        records.append(record)
    return records


def reconciliation(g: GroupDriver) -> None:
    g.m1_revoking()
    g.heartbeat("m1", owned=["foo-0"])
    g.heartbeat("m2", owned=[])
    g.topic("foo", 3)
    g.leave("m1")
    g.join("m1", subscribedTopicRegex="ba.")
    g.topic("bar", 1)


def static_members(g: GroupDriver) -> None:
    g.join("m1", instanceId="i", subscribedTopicNames=None, subscribedTopicRegex="f.*")
    g.join("m2", instanceId="j")
    g.request(memberId="m1", memberEpoch=-2, instanceId="i")
    g.join("m3", instanceId="i")
    g.heartbeat("m2", instanceId="k")
    g.request(memberId="m3", memberEpoch=-2, instanceId="i")
    g.join("m1", instanceId="i", serverAssignor="range")
    g.request(memberId="m1", memberEpoch=-2, instanceId="i")
    g.join("m1", instanceId="i")
    g.join("m4", instanceId="j")
    g.heartbeat("m2", instanceId="m")
    g.leave("m4")
    g.heartbeat("m2", instanceId="j")
    g.request(memberId="m1", memberEpoch=-2, instanceId="i")


def deleted_and_again(g: GroupDriver) -> None:
    """real-bugs rows 31, 33, 35: tombstones that meet a group that does not exist, or another incarnation."""
    g.join("m1", instanceId="i")
    g.join("m2")
    g.leave("m1")
    g.leave("m2")
    g.coordinator.fire("group", "g")
    g.join("m1")
    g.join("m1", groupId="h")
    g.leave("m1")
    g.coordinator.fire("group", "g")


def recreated_topic(g: GroupDriver) -> None:
    g.join("m1")
    g.join("m2", subscribedTopicRegex=".*")
    g.delete_topic("foo")
    g.coordinator.upsert_topic("foo", IDS["foo again"], 3)
    g.heartbeat("m1", owned=[])
    g.heartbeat("m2", owned=[])
    g.coordinator.script_target("g", "no")
    g.heartbeat("m1", subscribedTopicNames=["foo", "bar"])
    g.heartbeat("m1", 99)


def partition_that_goes_around(g: GroupDriver) -> None:
    """A group in which one member after the other holds foo-0: a release may be compacted away after the next
    gain."""
    for member in ("m1", "m2", "m1"):
        g.script(**{member: ["foo-0", "foo-1"]})
        g.join(member)
        g.request(memberId=member, memberEpoch=0, rebalanceTimeoutMs=1, subscribedTopicNames=["foo"])
        other = "m2" if member == "m1" else "m1"
        if other in g.members():
            g.heartbeat(other, owned=[])
            g.heartbeat(other, owned=[])
            g.heartbeat(member, owned=[])
    g.coordinator.fire("session", "g", "m2")


def random_history(seed: int) -> Callable[[GroupDriver], None]:
    """Joins, returns, leaves, reports, time-outs and topic changes, drawn from a seed."""

    def history(g: GroupDriver) -> None:
        draw = random.Random(seed)
        for _ in range(14):
            member, instance = draw.choice(["m1", "m2", "m3"]), draw.choice([None, "i", "j"])
            epoch = g.member(member)["memberEpoch"] if member in g.members() else 0
            action = draw.randrange(7)
            if action == 0 or epoch == 0:
                g.join(member, instanceId=instance, subscribedTopicRegex=draw.choice([None, "f.*", ".*"]))
            elif action == 1:
                g.request(memberId=member, memberEpoch=-2, instanceId=g.member(member)["instanceId"] or "i")
            elif action == 2:
                g.request(memberId=member, memberEpoch=draw.choice([-1, 99]))
            elif action == 3:
                g.topic("foo", min(4, g.topics["foo"] + 1))
            elif action == 4:
                timer = draw.choice(g.group()["timers"])
                g.coordinator.fire(timer["timer"], timer["group"], timer["member"])
            elif epoch > 0:
                g.heartbeat(member, owned=draw.choice([(), g.assigned(member)]), instanceId=instance)

    history.__name__ = f"random_{seed}"
    return history


HISTORIES = [
    reconciliation,
    static_members,
    deleted_and_again,
    recreated_topic,
    partition_that_goes_around,
    *map(random_history, range(12)),
]


@pytest.fixture(params=HISTORIES, ids=lambda history: str(history.__name__))
def history(request: pytest.FixtureRequest) -> Iterator[GroupDriver]:
    g = GroupDriver()
    request.param(g)
    yield g


def test_compaction_of_every_range_leads_to_the_same_state(history: GroupDriver) -> None:
    log = records_of(history)
    assert len(log) > 15
    expected = loaded(log)
    for first in range(len(log)):
        for last in range(first, len(log)):
            for drop_tombstones in (False, True):
                shorter = compacted(log, first, last, drop_tombstones)
                assert loaded(shorter) == expected, (first, last, drop_tombstones)


def test_compaction_twice_leads_to_the_same_state(history: GroupDriver) -> None:
    log = records_of(history)
    expected = loaded(log)
    draw = random.Random(len(log))
    for _ in range(100):
        shorter = log
        for _ in range(3):
            first, last = sorted(draw.choices(range(len(shorter)), k=2))
            shorter = compacted(shorter, first, last, draw.random() < 0.5) or shorter
        assert loaded(shorter) == expected


def test_assignment_and_its_tombstone_alone_leave_no_member() -> None:
    """A second compaction may have dropped the member's metadata, written again later, with its tombstone."""
    g = GroupDriver()
    g.join("m1")
    g.leave("m1")
    current = [record for record in records_of(g) if record.type == "ConsumerGroupCurrentMemberAssignment"]
    assert [record.value is None for record in current] == [False, True]
    assert loaded(current) == {}


def test_last_record_of_each_key_in_any_order_leads_to_the_same_state(history: GroupDriver) -> None:
    log = records_of(history)
    expected = loaded(log)
    last_of_each = compacted(log, 0, len(log) - 1, False)
    for seed in range(20):
        random.Random(seed).shuffle(last_of_each)
        assert loaded(last_of_each) == expected


def test_loaded_state_is_the_live_one_but_for_what_no_record_holds(history: GroupDriver) -> None:
    """P2: epochs, partitions, instances, subscriptions and targets; every prefix of whole batches loads."""
    live: Any = history.coordinator
    durable = [
        "memberId", "instanceId", "memberEpoch", "target", "targetError", "subscribedTopicNames",
        "subscribedTopicRegex", "serverAssignor", "rebalanceTimeoutMs", "rackId", "clientId", "clientHost",
    ]  # fmt: skip

    def view() -> Any:
        group = live.describe("g")
        members = [{name: member[name] for name in durable} for member in group["members"]]
        held = [
            sorted(
                (topic["topicId"], index)
                for topic in member["assigned"] + member["pendingRevocation"]
                for index in topic["partitions"]
            )
            for member in group["members"]
        ]
        return members, held, group["groupEpoch"], group["assignmentEpoch"], group["metadata"]

    before = view()
    live.restart()
    assert view() == before


def test_indexes_are_those_of_the_members(history: GroupDriver) -> None:
    live = history.coordinator._groups
    for groups in (live, loaded(records_of(history))):
        for group in groups.values():
            assert (group.owners, group.instances, group.subscriptions) == indexes_of(group)
    assert set(live) == set(loaded(records_of(history)))


def test_a_compacted_file_has_the_same_groups_and_offsets(tmp_path: Path) -> None:
    """P3: what the coordinator knows stays, its file is shorter, and a new coordinator reads the same, with
    what was written after the compaction."""

    def opened() -> tuple[Coordinator, SqliteStorage]:
        storage = SqliteStorage(str(tmp_path / "groups.db"))
        return Coordinator(clock=SimulatedClock(), ids=numbered_ids(), storage=storage), storage

    def seen(coordinator: Coordinator) -> object:
        groups = [coordinator.describe(group) for group in ("g", "h")]
        wanted = {"groups": [{"groupId": "g", "topics": None}]}
        return groups, coordinator.request("OffsetFetch", 9, {}, wanted)

    coordinator, storage = opened()
    coordinator.set_topics([{"name": "foo", "id": TOPIC, "partitions": 4}], [])
    for member, group in (("a", "g"), ("b", "g"), ("c", "h")):
        join = {"groupId": group, "memberId": member, "memberEpoch": 0, "rebalanceTimeoutMs": 60000}
        coordinator.request(
            "ConsumerGroupHeartbeat", 0, {}, {**join, "subscribedTopicNames": ["foo"], "topicPartitions": []}
        )

    def commit(offset: int) -> None:
        partition = {"partitionIndex": 1, "committedOffset": offset, "committedMetadata": ""}
        topics = [{"name": "foo", "partitions": [partition]}]
        request = {"groupId": "g", "memberId": "a", "generationIdOrMemberEpoch": 1, "topics": topics}
        coordinator.request("OffsetCommit", 9, {}, request)

    for offset in range(20):
        commit(offset)
    coordinator.request(
        "ConsumerGroupHeartbeat",
        0,
        {},
        {"groupId": "g", "memberId": "b", "memberEpoch": -1, "rebalanceTimeoutMs": -1},
    )
    before, records = seen(coordinator), coordinator.end
    coordinator.compact()
    assert seen(coordinator) == before
    assert coordinator.end < records / 2
    commit(20)
    kept, after = coordinator.end, seen(coordinator)
    assert after != before
    storage.close()
    again, storage = opened()
    assert (again.end, seen(again)) == (kept, after)
    storage.close()
