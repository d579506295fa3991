"""PartitionEpochs (O2): the accepted commits with an older member epoch."""

from __future__ import annotations

import dataclasses
from typing import Final

from group_driver import IDS, GroupDriver, partition_names
from offset_driver import Committer, commit_body, errors, send

from coordinator import Dialect, ErrorCode

KAFKA: Final = dataclasses.replace(Dialect(), PartitionEpochs=True, RevocationRecorded=True)
CURRENT: Final = "CurrentMemberAssignment"
STALE: Final = int(ErrorCode.STALE_MEMBER_EPOCH)


def test_an_older_epoch_since_which_all_is_held() -> None:
    """A commit with an older epoch since which all its partitions are held, and after a fail-over."""
    for g, older in ((GroupDriver(), STALE), (GroupDriver(KAFKA), 0)):
        offsets = Committer(g)
        g.script(m1=["foo-0"])
        g.join("m1")
        g.script(m1=["foo-0", "foo-1"], m2=[])
        g.join("m2")
        g.heartbeat("m1", owned=["foo-0"])
        assert (g.member("m1")["memberEpoch"], g.assigned("m1")) == (2, ["foo-0", "foo-1"])
        for _ in range(2):
            assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": older}
            assert offsets.commit("m1", 1, {"foo-0": 5, "foo-1": 5}) == {"foo-0": STALE, "foo-1": STALE}
            for epoch in (0, 3):
                assert offsets.commit("m1", epoch, {"foo-0": 5}) == {"foo-0": STALE}
            assert offsets.commit("m1", 2, {"foo-0": 5, "foo-1": 5}) == {"foo-0": 0, "foo-1": 0}
            g.coordinator.restart()


def test_partitions_given_up_and_given_again_at_once_are_new() -> None:
    """A revoked partition that its member acknowledges, while the target has it back, is newly given."""
    kafka = GroupDriver(KAFKA)
    kafka.script(m1=["foo-0", "foo-1"])
    kafka.join("m1")
    kafka.script(m1=["foo-0"], m2=["foo-1"])
    kafka.join("m2")
    kafka.heartbeat("m1", owned=["foo-0", "foo-1"])
    offsets = Committer(kafka)
    kafka.script(m1=["foo-0", "foo-1"])
    kafka.leave("m2")
    kafka.heartbeat("m1", owned=["foo-0"])
    assert (kafka.member("m1")["memberEpoch"], kafka.assigned("m1")) == (3, ["foo-0", "foo-1"])
    assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": 0}
    assert offsets.commit("m1", 1, {"foo-1": 5}) == {"foo-1": STALE}


def test_invalid_requests_need_no_epoch() -> None:
    """Nothing of it is written, so no offset is overwritten."""
    kafka = GroupDriver(KAFKA)
    kafka.script(m1=["foo-0"])
    kafka.join("m1")
    kafka.script(m1=["foo-0"], m2=["foo-1"])
    kafka.join("m2")
    kafka.heartbeat("m1", owned=["foo-0"])
    body = commit_body("m1", 1, {"foo-0": 5, "foo-1": 5})
    body["topics"][1]["partitions"][0]["committedMetadata"] = "m" * 4097
    too_large = int(ErrorCode.OFFSET_METADATA_TOO_LARGE)
    assert errors(send(kafka.coordinator, body)) == {"foo-0": 0, "foo-1": too_large}


def test_a_returning_static_member_gets_only_its_own_partitions() -> None:
    """The member has held the partitions since 0: a commit with any older epoch is accepted."""
    kafka = GroupDriver(KAFKA)
    kafka.script(m1=["foo-0"])
    kafka.join("m1", instanceId="i1")
    kafka.script(m1=["foo-0"], m2=["foo-1"])
    kafka.join("m2")
    kafka.heartbeat("m1", owned=["foo-0"])
    kafka.request(memberId="m1", memberEpoch=-2, instanceId="i1")
    assert Committer(kafka).commit("m1", 1, {"foo-0": 5}) == {"foo-0": STALE}
    kafka.join("m3", instanceId="i1")
    assert (kafka.member("m3")["memberEpoch"], kafka.assigned("m3")) == (2, ["foo-0"])
    for _ in range(2):
        assert Committer(kafka).commit("m3", 0, {"foo-0": 5}) == {"foo-0": 0}
        kafka.coordinator.restart()


def epochs_of(g: GroupDriver) -> dict[int, list[str]]:
    """AssignmentEpochs of m1's last record."""
    *_, value = (value for kind, member, value in g.new_records() if (kind, member) == (CURRENT, "m1"))
    assert value is not None
    given = value.get("assignmentEpochs", [])
    return {entry["assignmentEpoch"]: partition_names(entry["topicPartitions"]) for entry in given}


