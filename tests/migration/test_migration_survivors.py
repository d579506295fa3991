"""Mutants of groups that migrate that survived all traces of `conform mutate`, each killed here."""

from __future__ import annotations

import base64
import dataclasses

import pytest
from mixed_driver import FOO, Json, MixedDriver, subscribed

from coordinator import Config, Dialect
from coordinator.classic.embedded import Subscription, write_subscription
from coordinator.core.dialect import DIALECTS


def test_a_topic_that_is_not_there_is_none_of_the_groups() -> None:
    """M1, T1: members of the classic protocol may name topics that do not exist."""
    driver = MixedDriver()
    driver.coordinator.use_ids(["b"])
    driver.join("", client="b")
    driver.join("b", metadata=subscribed(topics=("foo", "missing")))
    driver.open_barrier()
    driver.sync("b", 1, {"b": [0, 1, 2, 3]})
    assert driver.upgraded("a")["errorCode"] == 0
    assert driver.held("b") == {0, 1, 2, 3}


def test_the_first_by_name_of_two_claims_of_one_generation_counts() -> None:
    """M1, R7: and not the smaller one."""
    driver = MixedDriver()
    generation = driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.join("b", [0, 1], generation)
    driver.join("c", [0], generation)
    assert driver.group["state"] == "CompletingRebalance"
    driver.target(a=[0, 1, 2, 3])
    driver.upgraded("a")
    assert [driver.held(name) for name in "bc"] == [{0, 1}, set()]


def test_a_new_member_in_a_generation_without_assignment_brings_nothing() -> None:
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


def test_a_member_that_moves_to_the_consumer_protocol_owes_no_sync() -> None:
    """M2: its timer is gone, and would remove a member that is alive."""
    driver = MixedDriver()
    driver.stable({"b": [0, 1], "c": [2, 3]})
    driver.target(a=[], b=[0, 1], c=[2, 3])
    driver.upgraded("a")
    driver.joined("b", [0, 1], driver.epoch("b"))
    assert driver.phases()["b"] == "CompletingRebalance"
    driver.upgraded("b")
    assert {one["timer"] for one in driver.group["timers"] if one["member"] == "b"} == {"session"}


def test_revoked_partitions_are_in_the_log_of_a_conversion() -> None:
    """P1, RevocationRecorded: none, and the epoch before is that of the conversion."""
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
    """M1, M2: an operator names the consumer by its instance id. The members that are left make it a
    classic group again; a group that is left empty stays as it is."""
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


JOIN: Json = {
    "memberId": "",
    "groupInstanceId": None,
    "sessionTimeoutMs": 10_000,
    "rebalanceTimeoutMs": 60_000,
    "protocolType": "consumer",
    "protocols": [{"name": "range", "metadata": subscribed()}],
}


def mixed(driver: MixedDriver | None = None, **more: list[int]) -> MixedDriver:
    """The group of b, of the classic protocol, and of a, of the consumer protocol, of which b knows."""
    driver = driver or MixedDriver()
    driver.stable(more or {"b": [0, 1, 2, 3]}, static=more)
    driver.upgraded("a")
    return driver


def refused(driver: MixedDriver, member: str, instance: str | None = None, **more: object) -> int:
    """The error of a JoinGroup."""
    answer = driver.join(member, client="z", instance=instance, **more)  # type: ignore[arg-type]
    assert answer is not None
    return int(answer["errorCode"])


def test_an_instance_id_must_belong_to_its_member() -> None:
    """M2, S2: unknown where no member has it, fenced where another has; none joins by the way."""
    driver = mixed(None, B=[0, 1, 2, 3])
    assert refused(driver, "x", "nobodys") == 25
    assert refused(driver, "x", "b") == 82
    assert [one["memberId"] for one in driver.group["members"]] == ["B", "a"]


def test_whose_place_is_taken_need_not_share_a_protocol() -> None:
    """M2, S1: a static member's next process may have other protocols."""
    driver = mixed(None, B=[0, 1, 2, 3])
    driver.coordinator.use_ids(["c"])
    assert refused(driver, "", "b", protocols=("sticky",)) == 0


def test_a_full_group_takes_nobody() -> None:
    """H5: not one of the classic protocol either."""
    driver = mixed(MixedDriver(config=Config(group_max_size=2)))
    assert refused(driver, "c") == 81
    assert refused(driver, "b") == 0  # who is in it may join again without a generation


def test_a_join_sees_that_a_topic_has_grown() -> None:
    """E1 with MetadataChange "next-heartbeat": a JoinGroup has the same effect."""
    driver = mixed(MixedDriver(dialect=dataclasses.replace(Dialect(), MetadataChange="next-heartbeat")))
    generation = driver.joined("b", [], driver.epoch("b"))
    driver.synced("b", driver.joined("b", [], generation))
    epoch = driver.group["groupEpoch"]
    driver.joined("b", [], generation)
    assert driver.group["groupEpoch"] == epoch
    driver.coordinator.upsert_topic("foo", FOO, 6)
    assert driver.group["groupEpoch"] == epoch
    driver.joined("b", [], generation)  # which repeats its earlier fields
    assert driver.group["groupEpoch"] == epoch + 1
    driver.coordinator.restart()
    assert driver.group["groupEpoch"] == epoch + 1


