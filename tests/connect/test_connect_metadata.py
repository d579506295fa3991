"""W1, W4, P1: an assignor's metadata for a worker beside its work, and its input about each worker."""

from __future__ import annotations

from typing import Any

import pytest
from connect_driver import IDS, INSTALL, OFFER, ConnectGroup, Json, named, resources

from coordinator.core.errors import BadInput


def installed(g: ConnectGroup, epoch: int, parts: dict[str, tuple[str, int, str]], error: int = 0) -> Json:
    """Prepare and install: worker -> its work, and version and bytes of its metadata."""
    chosen = g.group()["chosen"]
    own = g.member(chosen)["memberEpoch"]
    assert g.prepare(chosen, own)["errorCode"] == 0
    members = [
        {
            "memberId": name,
            "connectorsAndTasks": resources(*work.split()),
            "version": version,
            "metadata": given,
        }
        for name, (work, version, given) in parts.items()
    ]
    body = {"groupEpoch": epoch, "error": error, "members": members}
    return g.request(INSTALL, memberId=chosen, memberEpoch=own, **body)


def computed(answer: Json) -> tuple[str, int, int, str]:
    assignment = answer["assignment"]
    work = named(assignment["connectorsAndTasks"])
    return work, assignment["error"], assignment["version"], assignment["metadata"]


def pair() -> ConnectGroup:
    """Two workers, the first has metadata of version 3."""
    g = ConnectGroup()
    g.join("w1")
    g.join("w2")
    assert installed(g, 2, {"w1": ("A", 3, "aGk="), "w2": ("A-1 A-2", 0, "")})["errorCode"] == 0
    return g


def test_w1_an_assignment_comes_with_version_and_metadata() -> None:
    g = pair()
    assert computed(g.join("w1")) == ("A", 0, 3, "aGk=")
    assert computed(g.join("w2")) == ("A-1 A-2", 0, 0, "")
    assert computed(g.beat("w1", 2)) == ("A", 0, 3, "aGk=")
    assert g.beat("w1", 2, "A")["assignment"] is None


def test_w1_a_worker_that_keeps_its_work_gets_new_metadata() -> None:
    """R5: metadata is news, too."""
    g = pair()
    for name, work in (("w1", "A"), ("w2", "A-1 A-2")):
        g.join(name)
        g.beat(name, 2, work)
    g.beat("w2", 2, clientAssignors=[{**OFFER, "reason": 1}])
    assert installed(g, 3, {"w1": ("A", 4, "aG8="), "w2": ("A-1 A-2", 0, "")})["errorCode"] == 0
    assert computed(g.beat("w1", 2, "A")) == ("A", 0, 4, "aG8=")
    assert computed(g.beat("w1", 3)) == ("A", 0, 4, "aG8=")
    assert g.beat("w1", 3, "A")["assignment"] is None


def test_w4_an_assignor_that_fails_leaves_the_metadata_as_it_is() -> None:
    g = pair()
    g.join("w1")
    g.join("w2", clientAssignors=[{**OFFER, "reason": 1}])
    assert installed(g, 3, {}, error=7)["errorCode"] == 0
    assert computed(g.beat("w1", 2)) == ("A", 7, 3, "aGk=")


def test_p1_the_records_have_version_and_metadata() -> None:
    """A coordinator that begins with them gives the same answer."""
    g = pair()
    g.join("w1")
    values = {
        one["key"]["type"].removeprefix("ConnectGroup"): one["value"]
        for one in g.coordinator.records()
        if one["key"].get("memberId") == "w1"
    }
    target, current = values["TargetAssignmentMember"], values["CurrentMemberAssignment"]
    assert (target["version"], target["metadata"]) == (current["version"], current["metadata"]) == (3, "aGk=")
    assert (target["error"], current["error"]) == (0, 0)
    before = g.group()["members"]
    g.coordinator.restart()
    assert g.group()["members"] == before
    assert computed(g.beat("w1", 2)) == ("A", 0, 3, "aGk=")


def test_p1_a_log_from_before_has_neither() -> None:
    g = pair()
    g.join("w1")
    old = g.coordinator.records()
    for one in old:
        for name in ("version", "metadata") if one["value"] else ():
            one["value"].pop(name, None)
        if one["key"]["type"] == "ConnectGroupCurrentMemberAssignment":
            one["value"].pop("error")
    g.coordinator.load(old, [{"name": "A", "id": IDS["A"], "partitions": 3}], {})
    assert computed(g.beat("w1", 2)) == ("A", 0, 0, "")


