"""Input of a Connect group: requests, records and the state that no record holds (W4, P1, P2, D2)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from connect_driver import HEARTBEAT, IDS, INSTALL, OFFER, PREPARE, ConnectGroup, Json, resources

from coordinator import BadInput, Dialect
from coordinator.core.errors import ErrorCode

TOPICS = [{"name": "A", "id": IDS["A"], "partitions": 3}]
NOW_MS = 100_000


class Later:
    """Another machine's clock."""

    def now_ms(self) -> int:
        return NOW_MS


def at_work() -> ConnectGroup:
    """w1 revokes and has prepared, w3 is away with lost work: a group with every kind of state."""
    g = ConnectGroup()
    g.join("w1")
    g.join("w3")
    g.rebalance(w1="A A-1", w3="A-2")
    g.join("w1")
    g.join("w2", timeout_ms=30_000)
    g.beat("w3", -1)
    g.prepare("w1", 2)
    g.install("w1", 2, 4, w1="A", w2="A-1")
    g.coordinator.advance(1_000)
    g.beat("w1", 2, "A A-1")
    g.join("w2", timeout_ms=30_000, clientAssignors=[{**OFFER, "reason": 3}])
    g.prepare("w1", g.member("w1")["memberEpoch"])
    return g


def loaded(
    g: ConnectGroup, volatile: Json, records: list[Json] | None = None, **options: Any
) -> ConnectGroup:
    other = ConnectGroup(**options)
    other.coordinator.load(g.coordinator.records() if records is None else records, TOPICS, volatile)
    return other


def test_p2_a_coordinator_that_is_given_everything_has_the_same_group() -> None:
    g = at_work()
    state = g.group()
    assert state["lost"] and state["prepared"] and g.member("w1")["pendingRevocation"]
    assert {"session w1", "session w2", "rebalance w1", "assignment w1"} == g.timers().keys()
    other = loaded(g, g.coordinator.volatile())
    assert other.group() == state
    assert other.coordinator.records() == g.coordinator.records()
    assert other.coordinator.volatile() == g.coordinator.volatile()


def test_p2_deadlines_are_as_far_away_by_another_clock() -> None:
    g = at_work()
    other = loaded(g, g.coordinator.volatile(), clock=Later())
    assert other.timers() == g.timers()
    g.beat("w1", -1)
    g.beat("w2", -1)
    g.coordinator.advance(5_000)
    other = loaded(g, g.coordinator.volatile(), clock=Later())
    assert other.timers() == g.timers() and g.timers().keys() == {"group"}


def test_p2_without_a_clock_deadlines_count_from_0() -> None:
    """A state without deadlines has those that a new coordinator starts."""
    g = at_work()
    volatile = deepcopy(g.coordinator.volatile())
    del volatile["clockMs"]
    volatile["connect"]["g"]["assignmentDeadlineMs"] = None
    other = loaded(g, volatile, clock=Later())
    state = other.coordinator.volatile()["connect"]["g"]
    assert state["assignmentDeadlineMs"] == NOW_MS + 60_000
    w1 = volatile["connect"]["g"]["members"]["w1"]
    assert state["members"]["w1"] == {
        **w1,
        "sessionDeadlineMs": NOW_MS + w1["sessionDeadlineMs"],
        "rebalanceDeadlineMs": NOW_MS + w1["rebalanceDeadlineMs"],
    }


