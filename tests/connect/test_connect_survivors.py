"""Mutants of Connect groups that survived all traces of `conform mutate`, each killed here."""

from __future__ import annotations

from typing import Any

import pytest
from connect_driver import HEARTBEAT, IDS, INSTALL, OFFER, PREPARE, ConnectGroup, Json, named

from coordinator import DIALECTS
from coordinator.core.errors import ErrorCode

ALL = "A A-1 A-2"


def code(response: Json) -> str:
    return ErrorCode(response["errorCode"]).name


def pair(**options: Any) -> ConnectGroup:
    """Two workers at epoch 2, stable: w1 has the connector A, w2 its tasks."""
    g = ConnectGroup(**options)
    g.join("w1")
    g.join("w2")
    g.rebalance(w1="A", w2="A-1 A-2")
    assert named(g.join("w1")["assignment"]["connectorsAndTasks"]) == "A"
    assert named(g.join("w2")["assignment"]["connectorsAndTasks"]) == "A-1 A-2"
    g.beat("w1", 2, "A")
    g.beat("w2", 2, "A-1 A-2")
    assert g.group()["state"] == "Stable"
    return g


def lost(g: ConnectGroup) -> dict[str, str]:
    """The workers with lost work, and the work."""
    return {one["memberId"]: named(one["connectorsAndTasks"]) for one in g.group()["lost"]}


def other_reason() -> list[Json]:
    return [{**OFFER, "reason": 1}]


BODIES: dict[str, Json] = {
    HEARTBEAT: {"memberEpoch": 0, "rebalanceTimeoutMs": 1, "connectorsAndTasks": [], "clientAssignors": []},
    PREPARE: {"memberEpoch": 0},
    INSTALL: {"memberEpoch": 0, "groupEpoch": 1, "members": []},
}
NOTHING_ELSE: dict[str, Json] = {
    HEARTBEAT: {
        "memberEpoch": 0,
        "shouldComputeAssignment": False,
        "heartbeatIntervalMs": 0,
        "assignment": None,
    },
    PREPARE: {"groupEpoch": 0, "assignorName": None, "connectors": [], "members": []},
    INSTALL: {},
}


@pytest.mark.parametrize("api", BODIES)
def test_w4_a_refused_request_gets_an_error_and_nothing_else(api: str) -> None:
    """Three cases are tried: a client without rights, a group of another kind, and a log that refuses."""

    def refused(error: str, of_consumers: bool = False, **options: Any) -> ConnectGroup:
        g = ConnectGroup(**options)
        if of_consumers:
            joins = {"memberEpoch": 0, "rebalanceTimeoutMs": 1, "topicPartitions": []}
            g.request("ConsumerGroupHeartbeat", memberId="m", subscribedTopicNames=["A"], **joins)
        before = g.coordinator.end
        answer = g.request(api, memberId="w1", **BODIES[api])
        sentence = answer.pop("errorMessage")
        assert answer == {"throttleTimeMs": 0, "errorCode": ErrorCode[error], **NOTHING_ELSE[api]}
        assert sentence.endswith(".") and g.coordinator.end == before
        return g

    refused("GROUP_AUTHORIZATION_FAILED", authorizer=lambda *request: False)
    refused("INVALID_REQUEST" if api == HEARTBEAT else "GROUP_ID_NOT_FOUND", of_consumers=True)


def test_p3_a_step_that_the_log_refuses_is_none() -> None:
    g = pair()
    before = g.group(), g.coordinator.volatile(), g.coordinator.end
    g.coordinator.fail_appends(True)
    refused = g.beat("w1", 2, clientAssignors=other_reason())
    assert code(refused) == "COORDINATOR_NOT_AVAILABLE" and refused["memberEpoch"] == 0
    assert (g.group(), g.coordinator.volatile(), g.coordinator.end) == before
    g.coordinator.fail_appends(False)
    assert code(g.beat("w1", 2, clientAssignors=other_reason())) == "NONE"
    assert g.group()["groupEpoch"] == 3


