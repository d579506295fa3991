"""What no trace showed of groups that migrate: mutants that survived `conform mutate`, each killed here."""

from __future__ import annotations

import dataclasses

import pytest
from mixed_driver import MixedDriver, said

from coordinator import Dialect


def test_a_topic_that_is_not_there_is_none_of_the_groups() -> None:
    """M1, T1: members of the classic protocol may name topics that do not exist."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b"])
    driver.join("", client="b")
    driver.join("b", metadata=said(topics=("foo", "missing")))
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0, 1, 2, 3]})
    assert driver.upgraded("a")["errorCode"] == 0
    assert driver.held("b") == {0, 1, 2, 3}


def test_of_two_claims_of_one_generation_the_first_by_name_counts() -> None:
    """M1, R7: and not the smaller one."""
    driver = MixedDriver()
    generation = driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.join("b", [0, 1], generation)
    driver.join("c", [0], generation)
    assert driver.group["state"] == "CompletingRebalance"
    driver.target(a=[0, 1, 2, 3])
    driver.upgraded("a")
    assert [driver.held(name) for name in "bc"] == [{0, 1}, set()]


def test_who_is_new_in_a_generation_without_assignment_brings_nothing() -> None:
    """M1: the log has no assignment of it."""
    driver = MixedDriver()
    generation = driver.stable({"b": [0, 1, 2, 3]})
    driver.coordinator.use_ids(["d"])
    driver.join("", client="d")
    driver.join("d")
    driver.join("b", [0], generation)
    assert driver.group["state"] == "CompletingRebalance"
    driver.target(a=[1, 2, 3])
    driver.upgraded("a")
    assert [driver.held(name) for name in "bd"] == [{0}, set()]


def test_who_owes_its_sync_and_moves_to_the_consumer_protocol_owes_it_no_more() -> None:
    """M2: its timer is gone, and would remove a member that is alive."""
    driver = MixedDriver()
    driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.target(a=[], b=[0, 1], c=[2, 3])
    driver.upgraded("a")
    driver.joined("b", [0, 1], driver.epoch("b"))
    assert driver.phases()["b"] == "CompletingRebalance"
    driver.upgraded("b")
    assert {one["timer"] for one in driver.group["timers"] if one["member"] == "b"} == {"session"}


def test_what_is_revoked_is_in_the_log_of_a_conversion() -> None:
    """P1, RevocationRecorded: nothing, and the epoch before is that of the conversion."""
    driver = MixedDriver(dialect=dataclasses.replace(Dialect(), RevocationRecorded=True))
    driver.stable({"b": [0, 1]})
    driver.upgraded("a")
    (current,) = [
        one["value"]
        for one in driver.coordinator.records()
        if (one["key"]["type"], one["key"].get("memberId")) == ("ConsumerGroupCurrentMemberAssignment", "b")
    ]
    assert (current["memberEpoch"], current["previousMemberEpoch"]) == (1, 1)
    assert current["partitionsPendingRevocation"] == []


@pytest.mark.parametrize(("leaves", "kind"), [(["b"], "classic"), (["b", "c"], "consumer")])
def test_one_request_removes_the_last_consumer_and_members_of_the_classic_protocol(
    leaves: list[str], kind: str
) -> None:
    """M1, M2: an operator names the consumer by its instance id. Who is left makes it a classic group again;
    a group that is left empty stays as it is."""
    driver = MixedDriver()
    driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.upgraded("a", instanceId="i")
    entries = [("", "i"), *((name, None) for name in leaves)]
    answer = driver.send(
        "LeaveGroup", "admin", members=[{"memberId": name, "groupInstanceId": one} for name, one in entries]
    )
    assert answer is not None and {one["errorCode"] for one in answer["members"]} == {0}
    assert driver.group.get("type", "consumer") == kind
    assert [one["memberId"] for one in driver.group["members"]] == sorted({"b", "c"} - set(leaves))