@pytest.mark.parametrize(
    ("volatile", "sentence"),
    [
        ({"connect": 1}, "'connect' of volatile must be an object"),
        ({"connect": {"g": 1}}, "'g' of volatile must be an object"),
        ({"connect": {"h": {}}}, "volatile names the Connect group 'h', which the records do not have"),
        ({"clockMs": "1"}, "'clockMs' of volatile"),
    ],
)
def test_p2_invalid_volatile_states(volatile: Json, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        loaded(at_work(), volatile)


def test_p2_timers_that_are_given_run_out() -> None:
    g = at_work()
    other = loaded(g, g.coordinator.volatile())
    fired = other.coordinator.advance(60_000)
    assert [one["timer"] for one in fired][:2] == ["session", "session"]


def test_p2_without_volatile_state_it_is_as_after_a_fail_over() -> None:
    g = at_work()
    other = loaded(g, {})
    g.coordinator.restart()
    assert other.group()["members"] == g.group()["members"]
    assert (other.timers(), other.group()["lost"]) == (g.timers(), g.group()["lost"])


@pytest.mark.parametrize("dialect", ["kip-848", "kafka-4.0", "kafka-4.3"])
def test_p2_a_restart_knows_what_the_records_say(dialect: str) -> None:
    """A program that ends has nothing but the records as JSON, which are the draft's in every dialect."""
    g = ConnectGroup(dialect=Dialect.named(dialect))
    g.join("w1")
    g.rebalance(w1="A A-1")
    g.beat("w1", 0, "")
    g.join("w2")
    g.rebalance(w1="A", w2="A-1")
    g.beat("w1", g.member("w1")["memberEpoch"], "A A-1")
    assert g.member("w1")["previousMemberEpoch"] or g.member("w1")["pendingRevocation"]
    other = loaded(g, {}, dialect=g.coordinator.dialect)
    g.coordinator.restart()
    other.coordinator.restart()
    assert other.group() == g.group()


def change(*path: str, to: object) -> Callable[[Json], None]:
    """Put a value in a place of a volatile group; `...` removes the value there."""

    def changed(known: Json) -> None:
        for name in path[:-1]:
            known = known[name]
        known[path[-1]] = to
        if to is ...:
            del known[path[-1]]

    return changed


WORKER = ("members", "w1")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        (change("more", to=1), "volatile Connect group 'g' has no field 'more'"),
        (change("members", to=...), "volatile Connect group 'g' needs the field 'members'"),
        (change("members", to={}), r"'g' must name the workers that its records have: \['w1', 'w2'\]"),
        (change("chosen", to="w3"), "'g' must name the workers that its records have"),
        (change("chosen", to=...), "'g' needs the field 'chosen'"),
        (change(*WORKER, to=1), "'w1' of volatile Connect group 'g'"),
        (change(*WORKER, "previousMemberEpoch", to=...), "'g' needs the field 'previousMemberEpoch'"),
        (change(*WORKER, "acknowledged", to=...), "'g' needs the field 'acknowledged'"),
        (change(*WORKER, "pendingRevocation", to=...), "volatile Connect group 'g'"),
        (change(*WORKER, "sessionDeadlineMs", to=...), "'g' needs the field 'sessionDeadlineMs'"),
        (
            change(*WORKER, "rebalanceDeadlineMs", to="1"),
            "'rebalanceDeadlineMs' of volatile Connect group 'g'",
        ),
        (change(*WORKER, "more", to=1), "'w1' of volatile Connect group 'g' has no field 'more'"),
        (
            change(*WORKER, "pendingRevocation", to=resources("A-2")),
            "pendingRevocation of 'w1' in volatile Connect group 'g' has work that its record does not have",
        ),
        (change(*WORKER, "rebalanceDeadlineMs", to=None), "exactly while its pendingRevocation is not"),
        (change("members", "w2", "rebalanceDeadlineMs", to=1), "exactly while its pendingRevocation is not"),
        (change("prepared", "more", to=1), "'prepared' of volatile Connect group 'g' has no field 'more'"),
        (change("emptyDeadlineMs", to="1"), "'emptyDeadlineMs' of volatile Connect group 'g'"),
        (change("assignmentDeadlineMs", to="1"), "'assignmentDeadlineMs' of volatile Connect group 'g'"),
        (change("prepared", to=1), "'prepared' of volatile Connect group 'g'"),
        (change("prepared", "groupEpoch", to=...), "'g' needs the field 'groupEpoch'"),
        (change("prepared", "members", to=...), "'g' needs the field 'members'"),
        (change("prepared", "connectors", to=...), "'g' needs the field 'connectors'"),
        (change("prepared", "connectors", to=[{"numTasks": 1}]), "'g' needs the field 'connectorId'"),
        (change("prepared", "connectors", to=[{"connectorId": "A"}]), "'g' needs the field 'numTasks'"),
    ],
)
def test_p2_invalid_states_of_the_group(changed: Callable[[Json], None], sentence: str) -> None:
    g = at_work()
    volatile = deepcopy(g.coordinator.volatile())
    changed(volatile["connect"]["g"])
    with pytest.raises(BadInput, match=sentence):
        loaded(g, volatile)