@pytest.mark.parametrize(
    ("dialect", "error"), [("kip-848", "INVALID_REQUEST"), ("kafka-4.2", "GROUP_ID_NOT_FOUND")]
)
@pytest.mark.parametrize("epoch", [0, 1, -1])
def test_h5_a_group_of_workers_is_none_of_consumers(epoch: int, dialect: str, error: str) -> None:
    """A ConsumerGroupHeartbeat has no GROUP_ID_NOT_FOUND; a join under a new id would not mend it."""
    g = pair(dialect=DIALECTS[dialect])
    before = g.group(), g.coordinator.end
    joins: Json = {"memberId": "m", "rebalanceTimeoutMs": 1, "topicPartitions": []}
    answer = g.request("ConsumerGroupHeartbeat", memberEpoch=epoch, subscribedTopicNames=["A"], **joins)
    assert code(answer) == error and answer["errorMessage"] == "Group g is a Connect group."
    assert (g.group(), g.coordinator.end) == before


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"groupId": "h"}, "GROUP_ID_NOT_FOUND"),
        ({"memberId": "w9"}, "UNKNOWN_MEMBER_ID"),
        ({"memberEpoch": 1}, "STALE_MEMBER_EPOCH"),
        ({"memberEpoch": 3}, "STALE_MEMBER_EPOCH"),
        ({"memberId": "w2"}, "UNKNOWN_MEMBER_ID"),
        ({"groupId": ""}, "INVALID_REQUEST"),
        ({"memberId": ""}, "INVALID_REQUEST"),
        ({"memberEpoch": -1}, "INVALID_REQUEST"),
    ],
)
@pytest.mark.parametrize("api", [PREPARE, INSTALL])
def test_w4_workers_that_may_not_compute(api: str, body: Json, error: str) -> None:
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    before = g.group(), g.coordinator.end
    own = {key: value for key, value in BODIES[api].items() if key != "memberEpoch"}
    fields = g.request(api, **{"memberId": "w1", "memberEpoch": 2, **own, **body})
    assert code(fields) == error and fields["errorMessage"].endswith(".")
    assert (g.group(), g.coordinator.end) == before


def test_w1_nobody_computes_while_no_target_is_due() -> None:
    g = pair()
    assert code(g.prepare("w1", 2)) == "UNKNOWN_MEMBER_ID"
    assert not g.beat("w1", 2)["shouldComputeAssignment"]
    g.beat("w2", 2, clientAssignors=other_reason())
    assert not g.beat("w2", 2)["shouldComputeAssignment"]
    assert g.beat("w1", 2)["shouldComputeAssignment"]
    assert not g.beat("w1", -1)["shouldComputeAssignment"], "it is gone"


def test_h5_a_fenced_member_does_not_compute() -> None:
    """The fenced worker is no worker any more, so another worker computes."""
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    fenced = g.beat("w1", 7)
    assert (code(fenced), fenced["shouldComputeAssignment"]) == ("FENCED_MEMBER_EPOCH", False)
    assert (g.group()["chosen"], lost(g)) == ("w2", {"w1": "A"})


def test_w1_a_worker_that_makes_a_target_due_may_compute_at_once() -> None:
    g = pair()
    assert g.beat("w1", 2, clientAssignors=other_reason())["shouldComputeAssignment"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"w9": "A"}, "The assignment names w9, which was no worker"),
        ({"w1": "B"}, "task 0 of connector B, which there is not"),
        ({"w1": "A-3"}, "task 3 of connector A, which there is not"),
        ({"w1": "A A-1", "w2": "A-1"}, "gives task 1 of connector A to two workers"),
    ],
)
def test_w4_no_target_of_the_group(given: dict[str, str], sentence: str) -> None:
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    g.prepare("w1", 2)
    before = g.group(), g.coordinator.end
    answer = g.install("w1", 2, 3, **given)
    assert code(answer) == "INVALID_ASSIGNMENT" and sentence in answer["errorMessage"]
    assert (g.group(), g.coordinator.end) == before
    assert code(g.install("w1", 2, 3, w1="A A-2")) == "NONE", "it may try again, and leave out work"


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (("w1", "w9"), "The assignment names w9, which was no worker"),
        (("w1", "w2", "w1"), "The assignment has w1 twice; give each worker once."),
    ],
)
def test_w4_workers_of_a_target_without_work(names: tuple[str, ...], sentence: str) -> None:
    """The metadata of one of two entries would be lost."""
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    g.prepare("w1", 2)
    members = [{"memberId": name, "connectorsAndTasks": [], "metadata": "eA=="} for name in names]
    answer = g.request(INSTALL, memberId="w1", memberEpoch=2, groupEpoch=3, error=0, members=members)
    assert code(answer) == "INVALID_ASSIGNMENT" and sentence in answer["errorMessage"]