def test_a_sync_names_the_protocol_of_consumers() -> None:
    """M2, S2: and an instance id that is its own."""
    driver = mixed()
    generation = driver.joined("b", [], driver.epoch("b"))
    body: Json = {"memberId": "b", "groupInstanceId": None, "generationId": generation, "assignments": []}
    answer = driver.send("SyncGroup", "b", protocolType="connect", protocolName="range", **body)
    assert answer is not None and answer["errorCode"] == 23
    body["groupInstanceId"] = "nobodys"
    answer = driver.send("SyncGroup", "b", protocolType="consumer", protocolName="range", **body)
    assert answer is not None and answer["errorCode"] == 25


def test_a_partition_that_a_topic_does_not_have_is_nobodys() -> None:
    """M1, T2: a report that claims it changes nothing; the rack is the member's own."""
    driver = MixedDriver()
    generation = driver.stable({"b": [0, 1, 2, 3]})
    owned = frozenset({("foo", 3), ("foo", 4), ("missing", 0)})
    content = write_subscription(Subscription(frozenset({"foo"}), None, owned, generation, "r1"), 3)
    driver.join("b", metadata=base64.b64encode(content).decode())
    driver.upgraded("a")
    assert (driver.held("b"), driver.member("b")["rackId"]) == ({3}, "r1")


@pytest.mark.parametrize(
    ("kind", "protocols"), [("", [{"name": "range", "metadata": subscribed()}]), ("consumer", [])]
)
def test_a_join_that_names_no_protocol_makes_no_classic_group(kind: str, protocols: list[Json]) -> None:
    """M1: an empty consumer group stays a consumer group."""
    driver = mixed()
    driver.leave("b")
    driver.heartbeat("a", -1)
    answer = driver.send("JoinGroup", "z", **{**JOIN, "protocolType": kind, "protocols": protocols})
    assert answer is not None and answer["errorCode"] == 23
    assert "type" not in driver.group


def test_an_absent_member_makes_no_classic_group() -> None:
    """M1, M2: a client with a member id was a member; an empty group has none."""
    driver = mixed()
    driver.leave("b")
    driver.heartbeat("a", -1)
    assert refused(driver, "b") == 25
    assert "type" not in driver.group


def test_a_member_may_join_again_with_another_protocol() -> None:
    """M2: it need have no protocol in common with its own earlier ones."""
    driver = mixed()
    assert refused(driver, "b", protocols=("sticky",)) == 0


def test_a_wrong_request_is_refused_in_a_mixed_group_too() -> None:
    """M2: a new id is made only for a member without one."""
    answer = mixed().send("JoinGroup", "z", **{**JOIN, "sessionTimeoutMs": 1})
    assert answer is not None and answer["errorCode"] == 26


def test_an_id_is_made_for_who_has_none() -> None:
    """M2: and for nobody else."""
    driver = mixed()
    driver.coordinator.use_ids(["c", "d"])
    driver.joined("b", [], driver.epoch("b"))
    answer = driver.join("", client="z")
    assert answer is not None and (answer["errorCode"], answer["memberId"]) == (79, "c")


def test_kafka_knows_no_assignor_of_a_client() -> None:
    """M4 belongs only to KIP-848's text."""
    driver = mixed(MixedDriver(dialect=DIALECTS["kafka-4.2"]))
    assert not driver.member("b").get("clientAssignors")
    assert mixed().member("b")["clientAssignors"]


def test_an_empty_instance_id_is_none() -> None:
    """M1, M2, S1, H3: no member gets one, as its record would have none. A request without instance id
    neither removes a static member nor joins in its place, where that member's protocols would not count."""
    driver = MixedDriver()
    driver.stable({"b": [0, 1, 2, 3]})
    driver.upgraded("a")
    before = driver.group, driver.coordinator.end
    assert (driver.join("", instance="", client="e") or {})["errorCode"] == 42
    assert (driver.group, driver.coordinator.end) == before
    driver.coordinator.use_ids(["e", "f"])
    driver.joined("", instance="i", client="e")
    driver.leave("b")
    for instance in (None, ""):
        assert driver.leave("", instance=instance)["members"][0]["errorCode"] == 25
    driver.join("", client="f")
    assert (driver.join("f", protocols=["roundrobin"]) or {})["errorCode"] == 23
    assert {one["memberId"] for one in driver.group["members"]} == {"a", "e"}
    assert driver.leave("", instance="i")["members"][0]["errorCode"] == 0
    assert {one["memberId"] for one in driver.group["members"]} == {"a"}
