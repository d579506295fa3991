"""A live broker as a target: Kafka 4.2.1, over the wire."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from broker_bodies import BAR, CLIENT, FOO, START, commit, fetch, heartbeat, join, owned, send, topic

from harness import api
from harness.cli.validate import command as validate
from harness.replay.files import replay_files
from harness.targets import open_target
from harness.targets.base import Json, Refused
from harness.targets.broker import admin
from harness.targets.broker.connection import Connection
from harness.targets.broker.local import HOST, LocalBroker
from harness.targets.broker.target import BrokerTarget

pytestmark = pytest.mark.maven
STOPPABLE = """
import signal
from harness.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever starts this may ignore it
main()
"""
GOLDEN = Path(__file__).parents[2] / "traces" / "golden"
DIALECT = Path(__file__).parents[2] / "traces" / "dialects" / "kafka-4.2"


def delete_topic(broker: Connection, name: str) -> None:
    """Delete a topic, and wait: a broker lists it for a moment longer, which the next test must not see."""
    admin.delete_topic(broker, name)
    admin.wait_until(lambda: name not in admin.topics(broker), broker.address, 30.0, f"forget topic {name}")


def test_two_members_join_revoke_and_converge(target: BrokerTarget) -> None:
    """Responses and descriptions in normal form: KIP-848's case study, as Kafka 4.2 plays it (R1, R2, R3)."""
    target.load([], [topic("foo", FOO, 3)], START)
    assert target.describe("g") == {
        "groupId": "g",
        "state": "Dead",
        "groupEpoch": 0,
        "assignmentEpoch": 0,
        "members": [],
    }
    assert send(target, join("A")) == {
        "throttleTimeMs": 0,
        "errorCode": 0,
        "errorMessage": None,
        "memberId": "A",
        "memberEpoch": 1,
        "heartbeatIntervalMs": 5000,
        "assignment": {"assignedTopicPartitions": owned(0, 1, 2)},
    }
    assert send(target, join("B"))["assignment"] == {"assignedTopicPartitions": []}
    assert _state(target) == ("Reconciling", {"A": (1, owned(0, 1, 2)), "B": (2, [])})
    answer = send(target, heartbeat("A", 1, owned(0, 1, 2)))
    assert (answer["memberEpoch"], answer["assignment"]) == (1, {"assignedTopicPartitions": owned(0, 1)})
    assert send(target, heartbeat("A", 1, owned(0, 1)))["memberEpoch"] == 2
    given = send(target, heartbeat("B", 2, []))
    assert given["assignment"] == {"assignedTopicPartitions": owned(2)}
    assert _state(target) == ("Stable", {"A": (2, owned(0, 1)), "B": (2, owned(2))})


def _state(target: BrokerTarget) -> tuple[str, dict[str, tuple[int, object]]]:
    group = target.describe("g")
    members = {member["memberId"]: (member["memberEpoch"], member["assigned"]) for member in group["members"]}
    return group["state"], members


def test_a_description(target: BrokerTarget) -> None:
    target.load([], [topic("foo", FOO, 1)], START)
    body = join("A", instanceId="i", rackId="r")
    answer = target.request("ConsumerGroupHeartbeat", 0, CLIENT, body, "g")
    assert answer.group == {
        "groupId": "g",
        "state": "Stable",
        "groupEpoch": 1,
        "assignmentEpoch": 1,
        "members": [
            {
                "memberId": "A",
                "memberEpoch": 1,
                "instanceId": "i",
                "rackId": "r",
                "clientId": "client-A",
                "subscribedTopicNames": ["foo"],
                "subscribedTopicRegex": None,
                "assigned": owned(0),
                "target": owned(0),
            }
        ],
    }
    assert not {
        field for field in answer.group["members"][0] if f"members.{field}" in target.hello().unobserved
    }


def test_an_expression_sees_topics_of_this_run_only(kafka: LocalBroker, target: BrokerTarget) -> None:
    broker = Connection(HOST, kafka.port)
    admin.create_topic(broker, "of-somebody-else", 1)
    target.load([], [topic("foo", FOO, 1), topic("bar", BAR, 1)], START)
    send(target, join("A", [], subscribedTopicRegex=".*"))
    assert target.describe("g")["members"][0]["subscribedTopicRegex"] == ".*"
    # Kafka resolves expressions in the background: the epoch moves when it has.
    admin.wait_until(lambda: target.describe("g")["groupEpoch"] > 1, broker.address, 30.0, "resolve")
    send(target, heartbeat("A", target.describe("g")["members"][0]["memberEpoch"]))
    [member] = target.describe("g")["members"]
    assert member["target"] == [*owned(0), *owned(0, topic_id=BAR)]
    delete_topic(broker, "of-somebody-else")
    broker.close()