def test_w4_the_epoch_that_was_prepared() -> None:
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    assert "group epoch 3; prepare it first" in g.install("w1", 2, 3)["errorMessage"]
    g.prepare("w1", 2)
    for epoch in (2, 4):
        assert code(g.install("w1", 2, epoch)) == "INVALID_ASSIGNMENT"
    assert code(g.install("w1", 2, 3)) == "NONE"
    assert g.group()["prepared"] is None


def test_w4_a_failed_assignor_keeps_the_target_and_every_worker_hears_of_it() -> None:
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    g.prepare("w1", 2)
    before = g.coordinator.end
    assert code(g.install("w1", 2, 3, error=7, w1=ALL)) == "NONE"
    assert g.written(before) == [
        "TargetAssignmentMember w1",
        "TargetAssignmentMember w2",
        "TargetAssignmentMetadata",
    ]
    for worker, owns in (("w1", "A"), ("w2", "A-1 A-2")):
        answer = g.beat(worker, 2)["assignment"]
        assert (answer["error"], named(answer["connectorsAndTasks"])) == (7, owns)
        assert g.member(worker)["targetError"] == 7


def test_w4_only_what_changes_is_written() -> None:
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    before = g.coordinator.end
    g.rebalance(w1="A", w2="A-1 A-2")
    assert g.written(before) == ["TargetAssignmentMetadata"]


def test_w2_work_of_a_gone_worker_is_lost_until_another_has_it() -> None:
    g = pair()
    g.join("w3")
    g.beat("w2", -1)
    assert lost(g) == {"w2": "A-1 A-2"}
    prepared = g.prepare("w1", 2)
    body = {one["memberId"]: named(one["connectorsAndTasks"]) for one in prepared["members"]}
    assert body == {"w1": "A", "w2": "A-1 A-2", "w3": ""}
    assert [one["memberEpoch"] for one in prepared["members"]] == [2, 0, -1]
    before = g.coordinator.end
    g.install("w1", 2, 4, w1="A A-2")
    assert lost(g) == {"w2": "A-1"}
    assert g.written(before)[0] == "LostAssignment w2"
    g.join("w3", clientAssignors=other_reason())
    before = g.coordinator.end
    g.rebalance(w1="A A-2", w3="A-1")
    assert lost(g) == {}
    assert g.written(before)[0] == "-LostAssignment w2"


def test_w2_lost_work_of_two_workers_and_of_a_connector_that_goes() -> None:
    g = pair()
    g.connector("B", 1)
    g.join("w3")
    g.rebalance(w1="A", w2="A-1 A-2", w3="B B-1")
    g.beat("w2", -1)
    g.beat("w3", -1)
    assert lost(g) == {"w2": "A-1 A-2", "w3": "B B-1"}
    fewer = [{"name": name, "id": IDS[name], "partitions": 2} for name in IDS]
    g.coordinator.load(g.coordinator.records(), fewer, g.coordinator.volatile())
    g.connector("B", 2)
    assert lost(g) == {"w2": "A-1", "w3": "B B-1"}
    before = g.coordinator.end
    g.coordinator.delete_topic("B")
    assert lost(g) == {"w2": "A-1"}
    assert "-LostAssignment w3" in g.written(before)
    g.coordinator.restart()
    assert lost(g) == {"w2": "A-1"}