def test_p1_every_record_by_the_drafts_names() -> None:
    g = at_work()
    written = {}
    for record in g.coordinator.records():
        assert record["key"].pop("groupId") == "g"
        written[tuple(record["key"].values())] = record["value"]
    worker = {
        "instanceId": None,
        "clientId": "c",
        "clientHost": "/h",
        "rebalanceTimeoutMs": 60_000,
        "assignors": [OFFER],
    }
    answer = {"error": 0, "version": 0, "metadata": ""}
    late = {**worker, "rebalanceTimeoutMs": 30_000, "assignors": [{**OFFER, "reason": 3}]}
    assert written == {
        ("ConnectGroupMetadata",): {"epoch": 5},
        ("ConnectGroupConnectorsTasksMetadata",): {
            "epoch": 1,
            "connectors": [{"connectorId": "A", "numTasks": 2}],
        },
        ("ConnectGroupMemberMetadata", "w1"): {"groupEpoch": 1, **worker},
        ("ConnectGroupMemberMetadata", "w2"): {"groupEpoch": 5, **late},
        ("ConnectGroupMemberMetadata", "w3"): None,
        ("ConnectGroupTargetAssignmentMetadata",): {"assignmentEpoch": 4},
        ("ConnectGroupTargetAssignmentMember", "w1"): {**answer, "connectorsAndTasks": resources("A")},
        ("ConnectGroupTargetAssignmentMember", "w2"): {**answer, "connectorsAndTasks": resources("A-1")},
        ("ConnectGroupTargetAssignmentMember", "w3"): None,
        ("ConnectGroupCurrentMemberAssignment", "w1"): {
            "memberEpoch": 2,
            **answer,
            "connectorsAndTasks": resources("A", "A-1"),
        },
        ("ConnectGroupCurrentMemberAssignment", "w2"): {"memberEpoch": 4, **answer, "connectorsAndTasks": []},
        ("ConnectGroupCurrentMemberAssignment", "w3"): None,
        ("ConnectGroupLostAssignment", "w3"): {"connectorsAndTasks": resources("A-2")},
    }


def record(kind: str, value: object, **key: object) -> Json:
    return {"offset": 0, "key": {"type": f"ConnectGroup{kind}", "groupId": "g", **key}, "value": value}


MEMBER = {
    "groupEpoch": 1,
    "clientId": "",
    "clientHost": "",
    "rebalanceTimeoutMs": 1,
    "assignors": [],
}


TASKS = {"connectorId": "A", "numTasks": 1}


