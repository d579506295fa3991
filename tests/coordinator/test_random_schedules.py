"""Any requests and time-outs, in every dialect: E1, E4, R5, R7, S1, T1, P2."""

from __future__ import annotations

from typing import Any

import pytest
from group_driver import GroupDriver, topic_partitions
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from coordinator import DIALECTS, Coordinator

MEMBERS = ("m1", "m2", "m3")
AWAY = -2
PARTITIONS = ("foo-0", "foo-1", "bar-0")

member = st.sampled_from(MEMBERS)
topics = st.lists(st.sampled_from(("foo", "bar")), unique=True)
owned = st.none() | st.just("assigned") | st.lists(st.sampled_from(PARTITIONS), unique=True)
instance = st.none() | st.sampled_from(("i", "j"))
regex = st.none() | st.sampled_from(("", "f.*", ".*"))
steps = st.one_of(
    st.tuples(st.just("join"), member, topics, instance, regex),
    st.tuples(st.just("away"), member),
    st.tuples(st.just("heartbeat"), member, st.sampled_from((0, 0, 0, 0, -1, 1)), owned, st.none() | topics),
    st.tuples(st.just("leave"), member),
    st.tuples(st.just("fire"), st.integers(0, 9)),
    st.tuples(st.just("topic"), st.sampled_from(("foo", "bar")), st.integers(0, 3)),
    st.tuples(st.just("advance"), st.sampled_from((1, 1000, 6000, 46_000))),
)


def take(g: GroupDriver, step: tuple[Any, ...]) -> None:
    """Take one step; epochs are relative to the member's, partitions "assigned" are its last assignment."""
    match step:
        case ("join", name, names, instance_id, pattern):
            g.join(name, subscribedTopicNames=names, instanceId=instance_id, subscribedTopicRegex=pattern)
        case ("away", name):
            known = g.members().get(name, {"instanceId": "i"})
            g.request(memberId=name, memberEpoch=AWAY, instanceId=known["instanceId"])
        case ("heartbeat", name, offset, report, names):
            known = g.members().get(name)
            partitions = g.assigned(name) if known and report == "assigned" else report
            if not known and report == "assigned":
                partitions = None
            epoch = max((known["memberEpoch"] if known else 1) + offset, 1)
            g.heartbeat(name, epoch, partitions, subscribedTopicNames=names)
        case ("leave", name):
            g.leave(name)
        case ("fire", choice):
            timers = g.group()["timers"]
            if timers:
                timer = timers[choice % len(timers)]
                g.coordinator.fire(timer["timer"], "g", timer["member"])
        case ("topic", name, partitions):
            change_topic(g, name, partitions)
        case ("advance", ms):
            g.coordinator.advance(ms)


def change_topic(g: GroupDriver, name: str, partitions: int) -> None:
    """Delete (0 partitions) or grow a topic, where that is possible."""
    known = g.topics.get(name, 0)
    if partitions == 0 and known:
        g.delete_topic(name)
    elif partitions > known:
        g.topic(name, partitions)


def partitions_of(wire: list[dict[str, Any]]) -> set[tuple[str, int]]:
    return {(topic["topicId"], index) for topic in wire for index in topic["partitions"]}


def check_state(group: dict[str, Any], recorded: bool = False) -> None:
    """R7 (coordinator's view), E4 (order), R4 (timer armed exactly while revoking), E5.

    `recorded` is the dialect's RevocationRecorded: a member that is away keeps its previous epoch.
    """
    instances = [entry["instanceId"] for entry in group["members"] if entry["instanceId"] is not None]
    assert len(instances) == len(set(instances))
    held = [
        partition
        for entry in group["members"]
        for partition in partitions_of(entry["assigned"]) | partitions_of(entry["pendingRevocation"])
    ]
    assert len(held) == len(set(held))
    assert group["assignmentEpoch"] <= group["groupEpoch"]
    armed = {(timer["timer"], timer["member"]) for timer in group["timers"]}
    for entry in group["members"]:
        if entry["memberEpoch"] == AWAY:
            assert entry["pendingRevocation"] == []
            assert recorded or entry["previousMemberEpoch"] == 0
            assert entry["instanceId"] is not None and not entry["acknowledged"]
        else:
            assert entry["previousMemberEpoch"] <= entry["memberEpoch"] <= group["assignmentEpoch"]
        assert ("session", entry["memberId"]) in armed
        assert (("rebalance", entry["memberId"]) in armed) == bool(entry["pendingRevocation"])
    assert (("group", "") in armed) == (group["state"] == "Empty")