def test_w2_without_workers_nothing_is_lost() -> None:
    g = pair()
    g.beat("w2", -1)
    before = g.coordinator.end
    g.beat("w1", -1)
    assert (lost(g), g.group()["chosen"]) == ({}, None)
    assert g.written(before)[-1] == "-LostAssignment w2"
    g.join("w1")
    assert named(g.prepare("w1", 0)["members"][0]["connectorsAndTasks"]) == ""


def test_w1_the_time_to_compute_counts_from_when_a_target_is_due() -> None:
    """The deadline is that of the chosen worker, whichever worker sends heartbeats; later that of the next
    chosen worker."""
    g = pair()
    assert "assignment w1" not in g.timers()
    g.coordinator.advance(1_000)
    g.beat("w2", 2, clientAssignors=other_reason())
    assert g.timers()["assignment w1"] == 60_000
    g.coordinator.advance(20_000)
    for worker in ("w1", "w2"):
        g.beat(worker, 2)
    g.prepare("w1", 2)
    assert g.timers()["assignment w1"] == 40_000
    g.coordinator.advance(39_999)
    for worker in ("w1", "w2"):
        g.beat(worker, 2)
    assert (g.group()["chosen"], g.group()["prepared"] is None) == ("w1", False)
    g.coordinator.advance(1)
    assert (g.group()["chosen"], g.group()["prepared"]) == ("w2", None)
    assert "assignment w1" not in g.timers() and g.timers()["assignment w2"] == 60_000
    g.coordinator.fire("assignment", "g", "w2")
    assert g.group()["chosen"] == "w1"


def test_w1_the_time_begins_anew_with_the_next_target_and_the_next_worker() -> None:
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    g.prepare("w1", 2)
    g.coordinator.advance(20_000)
    g.join("w3")
    g.install("w1", 2, 3, w1=ALL)
    assert g.group()["groupEpoch"] == 4
    assert g.timers()["assignment w1"] == 60_000, "of the target of epoch 4"
    g.coordinator.advance(20_000)
    g.prepare("w1", 2)
    g.beat("w1", -1)
    assert g.group()["chosen"] == "w2"
    assert g.timers()["assignment w2"] == 60_000
    assert code(g.install("w2", 2, 4, w2=ALL)) == "INVALID_ASSIGNMENT", "what the other one prepared"


def test_w1_whose_time_it_is() -> None:
    """The time is the chosen worker's, and runs out whether or not any worker sends anything."""
    g = ConnectGroup()
    g.join("w1", timeout_ms=10_000)
    g.join("w2", timeout_ms=20_000)
    assert g.timers()["assignment w1"] == 10_000
    assert [one["member"] for one in g.coordinator.advance(10_000)] == ["w1"]
    assert g.timers()["assignment w2"] == 20_000
    assert [one["member"] for one in g.coordinator.advance(20_000)] == ["w2"]
    assert g.timers()["assignment w1"] == 10_000


def test_p3_a_worker_that_cannot_be_removed_is_not_chosen_in_circles() -> None:
    """For a day the log refuses to remove two workers that are gone: both are chosen in turn, but no more
    often than the log is tried."""
    g = ConnectGroup()
    g.join("w1", timeout_ms=1_000)
    g.join("w2", timeout_ms=1_000)
    g.coordinator.fail_appends(True)
    fired = [one["timer"] for one in g.coordinator.advance(24 * 3_600_000)]
    assert fired.count("assignment") < 45 + 2 * 20, "one a second while their sessions last, then each retry"
    g.coordinator.fail_appends(False)
    g.coordinator.advance(2 * 24 * 3_600_000)
    assert g.group()["members"] == []


def test_p2_a_group_that_had_no_target_yet_waits_for_one() -> None:
    g = ConnectGroup()
    g.join("w1")
    before = g.group()
    g.coordinator.restart()
    assert g.group() == before
    assert (before["groupEpoch"], before["assignmentEpoch"], before["state"]) == (1, 0, "Assigning")


