"""Mutants of the coordinator that survived all traces of `conform mutate`, each killed here."""

from __future__ import annotations

import dataclasses
from itertools import islice
from uuid import UUID

import pytest
from group_driver import GroupDriver

from coordinator import BadInput, Config, Dialect
from coordinator.consumer.model import Member, MemberMetadata
from coordinator.consumer.reconcile import narrow_revocation
from coordinator.core.clock import random_ids
from coordinator.offsets.records import OFFSET_COMMIT, offset_from_wire

FENCED, UNKNOWN, FULL, UNRELEASED = 110, 25, 81, 111
KAFKA = Dialect.named("kafka-4.2")
FOO_ID = "00000000-0000-4000-8000-0000000000f0"
METADATA = MemberMetadata(None, None, "client", "/127.0.0.1", frozenset({"foo"}), None, 5000, None)
STATIC = {"instanceId": "i1", "subscribedTopicNames": ["foo"]}


def test_a_retry_must_not_own_more_than_it_was_assigned() -> None:
    """H6, RetrySubsetOf."""
    g = GroupDriver(KAFKA)
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.topic("bar", 1)
    before = g.member("m1")["memberEpoch"]
    g.script(m1=["foo-0", "foo-1", "bar-0"])
    assert g.heartbeat("m1", owned=["foo-0", "foo-1"], subscribedTopicNames=["foo", "bar"])["errorCode"] == 0
    assert g.member("m1")["memberEpoch"] == before + 1
    for topics, error in [(["foo-0"], 0), ([], 0), (["foo-0", "foo-2"], FENCED)]:
        assert g.heartbeat("m1", before, owned=topics)["errorCode"] == error, topics
    assert g.heartbeat("m1", before)["errorCode"] == FENCED, "absent is not empty"


def test_a_member_that_is_away_does_not_retry() -> None:
    """H6, S1: the epoch before is known of one that is away, too, where it is recorded."""
    g = GroupDriver(KAFKA)
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1", **STATIC)
    before = g.member("m1")["memberEpoch"]
    g.topic("bar", 1)
    g.script(m1=["foo-0", "foo-1", "bar-0"])
    g.heartbeat("m1", owned=["foo-0", "foo-1"], instanceId="i1", subscribedTopicNames=["foo", "bar"])
    assert g.member("m1")["previousMemberEpoch"] == before
    assert g.request(memberId="m1", memberEpoch=-2, instanceId="i1")["errorCode"] == 0
    assert g.member("m1")["previousMemberEpoch"] == before
    assert g.heartbeat("m1", before, owned=[], instanceId="i1")["errorCode"] == FENCED


def test_a_member_that_released_by_itself_need_not_revoke() -> None:
    """R1, RevocationAsked "if-owned": it reports partitions, but none of its surplus."""
    g = GroupDriver(KAFKA)
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2")
    g.heartbeat("m1", owned=["foo-0"])
    assert (g.assigned("m1"), g.revoking("m1")) == (["foo-0"], [])


def test_all_partitions_of_an_unsubscribed_topic_are_revoked_and_no_others() -> None:
    """R1, RevocationRestart "unsubscribed": while it revokes one topic, it gives up another."""
    g = GroupDriver(KAFKA, topics={"foo": 2, "bar": 2})
    g.script(m1=["foo-0", "foo-1", "bar-0", "bar-1"])
    g.join("m1", "foo", "bar")
    g.script(m1=["foo-0", "bar-0", "bar-1"], m2=["foo-1"])
    g.join("m2", "foo")
    g.heartbeat("m1", owned=["foo-0", "foo-1", "bar-0", "bar-1"])
    assert g.revoking("m1") == ["foo-1"]
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.heartbeat("m1", subscribedTopicNames=["foo"])
    assert (g.assigned("m1"), g.revoking("m1")) == (["foo-0"], ["bar-0", "bar-1", "foo-1"])


def test_partitions_of_a_deleted_topic_are_not_revoked() -> None:
    """R1, RevocationRestart "unsubscribed": its subscription is unchanged, and one of its topics is
    deleted."""
    g = GroupDriver(KAFKA, topics={"foo": 2, "bar": 1})
    g.script(m1=["foo-0", "foo-1", "bar-0"])
    g.join("m1", "foo", "bar")
    g.script(m1=["foo-0", "bar-0"], m2=["foo-1"])
    g.join("m2", "foo")
    g.heartbeat("m1", owned=["foo-0", "foo-1", "bar-0"])
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.delete_topic("bar")
    g.heartbeat("m1")
    assert (g.assigned("m1"), g.revoking("m1")) == (["bar-0", "foo-0"], ["foo-1"])


