"""The line protocol: every operation, its observations, and its refusals."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from group_driver import API, IDS
from line_requests import FOO, Json, join

from coordinator import Config, Coordinator, ErrorCode
from coordinator.stdio import LineProtocol

BOTH = [{"topicId": IDS["foo"], "partitions": [0, 1]}]


class Session:
    """A line protocol of its own; `ok` decodes an answer and fails on ok false."""

    def __init__(self) -> None:
        self.protocol = LineProtocol(Coordinator())

    def answer(self, operation: object) -> Json:
        answer: Json = json.loads(self.protocol.handle(json.dumps(operation)))
        return answer

    def ok(self, operation: str, **fields: Any) -> Json:
        answer = self.answer({"op": operation, **fields})
        assert answer.pop("ok") is True, answer
        return answer

    def refused(self, operation: object) -> str:
        before = [self.answer({"op": "describe", "group": "g"}), self.answer({"op": "records", "since": 0})]
        answer = self.answer(operation)
        assert set(answer) == {"ok", "error"} and answer["ok"] is False, answer
        assert before == [
            self.answer({"op": "describe", "group": "g"}),
            self.answer({"op": "records", "since": 0}),
        ]
        sentence: str = answer["error"]
        return sentence


@pytest.fixture
def joined() -> Session:
    session = Session()
    session.ok("topics", upsert=[FOO])
    assert session.answer(join())["body"]["memberEpoch"] == 1
    return session


def test_hello_names_dialect_apis_and_every_operation() -> None:
    hello = Session().ok("hello")
    assert (hello["dialect"], hello["apis"][API]) == ("kip-848", [0, 0])
    assert hello["apis"]["ConsumerGroupDescribe"] == [0, 0]
    assert sorted(hello["controls"]) == [
        "advance", "assign", "background", "commit", "configure", "coordinator", "describe", "fire", "ids",
        "load", "metrics", "records", "restart", "rights", "topics",
    ]  # fmt: skip


def test_request_echoes_its_id() -> None:
    session = Session()
    answer = session.answer(join(id=7))
    assert (answer["id"], answer["body"]["memberId"]) == (7, "m1")
    assert "id" not in session.answer(join())


def test_topics_upsert_and_delete(joined: Session) -> None:
    bar = {"name": "bar", "id": IDS["bar"], "partitions": 1}
    assert joined.ok("topics", upsert=[bar], delete=["foo"]) == {}
    group = joined.ok("describe", group="g")["group"]
    assert (group["groupEpoch"], group["metadata"]) == (2, [])


def test_describe_shows_members_timers_and_metadata(joined: Session) -> None:
    group = joined.ok("describe", group="g")["group"]
    assert group == {
        "groupId": "g",
        "state": "Stable",
        "groupEpoch": 1,
        "assignmentEpoch": 1,
        "metadata": [{"topicId": IDS["foo"], "topicName": "foo", "numPartitions": 2}],
        "members": [
            {
                "memberId": "m1",
                "instanceId": None,
                "memberEpoch": 1,
                "previousMemberEpoch": 0,
                "state": "STABLE",
                "assigned": BOTH,
                "pendingRevocation": [],
                "target": BOTH,
                "targetError": 0,
                "acknowledged": False,
                "subscribedTopicNames": ["foo"],
                "subscribedTopicRegex": None,
                "serverAssignor": None,
                "rebalanceTimeoutMs": 5000,
                "rackId": None,
                "clientId": "client",
                "clientHost": "/127.0.0.1",
            }
        ],
        "timers": [{"timer": "session", "group": "g", "member": "m1", "deadlineMs": 45000}],
    }
    assert joined.ok("describe", group="other")["group"]["state"] == "Dead"


def test_advance_fires_what_is_due(joined: Session) -> None:
    assert joined.ok("advance", ms=44_999) == {"fired": [], "completed": []}
    fired = [{"timer": "session", "group": "g", "member": "m1"}]
    assert joined.ok("advance", ms=1) == {"fired": fired, "completed": []}


def test_fire_takes_every_timer_that_describe_lists(joined: Session) -> None:
    for state in ("Empty", "Dead"):
        (timer,) = joined.ok("describe", group="g")["group"]["timers"]
        del timer["deadlineMs"]
        assert joined.ok("fire", **timer)["fired"] == [timer]
        assert joined.ok("describe", group="g")["group"]["state"] == state


def test_assign_scripts_the_next_target_and_the_step_says_that_it_used_it(joined: Session) -> None:
    assert joined.ok("assign", group="g", target={"m1": [], "m2": BOTH}) == {}
    assert "consumed" not in joined.ok("advance", ms=1)
    answer = joined.answer(join("m2"))
    assert answer["consumed"] is True
    assert answer["body"]["assignment"]["pendingTopicPartitions"] == BOTH
    assert "consumed" not in joined.answer(join("m3"))


@pytest.mark.parametrize("form", [{"error": "no"}, {"target": {"error": "no"}}])
def test_assign_scripts_an_assignor_that_fails(joined: Session, form: Json) -> None:
    joined.ok("assign", group="g", **form)
    answer = joined.answer(join("m2"))
    assert (answer["consumed"], answer["body"]["assignment"]["error"]) == (True, 1)


def test_records_since_an_offset(joined: Session) -> None:
    answer = joined.ok("records", since=5)
    assert (answer["end"], [record["offset"] for record in answer["records"]]) == (6, [5])
    assert len(joined.ok("records")["records"]) == 6


def test_load_replaces_the_state(joined: Session) -> None:
    records = joined.ok("records")["records"]
    other = Session()
    members = {"m1": {"acknowledged": True, "previousMemberEpoch": 0, "sessionDeadlineMs": 100}}
    volatile = {"clockMs": 90, "groups": {"g": {"members": members}}}
    assert other.ok("load", records=records, topics=[FOO], volatile=volatile) == {"end": 6}
    member = other.ok("describe", group="g")["group"]["members"][0]
    assert (member["acknowledged"], member["assigned"]) == (True, BOTH)
    assert other.ok("advance", ms=10)["fired"][0]["member"] == "m1"
    other.ok("load", records=records, topics=[FOO])
    assert other.ok("describe", group="g")["group"]["members"][0]["acknowledged"] is False


def test_restart_from_all_records_or_some(joined: Session) -> None:
    before = joined.ok("describe", group="g")
    assert joined.ok("restart") == {"end": 6}
    assert joined.ok("describe", group="g") == before
    assert joined.ok("restart", keep=5) == {"end": 0}
    assert joined.ok("describe", group="g")["group"]["state"] == "Dead"


def test_commit_fails_on_demand(joined: Session) -> None:
    joined.ok("commit", mode="fail")
    assert joined.answer(join("m2"))["body"]["errorCode"] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert "took no records" in joined.refused({"op": "topics", "delete": ["foo"]})
    answer = joined.answer({"op": "fire", "timer": "session", "group": "g", "member": "m1"})
    assert (answer["ok"], "took no records" in answer["error"]) == (False, True)
    joined.ok("commit", mode="auto")
    assert joined.answer(join("m2"))["body"]["memberEpoch"] == 2


def test_requests_wait_for_a_manual_commit_in_order(joined: Session) -> None:
    """P3: nothing is visible and nothing is answered before it is durable."""
    joined.ok("commit", mode="manual")
    before = joined.ok("describe", group="g")
    assert joined.answer(join("m2", id=1)) == {"ok": True, "id": 1, "pending": True}
    assert joined.answer(join("m3", id=2)) == {"ok": True, "id": 2, "pending": True}
    assert joined.ok("describe", group="g") == before
    completed = joined.ok("commit", mode="manual")["completed"]
    assert [(entry["id"], entry["body"]["memberEpoch"]) for entry in completed] == [(1, 2), (2, 3)]
    assert joined.answer(join("m4", id=3))["pending"] is True
    (failed,) = joined.ok("commit", mode="fail")["completed"]
    assert failed["body"]["errorCode"] == ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert len(joined.ok("describe", group="g")["group"]["members"]) == 3


def test_restart_loses_requests_that_wait(joined: Session) -> None:
    joined.ok("commit", mode="manual")
    joined.answer(join("m2", id=1))
    joined.ok("restart")
    assert joined.ok("commit", mode="auto") == {"completed": []}


def test_background_has_nothing_to_run() -> None:
    assert Session().ok("background") == {"completed": []}


def test_ids_are_used_in_order() -> None:
    session = Session()
    session.ok("ids", next=["a", "b"])
    drawn = [session.answer(join(""))["body"]["memberId"] for _ in range(3)]
    assert drawn == ["a", "b", "00000000-0000-4000-8000-000000000001"]


def test_load_empties_the_queue_of_ids() -> None:
    session = Session()
    session.ok("ids", next=["a", "b"])
    assert session.answer(join(""))["body"]["memberId"] == "a"
    session.ok("load", records=[], topics=[])
    session.ok("ids", next=["c"])
    assert session.answer(join(""))["body"]["memberId"] == "c", "b was of the state before"


def test_configure_before_the_first_request() -> None:
    session = Session()
    settings = {
        "group.consumer.session.timeout.ms": 100,
        "group.consumer.min.session.timeout.ms": 100,
        "group.consumer.heartbeat.interval.ms": 10,
        "group.consumer.min.heartbeat.interval.ms": 1,
        "group.consumer.assignors": ["range"],
    }
    session.ok("configure", **settings)
    assert session.answer(join())["body"]["heartbeatIntervalMs"] == 10
    assert session.ok("advance", ms=100)["fired"] != []
    unsupported = join()
    unsupported["body"]["serverAssignor"] = "uniform"
    assert session.answer(unsupported)["body"]["errorCode"] == ErrorCode.UNSUPPORTED_ASSIGNOR
    assert "before the first request" in session.refused({"op": "configure", **settings})


def test_configure_takes_the_class_names_of_the_kip() -> None:
    """D3: group.consumer.assignors is "a list of full class names", the first one the default."""
    session = Session()
    kip = "org.apache.kafka.server.group.consumer."
    session.ok("configure", **{"group.consumer.assignors": [f"{kip}RangeAssignor", f"{kip}UniformAssignor"]})
    described = {"api": "DescribeConfigs", "version": 4, "client": {}}
    resource = {"resourceType": 4, "resourceName": "", "configurationKeys": ["group.consumer.assignors"]}
    answer = session.ok("request", **described, body={"resources": [resource]})
    assert answer["body"]["results"][0]["configs"][0]["value"] == "range,uniform"


def test_any_operation_can_be_observed(joined: Session) -> None:
    answer = joined.answer(join("m2", observe="g"))
    assert [member["memberId"] for member in answer["group"]["members"]] == ["m1", "m2"]
    assert [record["offset"] for record in answer["records"]] == list(range(6, 12))
    for operation in (
        {"op": "hello"},
        {"op": "topics", "delete": ["foo"]},
        {"op": "describe", "group": "g"},
        {"op": "fire", "timer": "session", "group": "g", "member": "m2"},
        {"op": "assign", "group": "g", "target": {}},
        {"op": "records", "since": 3},
        {"op": "commit", "mode": "auto"},
        {"op": "coordinator", "state": "active"},
        {"op": "background"},
        {"op": "ids", "next": []},
        {"op": "restart"},
        {"op": "advance", "ms": 45_000},
    ):
        answer = joined.answer({**operation, "observe": "g"})
        assert answer["ok"] is True, answer
        assert answer["group"] == joined.ok("describe", group="g")["group"]
        end = joined.ok("records")["end"]
        assert [record["offset"] for record in answer["records"]] == list(
            range(end - len(answer["records"]), end)
        )
    assert joined.answer({"op": "load", "records": [], "observe": "g"})["group"]["state"] == "Dead"
    answer = Session().answer({"op": "configure", "group.empty.retention.ms": 9, "observe": "g"})
    assert (answer["ok"], answer["records"]) == (True, [])


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (1, "an operation must be an object, not 1"),
        ({}, "an operation needs the field 'op'"),
        ({"op": 1}, "'op' of an operation must be a string, not 1"),
        ({"op": "hallo"}, "there is no operation 'hallo'; there are hello, request"),
        ({"op": "describe"}, "the operation 'describe' needs the field 'group'"),
        ({"op": "describe", "group": "g", "grp": 1}, "has no field 'grp'"),
        ({"op": "describe", "group": "g", "observe": 1}, "'observe' of an operation must be a string"),
        ({"op": "request", "api": API, "version": 0}, "needs the field 'body'"),
        (join("m2", id=[1]), "'id' of the operation 'request' must be a whole number or a string"),
        (join("m2", version=1), "versions 0 to 0, not 1"),
        (join("m2", api="X"), "has no API 'X'"),
        (join("m2", client={"id": 1}), "'id' of client must be a string"),
        (join("m2", body={"groupId": "g", "memberEpoch": 0, "x": 1}), "has no field 'x'"),
        ({"op": "topics", "upsert": [{"name": "bar"}]}, "must be a UUID"),
        ({"op": "topics", "delete": "foo"}, "'delete' of the operation 'topics' must be a list"),
        ({"op": "advance"}, "needs the field 'ms'"),
        ({"op": "advance", "ms": -1}, "must be at least 0, not -1"),
        (
            {"op": "fire", "timer": "rebalance", "group": "g", "member": "m1"},
            "is not armed; armed: session m1",
        ),
        ({"op": "assign", "group": "g"}, "needs the field 'target'"),
        ({"op": "assign", "group": "g", "target": {}, "error": "x"}, "has both 'target' and 'error'"),
        ({"op": "assign", "group": "g", "error": 5}, "'error' of the operation 'assign' must be a string"),
        ({"op": "assign", "group": "g", "target": {"m1": 1}}, "must be a list of topic partitions"),
        ({"op": "records", "since": 99}, "from 0 to 6, not from 99"),
        ({"op": "load"}, "needs the field 'records'"),
        ({"op": "load", "records": [{}]}, "a record needs the field 'key'"),
        ({"op": "load", "records": [], "topics": [{"name": "x"}]}, "must be a UUID"),
        ({"op": "restart", "keep": 7}, "can keep 0 to 6 records"),
        ({"op": "commit", "mode": "later"}, "no commit mode 'later'; there are auto, manual, fail"),
        ({"op": "coordinator", "state": "x"}, "no coordinator state 'x'; there are active, loading, moved"),
        ({"op": "ids", "next": [1]}, "must be a list of strings"),
        ({"op": "ids", "next": ["a", ""]}, "'next' of the operation 'ids' has an empty id"),
        ({"op": "configure", "group.max": 1}, "before the first request"),
    ],
)
def test_bad_input_is_one_sentence_and_changes_nothing(
    joined: Session, operation: Any, sentence: str
) -> None:
    assert sentence in joined.refused(operation)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"group.max": 1}, "the configuration has no field 'group.max'"),
        ({"group.consumer.session.timeout.ms": 0}, "must be at least 1"),
        (
            {"group.consumer.session.timeout.ms": 44_999},
            "timeout.ms is 44999, but group.consumer.min.session.timeout.ms is 45000",
        ),
        ({"group.consumer.max.session.timeout.ms": 44_999}, "max.session.timeout.ms is 44999"),
        ({"group.consumer.heartbeat.interval.ms": 15_001}, "max.heartbeat.interval.ms is 15000"),
        ({"group.consumer.min.heartbeat.interval.ms": 5_001}, "min.heartbeat.interval.ms is 5001"),
        (
            {
                "group.consumer.max.heartbeat.interval.ms": 45_000,
                "group.consumer.heartbeat.interval.ms": 45_000,
            },
            "must be less than group.consumer.session.timeout.ms",
        ),
        (
            {"group.min.session.timeout.ms": 1_800_001},
            "timeout.ms is 1800001, but group.max.session.timeout.ms is 1800000",
        ),
        ({"group.coordinator.threads": 2}, "runs in one thread"),
        (
            {"group.consumer.session.timeout.ms": 1, "group.consumer.assignors": ["x"]},
            "some of uniform, range",
        ),
    ],
)
def test_wrong_configuration_changes_nothing(settings: Json, sentence: str) -> None:
    session = Session()
    assert sentence in session.refused({"op": "configure", **settings})
    session.answer(join())
    assert session.ok("advance", ms=Config().session_timeout_ms - 1)["fired"] == []


def test_bounds_of_classic_sessions_may_be_one_number() -> None:
    Session().ok("configure", **{"group.min.session.timeout.ms": 1_800_000})


@pytest.mark.parametrize("line", ["{", "nonsense", b"\xff\xfe{}", "[" * 100_000, '{"op":'])
def test_line_that_is_not_json(line: str | bytes) -> None:
    answer = json.loads(Session().protocol.handle(line))
    assert answer["ok"] is False
    assert answer["error"].startswith("the line is not JSON: ")


BODY: Json = {"groupId": "g", "memberEpoch": 0}


@pytest.mark.parametrize(
    "operation",
    [
        "deep",
        {"op": "deep"},
        {"op": "request", "id": "deep", "api": API, "version": 0, "body": BODY},
        {"op": "request", "id": 1, "api": API, "version": 0, "body": {**BODY, "groupId": "deep"}},
        {"op": "request", "id": 1, "api": API, "version": 0, "body": BODY, "client": {"id": "deep"}},
        {"op": "request", "id": 1, "api": "OffsetCommit", "version": 9, "body": {**BODY, "topics": "deep"}},
        {"op": "ids", "next": "deep"},
        {"op": "assign", "group": "g", "target": {"m1": "deep"}},
        {"op": "topics", "upsert": [{**FOO, "id": "deep"}]},
        {"op": "load", "records": ["deep"]},
        {"op": "load", "records": [], "volatile": {"groups": {"g": "deep"}}},
    ],
    ids=str,
)
def test_lists_that_are_nested_as_deeply_as_python_reads_are_refused(operation: object) -> None:
    """The message of such a refusal shows the value, which takes more levels than to read it."""
    session, text = Session(), json.dumps(operation)
    most = sys.getrecursionlimit()
    for depth in range(most - 200, most + 1):
        line = text.replace('"deep"', "[" * depth + "]" * depth)
        answer = json.loads(session.protocol.handle(line))
        assert (answer["ok"], type(answer["error"]), len(answer["error"]) < 300) == (False, str, True)


def test_pending_request_is_checked_at_once_and_needs_an_id(joined: Session) -> None:
    joined.ok("commit", mode="manual")
    assert "needs an 'id'" in joined.refused(join("m2"))
    assert "has no field 'x'" in joined.refused(join("m2", id=1, body={"x": 1}))
    assert joined.ok("commit", mode="auto") == {"completed": []}