@pytest.mark.parametrize("timer", ["session w1", "rebalance w1"])
def test_h8_a_worker_that_is_late_is_gone(timer: str) -> None:
    """The removal is delayed for a moment where the log refuses, and then its work is lost."""
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    g.rebalance(w2=ALL)
    g.beat("w1", 2)
    assert g.timers()["rebalance w1"] == 60_000
    name, _, worker = timer.partition(" ")
    before = g.group(), g.coordinator.end
    g.coordinator.fail_appends(True)
    assert not g.coordinator.fire(name, "g", worker)
    assert g.coordinator.end == before[1] and g.group()["members"] == before[0]["members"]
    assert g.timers()[timer] == 500
    g.coordinator.fail_appends(False)
    assert g.coordinator.advance(500) == [{"timer": name, "group": "g", "member": worker}]
    assert [one["memberId"] for one in g.group()["members"]] == ["w2"]


def test_e5_a_group_without_workers_is_deleted_later() -> None:
    g = pair()
    g.beat("w1", -1)
    g.beat("w2", -1)
    (timer,) = g.timers()
    assert timer == "group"
    before = g.coordinator.end
    assert g.coordinator.fire("group", "g")
    assert all(line.startswith("-") for line in g.written(before))
    assert g.group().get("type") is None
    assert g.coordinator.volatile()["connect"] == {}
    g.join("w1")
    assert (g.group()["groupEpoch"], g.group()["chosen"], g.timers()["assignment w1"]) == (1, "w1", 60_000)


def test_e1_connectors_that_come_and_go_are_another_epoch() -> None:
    g = pair()
    g.connector("B", 3)
    assert g.group()["groupEpoch"] == 3
    assert g.group()["connectors"] == [
        {"connectorId": "A", "numTasks": 2},
        {"connectorId": "B", "numTasks": 3},
    ]
    assert g.timers()["assignment w1"] == 60_000
    g.coordinator.delete_topic("B")
    assert g.group()["groupEpoch"] == 4


def test_p2_a_new_coordinator_chooses_anew_and_starts_every_timer() -> None:
    g = pair()
    g.beat("w2", 2, clientAssignors=other_reason())
    g.prepare("w1", 2)
    g.coordinator.fire("assignment", "g", "w1")
    assert g.group()["chosen"] == "w2"
    g.coordinator.advance(30_000)
    g.coordinator.restart()
    assert (g.group()["chosen"], g.group()["prepared"]) == ("w1", None)
    assert g.timers() == {"session w1": 45_000, "session w2": 45_000, "assignment w1": 60_000}
    assert len(g.coordinator.advance(45_000)) == 2, "and they run out"


def test_d2_each_group_is_on_its_own() -> None:
    g = pair()
    full = {"rebalanceTimeoutMs": 1_000, "connectorsAndTasks": [], "clientAssignors": [OFFER]}
    g.request(HEARTBEAT, groupId="h", memberId="w1", memberEpoch=0, **full)
    state = g.coordinator.volatile()["connect"]
    assert state.keys() == {"g", "h"}
    assert g.coordinator.volatile("h")["connect"] == {"h": state["h"]}
    assert g.coordinator.volatile("x")["connect"] == {}
    g.connector("B", 1)
    epochs = [g.coordinator.describe(name)["groupEpoch"] for name in ("g", "h")]
    assert epochs == [3, 2], "E1: of both"
    assert g.coordinator.advance(1_000) == [{"timer": "assignment", "group": "h", "member": "w1"}]
    g.coordinator.restart()
    assert g.coordinator.volatile()["connect"].keys() == {"g", "h"}


def test_r1_p2_a_new_coordinator_goes_on_with_the_revocation_of_a_worker() -> None:
    g = pair()
    g.beat("w1", 2, clientAssignors=other_reason())
    g.rebalance(w1="", w2=ALL)
    g.beat("w1", 2, "A")
    before = g.member("w1")
    assert named(before["pendingRevocation"]) == "A"
    g.coordinator.restart()
    assert g.member("w1") == before
    assert g.timers()["rebalance w1"] == 60_000
    assert named(g.beat("w2", 2)["assignment"]["connectorsAndTasks"]) == "A-1 A-2"
    g.beat("w1", 2, "")
    assert named(g.beat("w2", 3)["assignment"]["connectorsAndTasks"]) == ALL