def test_partitions_to_revoke_keep_their_epoch_until_they_are_revoked() -> None:
    """Also while more partitions are added (RevocationRestart); then they have no epoch any more, and no
    commit of them is accepted."""
    g = GroupDriver(dataclasses.replace(KAFKA, RevocationRestart="unsubscribed"))
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.topic("bar", 1)
    g.script(m1=["foo-0", "foo-1", "bar-0"])
    g.heartbeat("m1", owned=["foo-0", "foo-1"], subscribedTopicNames=["foo", "bar"])
    assert epochs_of(g) == {1: ["foo-0", "foo-1"], 2: ["bar-0"]}
    g.script(m1=["foo-0", "bar-0"], m2=["foo-1"])
    g.join("m2")
    g.heartbeat("m1", owned=["foo-0", "foo-1", "bar-0"])
    assert g.revoking("m1") == ["foo-1"]
    assert epochs_of(g) == {1: ["foo-0", "foo-1"], 2: ["bar-0"]}
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.heartbeat("m1", owned=["foo-0", "foo-1", "bar-0"], subscribedTopicNames=["foo"])
    assert g.revoking("m1") == ["bar-0", "foo-1"]
    assert epochs_of(g) == {1: ["foo-0", "foo-1"], 2: ["bar-0"]}
    assert Committer(g).commit("m1", 1, {"foo-1": 5}) == {"foo-1": 0}
    g.heartbeat("m1", owned=["foo-0"])
    assert epochs_of(g) == {1: ["foo-0"]}
    assert Committer(g).commit("m1", 1, {"foo-1": 5}) == {"foo-1": STALE}


def test_partitions_that_a_member_released_by_itself_are_free() -> None:
    """RevocationAsked "if-owned"."""
    g = GroupDriver(dataclasses.replace(KAFKA, RevocationAsked="if-owned"))
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.script(m1=["foo-0"], m2=["foo-1"])
    g.join("m2")
    g.heartbeat("m1", owned=["foo-0"])
    assert (g.member("m1")["memberEpoch"], g.assigned("m1")) == (2, ["foo-0"])
    assert epochs_of(g) == {1: ["foo-0"]}
    assert Committer(g).commit("m1", 1, {"foo-1": 5}) == {"foo-1": STALE}


def test_partitions_given_later_at_the_same_epoch() -> None:
    """Partitions come one after the other, as another member gives them up."""
    g = GroupDriver(KAFKA, topics={"foo": 2})
    g.script(m2=["foo-0"])
    g.join("m2")
    g.script(m2=["foo-0"], m3=["foo-1"])
    g.join("m3")
    g.heartbeat("m2", owned=["foo-0"])
    g.script(m1=["foo-0", "foo-1"], m2=[], m3=[])
    g.join("m1")
    for releases, partition in (("m2", "foo-0"), ("m3", "foo-1")):
        g.heartbeat(releases, owned=[partition])
        g.heartbeat(releases, owned=[])
        g.heartbeat("m1", owned=[])
    assert epochs_of(g) == {3: ["foo-0", "foo-1"]}


def test_the_epochs_of_partitions_are_loaded() -> None:
    """P2."""
    g = GroupDriver(KAFKA)
    g.script(m1=["foo-0"])
    g.join("m1")
    g.script(m1=["foo-0", "foo-1"], m2=[])
    g.join("m2")
    g.heartbeat("m1", owned=["foo-0"])
    topics = [{"name": "foo", "id": IDS["foo"], "partitions": 2}]
    g.coordinator.load(g.coordinator.records(), topics, g.coordinator.volatile())
    assert Committer(g).commit("m1", 1, {"foo-0": 5}) == {"foo-0": 0}
    assert Committer(g).commit("m1", 1, {"foo-1": 5}) == {"foo-1": STALE}


def test_one_that_is_away_commits_nothing_with_the_epoch_that_says_so() -> None:
    """S1, without AwayCommits: nor does it get errors of single partitions; a member without any has no
    epochs."""
    g = GroupDriver(KAFKA)
    g.script(m1=[])
    g.join("m1", instanceId="i1")
    g.request(memberId="m1", memberEpoch=-2, instanceId="i1")
    assert epochs_of(g) == {}
    g.coordinator.restart()
    g.delete_topic("foo")
    assert Committer(g).commit("m1", -2, {"foo-0": 5}) == {"foo-0": STALE}