def lacking(kind: str, value: Json, *names: str, **key: str) -> list[tuple[Json, str]]:
    """The record without each of these fields, with the expected error."""
    return [
        (
            record(kind, {field: one for field, one in value.items() if field != name}, **key),
            f"a ConnectGroup{kind} record needs the field '{name}'",
        )
        for name in names
    ]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        *lacking("Metadata", {}, "epoch"),
        *lacking("TargetAssignmentMetadata", {}, "assignmentEpoch"),
        *lacking("ConnectorsTasksMetadata", {"epoch": 1, "connectors": []}, "epoch", "connectors"),
        *lacking("MemberMetadata", MEMBER, *MEMBER, memberId="w"),
        *lacking("TargetAssignmentMember", {"connectorsAndTasks": []}, "error", memberId="w"),
        *lacking("CurrentMemberAssignment", {"connectorsAndTasks": []}, "memberEpoch", memberId="w"),
        (record("LostAssignment", {}, memberId="w"), "a ConnectGroupLostAssignment record"),
        (
            record("CurrentMemberAssignment", {"memberEpoch": -1, "connectorsAndTasks": []}, memberId="w"),
            "'memberEpoch' of a ConnectGroupCurrentMemberAssignment record must be at least 0",
        ),
        (
            record("MemberMetadata", {**MEMBER, "rebalanceTimeoutMs": 0}, memberId="w"),
            "'rebalanceTimeoutMs' of a ConnectGroupMemberMetadata record must be at least 1, not 0",
        ),
        (
            record("ConnectorsTasksMetadata", {"epoch": 1, "connectors": [1]}),
            "a connector of a ConnectGroupConnectorsTasksMetadata record must be an object",
        ),
        (
            record("ConnectorsTasksMetadata", {"epoch": 1, "connectors": [{"numTasks": 1}]}),
            "a ConnectGroupConnectorsTasksMetadata record needs the field 'connectorId'",
        ),
        (
            record("ConnectorsTasksMetadata", {"epoch": 1, "connectors": [{"connectorId": "A"}]}),
            "a ConnectGroupConnectorsTasksMetadata record needs the field 'numTasks'",
        ),
        (
            record("ConnectorsTasksMetadata", {"epoch": 1, "connectors": [{**TASKS, "more": 1}]}),
            "a connector of a ConnectGroupConnectorsTasksMetadata record has no field 'more'",
        ),
        (
            record("ConnectorsTasksMetadata", {"epoch": 1, "connectors": [TASKS, TASKS]}),
            "a ConnectGroupConnectorsTasksMetadata record names the connector 'A' twice",
        ),
        (
            record("CurrentMemberAssignment", {"memberEpoch": 1, "versoin": 1}, memberId="w"),
            "a ConnectGroupCurrentMemberAssignment record has no field 'versoin'",
        ),
        (record("Metadata", 1), "'value' of a ConnectGroupMetadata record must be an object"),
        (record("Metadata", None, memberId="w"), "the key of a ConnectGroupMetadata record has no field"),
        (record("LostAssignment", None), "the key of a ConnectGroupLostAssignment record needs .*'memberId'"),
        (record("Metadata", None, groupId=1), "'groupId' of the key of a ConnectGroupMetadata record"),
        (
            {"key": {"type": "ConnectGroupMetadata", "groupId": "g"}},
            "ConnectGroupMetadata record needs the field",
        ),
    ],
)
def test_p1_invalid_records(given: Json, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        ConnectGroup().coordinator.load([given], TOPICS, {})


@pytest.mark.parametrize("kind", ["LostAssignment", "TargetAssignmentMember", "MemberMetadata"])
def test_p2_a_deleted_group_leaves_nothing(kind: str) -> None:
    """A tombstone, and lost work that no group has any more."""
    value = {"connectorsAndTasks": resources("A")} if kind == "LostAssignment" else None
    other = ConnectGroup()
    other.coordinator.load([record(kind, value, memberId="w")], TOPICS, {})
    assert other.coordinator.volatile()["connect"] == {}


TWICE = [{"connectors": ["A", "A"], "tasks": []}]


def task(number: object, **more: object) -> list[Json]:
    return [{"connectors": [], "tasks": [{"connectorId": "A", "taskId": number, **more}]}]


def part(**change: object) -> Json:
    return {"members": [{"memberId": "w1", "connectorsAndTasks": [], **change}]}


@pytest.mark.parametrize(
    ("api", "change", "sentence"),
    [
        (HEARTBEAT, {"topicPartitions": []}, "ConnectGroupHeartbeat has no field 'topicPartitions'"),
        (HEARTBEAT, {"groupId": 1}, "'groupId' of ConnectGroupHeartbeat"),
        (HEARTBEAT, {"memberId": 1}, "'memberId' of ConnectGroupHeartbeat"),
        (HEARTBEAT, {"memberEpoch": 2**31}, "'memberEpoch' of ConnectGroupHeartbeat .* int32"),
        (HEARTBEAT, {"rebalanceTimeoutMs": 2**31}, "'rebalanceTimeoutMs' of ConnectGroupHeartbeat .* int32"),
        (HEARTBEAT, {"instanceId": 1}, "'instanceId' of ConnectGroupHeartbeat"),
        (HEARTBEAT, {"serverAssignor": 1}, "'serverAssignor' of ConnectGroupHeartbeat"),
        (HEARTBEAT, {"clientAssignors": 1}, "'clientAssignors' of ConnectGroupHeartbeat"),
        (HEARTBEAT, {"clientAssignors": [1]}, "an entry of clientAssignors must be an object"),
        (HEARTBEAT, {"clientAssignors": [{**OFFER, "metadataVersion": 1}]}, "no field 'metadataVersion'"),
        (
            HEARTBEAT,
            {"clientAssignors": [{key: OFFER[key] for key in OFFER if key != "version"}]},
            "clientAssignors needs the field 'version'",
        ),
        (HEARTBEAT, {"connectorsAndTasks": 1}, "'connectorsAndTasks' of connectorsAndTasks must be a list"),
        (HEARTBEAT, {"connectorsAndTasks": [1]}, "connectorsAndTasks must be an object"),
        (HEARTBEAT, {"connectorsAndTasks": [{}]}, "connectorsAndTasks needs the field 'connectors'"),
        (
            HEARTBEAT,
            {"connectorsAndTasks": [{"connectors": []}]},
            "connectorsAndTasks needs the field 'tasks'",
        ),
        (HEARTBEAT, {"connectorsAndTasks": [{"more": 1}]}, "connectorsAndTasks has no field 'more'"),
        (HEARTBEAT, {"connectorsAndTasks": task(0)}, "taskId in connectorsAndTasks counts from 1, not 0"),
        (HEARTBEAT, {"connectorsAndTasks": task(2**31)}, "'taskId' of connectorsAndTasks .* int32"),
        (
            HEARTBEAT,
            {"connectorsAndTasks": task(1, more=1)},
            "a task of connectorsAndTasks has no field 'more'",
        ),
        (HEARTBEAT, {"connectorsAndTasks": task(1, connectorId=1)}, "'connectorId' of connectorsAndTasks"),
        (
            HEARTBEAT,
            {"connectorsAndTasks": [{"connectors": [], "tasks": [1]}]},
            "a task of connectorsAndTasks",
        ),
        (PREPARE, {"groupEpoch": 1}, "ConnectGroupPrepareAssignment has no field 'groupEpoch'"),
        (PREPARE, {"memberId": 1}, "'memberId' of ConnectGroupPrepareAssignment"),
        (PREPARE, {"groupId": 1}, "'groupId' of ConnectGroupPrepareAssignment"),
        (PREPARE, {"memberEpoch": 2**31}, "'memberEpoch' of ConnectGroupPrepareAssignment .* int32"),
        (INSTALL, {"more": 1}, "ConnectGroupInstallAssignment has no field 'more'"),
        (INSTALL, {"memberEpoch": 2**31}, "'memberEpoch' of ConnectGroupInstallAssignment .* int32"),
        (INSTALL, {"groupEpoch": 2**31}, "'groupEpoch' of ConnectGroupInstallAssignment .* int32"),
        (INSTALL, {"error": 128}, "'error' of ConnectGroupInstallAssignment .* int8"),
        (INSTALL, {"error": "1"}, "'error' of ConnectGroupInstallAssignment"),
        (INSTALL, {"members": 1}, "'members' of ConnectGroupInstallAssignment"),
        (INSTALL, {"members": [1]}, "a member of ConnectGroupInstallAssignment must be an object"),
        (INSTALL, part(more=1), "a member of ConnectGroupInstallAssignment has no field 'more'"),
        (INSTALL, part(memberId=1), "'memberId' of ConnectGroupInstallAssignment"),
        (INSTALL, part(connectorsAndTasks=[1]), "connectorsAndTasks of 'w1' must be an object"),
    ],
)
def test_w4_a_field_outside_the_schema_is_named(api: str, change: Json, sentence: str) -> None:
    g = ConnectGroup()
    g.join("w1")
    g.prepare("w1", 0)
    before = g.group()
    body: Json = {"memberId": "w1", "memberEpoch": 0}
    body |= {HEARTBEAT: {"connectorsAndTasks": []}, INSTALL: {"groupEpoch": 1, "members": []}}.get(api, {})
    with pytest.raises(BadInput, match=sentence):
        g.request(api, **{**body, **change})
    assert g.group() == before


@pytest.mark.parametrize(
    ("change", "error", "sentence"),
    [
        ({"groupId": ""}, "INVALID_REQUEST", "GroupId is empty"),
        ({"memberId": ""}, "INVALID_REQUEST", "MemberId is empty; a worker gives its own id."),
        ({"memberEpoch": -2}, "INVALID_REQUEST", "MemberEpoch is -2; send -1, 0 or the epoch of"),
        ({"instanceId": ""}, "INVALID_REQUEST", "InstanceId is empty; give one, or leave it out."),
        ({"rebalanceTimeoutMs": 0}, "INVALID_REQUEST", "RebalanceTimeoutMs is 0"),
        ({"rebalanceTimeoutMs": -1}, "INVALID_REQUEST", "RebalanceTimeoutMs is -1"),
        (
            {"connectorsAndTasks": TWICE},
            "INVALID_REQUEST",
            "names a connector or task twice; name each once.",
        ),
        ({"clientAssignors": [OFFER, OFFER]}, "INVALID_REQUEST", "twice"),
        ({"clientAssignors": [{**OFFER, "name": ""}]}, "INVALID_REQUEST", "empty"),
        ({"clientAssignors": [{**OFFER, "minimumVersion": -2}]}, "INVALID_REQUEST", "inimum"),
        ({"clientAssignors": [{**OFFER, "maximumVersion": -1}]}, "INVALID_REQUEST", "aximum"),
        ({"clientAssignors": [{**OFFER, "version": 1}]}, "INVALID_REQUEST", "ersion"),
        ({"serverAssignor": "uniform"}, "INVALID_REQUEST", "ClientAssignors"),
        (
            {"serverAssignor": "uniform", "clientAssignors": None},
            "UNSUPPORTED_ASSIGNOR",
            "A Connect group has no server side assignor; offer ClientAssignors.",
        ),
    ],
)
def test_w4_a_join_that_is_refused(change: Json, error: str, sentence: str) -> None:
    g = ConnectGroup()
    answer = g.join("w1", **change)
    assert (ErrorCode(answer["errorCode"]).name, g.coordinator.end) == (error, 0)
    assert sentence in answer["errorMessage"]


def test_h7_a_worker_that_waits_for_its_first_target_says_only_what_has_changed() -> None:
    """W4: "RebalanceTimeoutMs must be larger than zero in the first heartbeat request"; a waiting worker has
    sent that, and its epoch is still 0."""
    g = ConnectGroup()
    for worker in ("w1", "w2"):
        g.join(worker, timeout_ms=7_000)
    before, end = g.member("w2"), g.coordinator.end
    for worker, computes in (("w1", True), ("w2", False)):
        answer = g.request(HEARTBEAT, memberId=worker, memberEpoch=0)
        given = (answer["errorCode"], answer["memberEpoch"], answer["shouldComputeAssignment"])
        assert given == (0, 0, computes)
    assert (g.member("w2"), g.coordinator.end) == (before, end)
    assert before["rebalanceTimeoutMs"] == 7_000
    assert g.request(HEARTBEAT, memberId="w2", memberEpoch=0, rebalanceTimeoutMs=0)["errorCode"] == 42
    assert g.request(HEARTBEAT, memberId="w3", memberEpoch=0)["errorCode"] == 42
    g.rebalance(w1="A", w2="A-1 A-2")
    assert g.beat("w2", 0)["memberEpoch"] == g.group()["groupEpoch"]
    assert g.request(HEARTBEAT, memberId="w2", memberEpoch=0)["errorCode"] == 42, (
        "it has a target: it rejoins"
    )