@pytest.mark.parametrize(
    ("departure", "stranger", "joins_held", "leaves"),
    [
        ("joins", UNKNOWN, UNRELEASED, UNKNOWN),
        ("strangers", FULL, FULL, UNKNOWN),
        ("newcomers", FULL, UNRELEASED, UNKNOWN),
    ],
)
def test_a_full_group_refuses_in_this_order(
    departure: str, stranger: int, joins_held: int, leaves: int
) -> None:
    """H5, S2, FullGroupRefuses: of strangers, of one with an instance id in use, of one that leaves."""
    dialect = dataclasses.replace(Dialect(), FullGroupRefuses=departure)
    g = GroupDriver(dialect, config=Config(group_max_size=1))
    g.join("m1", **STATIC)
    assert g.heartbeat("m2", 1)["errorCode"] == stranger
    assert g.join("m2", **STATIC)["errorCode"] == joins_held
    assert g.leave("m2")["errorCode"] == leaves


def test_a_rejoin_is_no_retry() -> None:
    """H1: a member that is long past its first epoch joins anew."""
    g = GroupDriver()
    g.two_stable_members()
    assert g.member("m1")["previousMemberEpoch"] == 1
    g.script(m1=["foo-0"], m2=["foo-1"])
    assert g.join("m1")["errorCode"] == 0


def test_a_rejoining_member_has_acknowledged_nothing() -> None:
    """R5, RejoinOfLiveMember "keeps"."""
    g = GroupDriver(KAFKA)
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert g.member("m1")["acknowledged"]
    g.join("m1")
    assert not g.member("m1")["acknowledged"]


def test_every_join_gets_its_assignment() -> None:
    """R5, AssignmentSent "on-change": even one that says and gets nothing, and one that keeps what it has."""
    dialect = dataclasses.replace(Dialect(), AssignmentSent="on-change", RejoinOfLiveMember="keeps")
    g = GroupDriver(dialect)
    for _ in range(2):
        assert g.join("m1", "bar", topicPartitions=None)["assignment"] is not None


def test_a_full_request_gets_its_assignment() -> None:
    """R5, AssignmentSent "on-change": one that names a regular expression is full, too."""
    g = GroupDriver(KAFKA)
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1", subscribedTopicNames=None, subscribedTopicRegex="fo+")
    owned = ["foo-0", "foo-1"]
    assert g.heartbeat("m1", owned=owned)["assignment"] is None
    assert g.heartbeat("m1", owned=owned, subscribedTopicRegex="fo+")["assignment"] is not None


def test_a_revocation_that_starts_again() -> None:
    """R1, RevocationRestart "restore": of all held partitions, and of no others."""
    dialect = dataclasses.replace(Dialect(), RevocationRestart="restore")
    held, request, back, elsewhere = (("foo", index) for index in range(4))
    member = Member(METADATA, held=frozenset({held, request, back}), revoking=frozenset({request, back}))
    member.assigned = frozenset({held})
    new = narrow_revocation(dialect, member, frozenset({back, elsewhere}), frozenset())
    assert (new.assigned, new.revoking) == ({back}, {held, request})


def test_random_ids_are_different_and_do_not_end() -> None:
    """H1: as a UUID of version 4."""
    ids = [UUID(name) for name in islice(random_ids(), 3)]
    assert len(set(ids)) == 3
    assert {one.version for one in ids} == {4}


def test_the_leader_epoch_of_a_record_is_known_or_minus_one() -> None:
    """O1: a record is read as strictly as a request."""
    key = {"type": OFFSET_COMMIT, "groupId": "g", "topic": "foo", "partition": 0}
    value = {"offset": 5, "metadata": "", "commitTimestamp": 7, "topicId": FOO_ID}
    read = offset_from_wire({"key": key, "value": {**value, "leaderEpoch": -1}})
    assert read.value and read.value.leader_epoch == -1
    with pytest.raises(BadInput, match="leaderEpoch"):
        offset_from_wire({"key": key, "value": {**value, "leaderEpoch": -2}})


def test_an_empty_expression_at_a_join_is_none() -> None:
    """H7: as in a heartbeat, so that to say it again is no change."""
    g = GroupDriver()
    g.join("m1", subscribedTopicRegex="")
    before = g.epochs()
    g.heartbeat("m1", subscribedTopicRegex="")
    assert g.epochs() == before


def test_a_member_that_joins_by_an_expression_alone_subscribes() -> None:
    """E1: in a dialect where a join without a subscription is no new group epoch."""
    g = GroupDriver(KAFKA)
    g.join("m1")
    before, _ = g.epochs()
    g.join("m2", subscribedTopicNames=[], subscribedTopicRegex="ba.*")
    assert g.epochs()[0] == before + 1


def test_a_second_temporary_leave_is_recorded_where_revocations_are() -> None:
    """S1, P1, RevocationRecorded: as Kafka does, which writes the member as it is once more."""
    g = GroupDriver(KAFKA)
    g.join("m1", **STATIC)
    for _ in range(2):
        g.new_records()
        g.request(memberId="m1", memberEpoch=-2, instanceId="i1")
        assert [kind for kind, *_ in g.new_records()] == ["CurrentMemberAssignment"]
