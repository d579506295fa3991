"""The JSON that a target must show of each kind of group, written by hand.

Rows that read and show by one table could hide a wrong name in it.
"""

from __future__ import annotations

from frozendict import frozendict

from harness.kinds.classic import expect as classic
from harness.kinds.classic.state import ClassicGroup, ClassicMember
from harness.kinds.connect import expect as connect
from harness.kinds.connect.state import CallMade, ConnectState, Prepared, Work
from harness.kinds.consumer import expect as consumer
from harness.kinds.consumer.state import Group, Member, Request, Response, SpecState, SpecStep
from harness.replay import wire

FOO, BAR = wire.topic_id("foo"), wire.topic_id("bar")
FOO_1 = frozenset({("foo", 1)})
MEMBER = Member(
    epoch=5,
    previous_epoch=4,
    instance="i",
    subscription=frozenset({"foo", "bar"}),
    regex="",
    assignor="uniform",
    assigned=frozenset({("foo", 0), ("bar", 2)}),
    revoking=FOO_1,
    acknowledged=False,
)
GROUP = Group(epoch=6, assignment_epoch=5, targets={"m": FOO_1}, metadata={"foo": 2}, members={"m": MEMBER})


def test_a_consumer_group() -> None:
    assigned = sorted(
        [{"topicId": FOO, "partitions": [0]}, {"topicId": BAR, "partitions": [2]}],
        key=lambda one: str(one["topicId"]),
    )
    assert consumer.description(GROUP) == {
        "groupId": wire.GROUP,
        "state": "Assigning",
        "groupEpoch": 6,
        "assignmentEpoch": 5,
        "metadata": [{"topicId": FOO, "topicName": "foo", "numPartitions": 2}],
        "members": [
            {
                "memberId": "m",
                "memberEpoch": 5,
                "previousMemberEpoch": 4,
                "state": "UNREVOKED_PARTITIONS",
                "assigned": assigned,
                "pendingRevocation": [{"topicId": FOO, "partitions": [1]}],
                "target": [{"topicId": FOO, "partitions": [1]}],
                "targetError": 0,
                "acknowledged": False,
                "instanceId": "i",
                "subscribedTopicNames": ["bar", "foo"],
                "subscribedTopicRegex": None,
                "serverAssignor": "uniform",
                "rebalanceTimeoutMs": 300_000,
                "rackId": None,
                "clientId": "client-m",
                "clientHost": "/127.0.0.1",
            }
        ],
    }


def test_a_classic_group() -> None:
    member = ClassicMember(
        instance="",
        protocols=("range", "sticky"),
        subscription=frozenset({"foo"}),
        assignment=frozenset({("foo", 0)}),
        fresh=True,
        joining=True,
        syncing=False,
        owes_sync=False,
    )
    group = ClassicGroup(
        state="PreparingRebalance",
        generation=3,
        type="consumer",
        protocol="",
        leader="m",
        initial=True,
        new_member=False,
        extensions=1,
        members={"m": member},
        pending=frozenset({"p"}),
        saved=None,
    )
    sentence = "AAAAAAABAANmb2//////"  # version 0, one topic: foo; no user data
    assert classic.description(group, 150) == {
        "groupId": wire.GROUP,
        "type": "classic",
        "state": "PreparingRebalance",
        "generation": 3,
        "protocolType": "consumer",
        "protocol": None,
        "leader": "m",
        "delayRemainingMs": 150,
        "newMember": False,
        "pending": ["p"],
        "members": [
            {
                "memberId": "m",
                "instanceId": None,
                "protocols": [{"name": name, "metadata": sentence} for name in ("range", "sticky")],
                "assignment": "AAMAAAABAANmb28AAAABAAAAAP////8=",
                "isNew": True,
                "awaitingJoin": "JoinGroup client-m",
                "awaitingSync": None,
                "owesSync": False,
                "sessionTimeoutMs": 45_000,
                "rebalanceTimeoutMs": 300_000,
                "clientId": "client-m",
                "clientHost": "/127.0.0.1",
            }
        ],
    }


def test_a_connect_group() -> None:
    worker = Member(
        epoch=5,
        previous_epoch=4,
        instance="",
        subscription=frozenset(),
        regex="",
        assignor="",
        assigned=frozenset({("A", 0), ("A", 1)}),
        revoking=frozenset({("B", 2)}),
        acknowledged=True,
    )
    group = Group(
        epoch=5,
        assignment_epoch=5,
        targets={"w1": frozenset({("A", 0)})},
        metadata={"A": 2},
        members={"w1": worker},
    )
    prepared = Prepared(epoch=5, workers=frozenset({"w2", "w1"}), metadata={"A": 2})
    work = Work("w1", prepared, frozenset({"w1"}), {"w2": frozenset({("B", 2)})}, {"w1": 1})
    request, response = Request("", 0, None, None, None, None, None), Response("", "", 0, None, None)
    step = SpecStep("Init", "", "", request, response, "", 0, None, 0)
    shared = SpecState(group, {"A": 2}, step, (0, 0, 0), {})
    call = CallMade(None, False, 0, frozenset(), {}, frozenset())
    assert connect.description(ConnectState(shared, work, call, (0, 0, 0), frozendict())) == {
        "groupId": wire.GROUP,
        "type": "connect",
        "state": "Reconciling",
        "groupEpoch": 5,
        "assignmentEpoch": 5,
        "connectors": [{"connectorId": "A", "numTasks": 1}],
        "members": [
            {
                "memberId": "w1",
                "memberEpoch": 5,
                "previousMemberEpoch": 4,
                "assigned": [{"connectors": ["A"], "tasks": [{"connectorId": "A", "taskId": 1}]}],
                "pendingRevocation": [{"connectors": [], "tasks": [{"connectorId": "B", "taskId": 2}]}],
                "target": [{"connectors": ["A"], "tasks": []}],
                "targetError": 0,
                "acknowledged": True,
                "assignors": [
                    {
                        "name": "compatible",
                        "minimumVersion": 0,
                        "maximumVersion": 2,
                        "version": 0,
                        "reason": 1,
                        "metadata": "",
                    }
                ],
                "rebalanceTimeoutMs": 300_000,
                "clientId": "client-w1",
                "clientHost": "/127.0.0.1",
            }
        ],
        "lost": [
            {
                "memberId": "w2",
                "connectorsAndTasks": [{"connectors": [], "tasks": [{"connectorId": "B", "taskId": 2}]}],
            }
        ],
        "chosen": "w1",
        "prepared": {
            "groupEpoch": 5,
            "members": ["w1", "w2"],
            "connectors": [{"connectorId": "A", "numTasks": 1}],
        },
    }