def test_errors_are_responses(target: BrokerTarget) -> None:
    target.load([], [topic("foo", FOO, 1)], START)
    assert send(target, heartbeat("A", 1))["errorCode"] == 69  # GROUP_ID_NOT_FOUND
    send(target, join("A"))
    assert send(target, heartbeat("A", 7, []))["errorCode"] == 110  # FENCED_MEMBER_EPOCH
    assert send(target, heartbeat("B", 1, []))["errorCode"] == 25  # UNKNOWN_MEMBER_ID
    invalid = send(target, {**join("B"), "groupId": ""})
    assert invalid["errorCode"] == 42  # INVALID_REQUEST
    assert (invalid["memberId"], invalid["assignment"]) == (None, None)


def test_topics_change_under_a_group(target: BrokerTarget) -> None:
    """E1, T2: a change that the coordinator has not noticed when `topics` returns would be noticed too
    late."""
    target.load([], [topic("foo", FOO, 1)], START)
    send(target, join("A"))
    target.topics([topic("foo", FOO, 2)], [])
    grown = send(target, heartbeat("A", 1, owned(0)))
    assert (grown["memberEpoch"], grown["assignment"]) == (2, {"assignedTopicPartitions": owned(0, 1)})
    target.topics([topic("foo", BAR, 1)], [])
    answer = send(target, heartbeat("A", 2, owned(0, 1)))
    assert answer["assignment"] == {"assignedTopicPartitions": []}
    again = send(target, heartbeat("A", answer["memberEpoch"], []))
    assert again["assignment"] == {"assignedTopicPartitions": owned(0, topic_id=BAR)}


def test_offsets(target: BrokerTarget) -> None:
    """O1, O2, O4: by topic id, fenced, and of a topic that is no more."""
    target.load([], [topic("foo", FOO, 1)], START)
    send(target, join("A"))

    def of(api: str, body: Json) -> Json:
        """The partition of the answer, with its topic's id; or the group's error."""
        answer = target.request(api, 9, CLIENT, body).body or {}
        [group] = [answer] if api == "OffsetCommit" else answer["groups"]
        if not group["topics"]:
            return {"errorCode": group["errorCode"]}
        [one] = group["topics"]
        [partition] = one["partitions"]
        return {**partition, "topicId": one["topicId"]}

    done = {"partitionIndex": 0, "errorCode": 0, "topicId": FOO}
    committed = {**done, "committedOffset": 5, "committedLeaderEpoch": -1, "metadata": ""}
    assert of("OffsetCommit", commit("A", 1, FOO, 5)) == done
    assert of("OffsetCommit", commit("A", 0, FOO, 6)) == {**done, "errorCode": 113}  # STALE_MEMBER_EPOCH
    assert of("OffsetCommit", commit("A", 1, BAR, 7)) == {**done, "topicId": BAR, "errorCode": 100}
    assert of("OffsetFetch", fetch("A", 1, FOO)) == committed
    assert of("OffsetFetch", fetch("", -1, FOO)) == committed
    assert of("OffsetFetch", fetch("A", 0, FOO)) == {"errorCode": 113}
    target.topics([], ["foo"])
    assert of("OffsetFetch", fetch("A", 1, FOO))["errorCode"] == 100  # UNKNOWN_TOPIC_ID


def test_each_load_is_a_new_group(target: BrokerTarget) -> None:
    for _ in range(2):
        target.load([], [topic("foo", FOO, 2)], START)
        assert send(target, join("A"))["memberEpoch"] == 1
        target.request("OffsetCommit", 9, CLIENT, commit("A", 1, FOO, 5))
    target.load([], [topic("foo", BAR, 2)], START)
    fetched = target.request("OffsetFetch", 9, CLIENT, fetch("", -1, BAR)).body
    assert fetched is not None
    assert fetched["groups"][0]["topics"][0]["partitions"][0]["committedOffset"] == -1
    assert send(target, join("A"))["assignment"] == {"assignedTopicPartitions": owned(0, 1, topic_id=BAR)}