@pytest.mark.parametrize("wrong", [{"version": 1 << 15}, {"version": "1"}, {"metadata": 1}])
def test_w4_version_and_metadata_are_of_the_schema(wrong: Json) -> None:
    g = pair()
    before = g.coordinator.end
    with pytest.raises(BadInput):
        g.request(
            INSTALL,
            memberId="w1",
            memberEpoch=0,
            groupEpoch=2,
            members=[{"memberId": "w1", "connectorsAndTasks": [], **wrong}],
        )
    assert g.coordinator.end == before


def offer(name: str, **given: Any) -> Json:
    return {**OFFER, "name": name, **given}


def test_w1_preparation_tells_of_the_selected_assignor_alone() -> None:
    """The answer has the entry of each worker for the selected assignor; a worker that left has none."""
    g = ConnectGroup()
    g.join("w1", clientAssignors=[offer("b", reason=1, metadata="YjE="), offer("a", metadata="YTE=")])
    mine = offer("b", minimumVersion=0, maximumVersion=2, version=2, reason=3, metadata="YjI=")
    g.join("w2", clientAssignors=[mine, offer("a")])
    g.rebalance(w1="A", w2="A-1 A-2")
    g.join("w1", clientAssignors=[offer("b", reason=1, metadata="YjE="), offer("a", metadata="YTE=")])
    g.beat("w1", -1)
    answer = g.prepare("w2", 0)
    assert answer["assignorName"] == "b"
    there, gone = answer["members"]
    assert there == {
        "memberId": "w2",
        "memberEpoch": 0,
        "instanceId": None,
        "assignor": {"version": 2, "reason": 3, "metadata": "YjI="},
        "connectorsAndTasks": resources("A-1", "A-2"),
    }
    assert (gone["memberId"], gone["memberEpoch"]) == ("w1", -1)
    assert (gone["instanceId"], gone["assignor"], named(gone["connectorsAndTasks"])) == (None, None, "A")


def test_w1_preparation_does_not_tell_of_the_assignor_that_a_worker_prefers() -> None:
    g = ConnectGroup()
    both = {"clientAssignors": [offer("b", reason=1), offer("a")]}
    g.join("w1", **both)
    g.join("w2", clientAssignors=[offer("a", reason=4), offer("b", reason=5)])
    g.join("w3", **both)
    answer = g.prepare("w1", 0)
    reasons = {one["memberId"]: one["assignor"]["reason"] for one in answer["members"]}
    assert (answer["assignorName"], reasons) == ("b", {"w1": 1, "w2": 5, "w3": 1})


def instances(g: ConnectGroup, worker: str) -> dict[str, str | None]:
    """The instance ids in PrepareAssignment's answer, by worker."""
    members = g.prepare(worker, g.member(worker)["memberEpoch"])["members"]
    return {one["memberId"]: one["instanceId"] for one in members}


def test_w4_an_instance_id_is_kept_and_shown_and_has_no_other_effect() -> None:
    """Two workers may give the same id: the draft has no UNRELEASED_INSTANCE_ID. It bumps nothing."""
    g = ConnectGroup()
    assert g.join("w1", instanceId="i")["errorCode"] == 0
    assert g.join("w2", instanceId="i")["errorCode"] == 0
    g.join("w3")
    assert instances(g, "w1") == {"w1": "i", "w2": "i", "w3": None}
    g.rebalance(w1="A", w2="A-1", w3="A-2")
    for name, work in (("w1", "A"), ("w2", "A-1"), ("w3", "A-2")):
        g.join(name)
        g.beat(name, 3, work)
    before = g.group()
    assert g.beat("w1", 3, instanceId="j")["errorCode"] == g.beat("w2", 3)["errorCode"] == 0
    assert g.group() == before and g.group()["state"] == "Stable"
    g.coordinator.restart()
    g.beat("w3", 3, clientAssignors=[offer("x", reason=1)])
    assert instances(g, g.group()["chosen"]) == {"w1": "j", "w2": "i", "w3": None}


def test_w4_a_worker_that_begins_anew_says_its_instance_id_again() -> None:
    g = ConnectGroup()
    g.join("w1", instanceId="i")
    g.rebalance(w1="A A-1 A-2")
    g.join("w1")
    g.beat("w1", 1, "A A-1 A-2")
    g.join("w1")
    assert instances(g, "w1") == {"w1": None}


def test_w4_a_worker_with_an_instance_id_has_no_place_that_is_kept() -> None:
    """The draft has no member epoch -2; a worker that leaves is gone, and its work is lost (W2)."""
    g = ConnectGroup()
    g.join("w1", instanceId="i")
    assert g.beat("w1", -2, instanceId="i")["errorCode"] == 42
    g.join("w2")
    g.rebalance(w1="A", w2="A-1")
    assert g.beat("w1", -1, instanceId="i")["errorCode"] == 0
    assert [one["memberId"] for one in g.group()["members"]] == ["w2"]
    assert g.join("w3", instanceId="i")["errorCode"] == 0