def check_step(
    step: tuple[Any, ...], before: dict[str, Any], after: dict[str, Any], content: list[str] | None = None
) -> None:
    """E4: no epoch of the group decreases; E1: one step bumps once; R5: no step gives and takes, unless the
    member reports in it that it has already given up the taken partitions: `content` has its owned ones.

    S1: a member that is away comes back by a join, or not at all.
    """
    if "Dead" not in (before["state"], after["state"]):
        assert before["groupEpoch"] <= after["groupEpoch"] <= before["groupEpoch"] + 1
        assert before["assignmentEpoch"] <= after["assignmentEpoch"]
    known = {entry["memberId"]: entry for entry in before["members"]}
    for entry in after["members"]:
        old = known.get(entry["memberId"])
        if old is not None and step[:2] != ("join", entry["memberId"]):
            first, second = partitions_of(old["assigned"]), partitions_of(entry["assigned"])
            own_step = step[1] == entry["memberId"] and content is not None
            given_up = own_step and not (first - second) & partitions_of(topic_partitions(content or ()))
            assert first <= second or second <= first or given_up
            assert old["memberEpoch"] <= entry["memberEpoch"] or entry["memberEpoch"] == AWAY
            assert old["memberEpoch"] != AWAY or entry["memberEpoch"] == AWAY


def let_expire(g: GroupDriver, silent: set[str]) -> None:
    """End the sessions of silent members and of those that are away."""
    for name, entry in g.members().items():
        if name in silent or entry["memberEpoch"] == AWAY:
            g.coordinator.fire("session", "g", name)


def check_load(g: GroupDriver) -> None:
    """P2: records and volatile state are the whole state, and so is their wire form."""
    other = Coordinator(dialect=g.coordinator.dialect)
    other.load(g.coordinator.records(), [], g.coordinator.volatile())
    assert other.describe("g") == g.group()
    assert other._groups == g.coordinator._groups, "their indexes too"
    assert other.records() == g.coordinator.records()


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schedule=st.lists(steps, max_size=30))
@example(
    schedule=[("join", "m1", ["foo"], None, None), ("topic", "bar", 1), ("heartbeat", "m1", 0, [], ["bar"])]
)
@example(
    schedule=[
        ("join", "m1", ["foo"], None, None),
        ("topic", "bar", 1),
        ("heartbeat", "m1", 0, ["bar-0"], ["bar"]),
    ]
)
def test_invariants_hold_on_every_schedule(dialect: str, schedule: list[tuple[Any, ...]]) -> None:
    g = GroupDriver(dialect, topics={"foo": 2})
    before = g.group()
    for step in schedule:
        take(g, step)
        after = g.group()
        check_state(after, DIALECTS[dialect].RevocationRecorded)
        if step[0] != "advance":
            request = DIALECTS[dialect].RevocationAsked == "always"
            says = not request and step[0] == "heartbeat" and isinstance(step[3], list)
            check_step(step, before, after, step[3] if says else None)
        before = after
    check_load(g)


@settings(max_examples=60, deadline=None)
@given(schedule=st.lists(steps, max_size=25), silent=st.sets(member))
def test_group_converges_once_the_changes_stop(schedule: list[tuple[Any, ...]], silent: set[str]) -> None:
    """R8: heartbeats get through, members report their assignments; silent ones expire."""
    g = GroupDriver(topics={"foo": 2})
    for step in schedule:
        take(g, step)
    let_expire(g, silent)
    for _ in range(4):
        for name in g.members():
            g.heartbeat(name, owned=g.assigned(name))
    group = g.group()
    assert group["state"] in ("Dead", "Empty", "Stable")
    assert all(entry["acknowledged"] for entry in group["members"])


@settings(max_examples=60, deadline=None)
@given(schedule=st.lists(steps, max_size=25), lost=st.integers(0, 40))
def test_restart_at_any_point_is_safe_and_converges(schedule: list[tuple[Any, ...]], lost: int) -> None:
    """P2, P3: after the loss of any tail of the log the invariants hold and the members come to rest."""
    g = GroupDriver(topics={"foo": 2})
    for step in schedule:
        take(g, step)
    g.coordinator.restart(max(g.coordinator.end - lost, 0))
    check_state(g.group())
    let_expire(g, set())
    for _ in range(4):
        for name in g.members():
            g.heartbeat(name, owned=g.assigned(name))
    assert g.group()["state"] in ("Dead", "Empty", "Stable")