def test_an_operation_that_a_broker_lacks_is_refused(target: BrokerTarget) -> None:
    controls = target.hello().controls
    assert controls == {"topics", "describe", "fresh"}
    operations: dict[str, Callable[[], object]] = {
        "load": lambda: target.load([{"key": {}, "value": {}}], [], START),
        "advance": lambda: target.advance(1),
        "fire": lambda: target.fire("session", "g", "A"),
        "assign": lambda: target.assign("g", {}),
        "records": lambda: target.records(0),
        "restart": lambda: target.restart(),
        "ids": lambda: target.ids(["A"]),
        "configure": lambda: target.configure({}),
        "commit": lambda: target.commit("auto"),
        "background": lambda: target.background(),
        "request ShareGroupHeartbeat": lambda: target.request("ShareGroupHeartbeat", 9, CLIENT, {}),
        "request ConsumerGroupHeartbeat": lambda: send(target, {"memberepoch": 1}),
    }
    for name, operation in operations.items():
        with pytest.raises(Refused) as refusal:
            operation()
        assert refusal.value.operation == name


def test_nothing_of_the_users_is_touched_and_nothing_is_left(kafka: LocalBroker) -> None:
    """A user's topics and groups, with the names that traces use, are as before, and there are no others."""
    broker = Connection(HOST, kafka.port)
    theirs = admin.create_topic(broker, "foo", 2)
    admin.wait_for_topics(broker, {"foo": 2}, [], 30.0)
    host, port = admin.wait_for_coordinator(broker, "g", 30.0)
    coordinator = Connection(host, port)
    admin.wait_for_group(coordinator, "g", 30.0)
    user = {key: value for key, value in join("A").items() if key != "subscribedTopicRegex"}
    admin.wait_until(
        lambda: admin.assigned_alone(coordinator, "h", ["foo"]) == {theirs: 2}, broker.address, 30.0, "notice"
    )
    coordinator.call("ConsumerGroupHeartbeat", 0, user)

    def seen() -> tuple[dict[str, int], set[str], Json]:
        return admin.topics(broker), admin.groups(broker), admin.describe_group(coordinator, "g")

    before = seen()
    assert [member["memberId"] for member in before[2]["members"]] == ["A"]
    replayed = replay_files([GOLDEN / "basic.itf.json"], f"broker:{HOST}:{kafka.port}", "kafka-4.2", 100)
    assert replayed.judged > 1
    target = open_target(f"broker:{HOST}:{kafka.port}")
    target.load([], [topic("foo", FOO, 2), topic("bar", BAR, 1)], START)
    send(target, join("A", instanceId="i"))
    send(target, join("B", ["foo", "bar"]))
    topics, groups, _ = seen()
    assert topics != before[0]
    assert groups != before[1]
    target.close()
    assert seen() == before
    admin.delete_group(coordinator, "g")
    delete_topic(broker, "foo")
    coordinator.close()
    broker.close()


@pytest.mark.parametrize("answer", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_nothing(kafka: LocalBroker, answer: signal.Signals) -> None:
    broker = Connection(HOST, kafka.port)
    admin.wait_for_coordinator(broker, "g", 30.0)  # from then on there is a topic with its log
    before = admin.topics(broker), admin.groups(broker)
    words = ["replay", str(GOLDEN), "--target", f"broker:{HOST}:{kafka.port}", "--dialect", "kafka-4.2"]
    with subprocess.Popen([sys.executable, "-c", STOPPABLE, *words]) as run:
        admin.wait_until(lambda: admin.groups(broker) > before[1], broker.address, 60.0, "show a new group")
        run.send_signal(answer)
    assert run.returncode == 128 + answer
    assert (admin.topics(broker), admin.groups(broker)) == before
    broker.close()


def test_timers_of_a_live_broker_are_waited_for(kafka: LocalBroker) -> None:
    """Sessions, of a static member that is away, too, and a rebalance time-out that no heartbeat renews."""
    files = [
        *sorted((DIALECT / "wire").glob("*.itf.json")),
        DIALECT / "MCKafka42Static-goal-0013-session-of-one-that-is-away-runs-out.itf.json",
        DIALECT / "MCKafka42Tour-goal-0016-sessiontimeout.itf.json",
    ]
    replayed = api.replay(files, f"broker:{HOST}:{kafka.port}", dialect="kafka-4.2", wait=40).result
    assert replayed.waited is not None
    assert (replayed.differences, replayed.waited.timers, replayed.waited.note) == (0, 3, "")


def test_a_recorded_run_is_a_behaviour(kafka: LocalBroker, tmp_path: Path) -> None:
    """The recorder stands before any target; time-outs of a broker are in no log (H8), and a broker describes
    no partitions of deleted topics (T2)."""
    log, result = tmp_path / "log", tmp_path / "result.json"
    target = f"broker:{HOST}:{kafka.port}"
    replay_files(sorted(GOLDEN.rglob("*.itf.json")), target, "kafka-4.2", record=log)
    assert '"delete":["foo"]' in log.read_text()
    validate(log, json_file=result)
    assert json.loads(result.read_text())["steps"] > 15
