"""OffsetCommit and OffsetFetch: O1, O2, O3, O4, T2, P3, P4."""

from __future__ import annotations

from typing import Any

import pytest
from group_driver import CLIENT, IDS, GroupDriver, error
from offset_driver import Committer, commit_body, errors, fetch_body, fetched, joined, send, state

from coordinator import Config, Coordinator, ErrorCode

FOO_ID = IDS["foo"]
UNKNOWN_MEMBER, STALE = ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.STALE_MEMBER_EPOCH


@pytest.mark.parametrize("by_name", [False, True])
def test_commit_then_fetch_by_id_and_by_name(by_name: bool) -> None:
    _, offsets = joined()
    assert offsets.fetch("foo-0", by_name=by_name) == {"foo-0": -1}
    assert offsets.commit("m1", 1, {"foo-0": 5, "foo-1": 6}, by_name) == {"foo-0": 0, "foo-1": 0}
    for other in (False, True):
        assert offsets.fetch("foo-1", "foo-0", by_name=other) == {"foo-1": 6, "foo-0": 5}
    assert offsets.commit("m1", 1, {"foo-0": 2}, by_name) == {"foo-0": 0}
    assert offsets.fetch() == {"foo-0": 2, "foo-1": 6}


def test_fields_of_the_record_and_of_both_responses() -> None:
    g, _ = joined()
    g.coordinator.advance(7)
    body = commit_body("m1", 1, {"foo-0": 5}, committedLeaderEpoch=3, committedMetadata="né")
    named = {"name": None, "topicId": FOO_ID}
    assert send(g.coordinator, body) == {
        "throttleTimeMs": 0,
        "topics": [{**named, "partitions": [{"partitionIndex": 0, "errorCode": 0}]}],
    }
    (record,) = g.coordinator.records(g.coordinator.end - 1)
    assert record["key"] == {"type": "OffsetCommit", "groupId": "g", "topic": "foo", "partition": 0}
    value = {"offset": 5, "leaderEpoch": 3, "metadata": "né", "commitTimestamp": 7, "topicId": FOO_ID}
    assert record["value"] == value
    partition = {"partitionIndex": 0, "committedOffset": 5, "committedLeaderEpoch": 3, "metadata": "né"}
    answer = {"topics": [{**named, "partitions": [{**partition, "errorCode": 0}]}], "errorCode": 0}
    response = g.coordinator.request("OffsetFetch", 9, CLIENT, fetch_body(["foo-0"]))
    assert response == {"throttleTimeMs": 0, "groups": [{"groupId": "g", **answer}]}
    everything = g.coordinator.request("OffsetFetch", 9, CLIENT, fetch_body(None))["groups"][0]["topics"]
    assert everything == [{**answer["topics"][0], "name": "foo"}]


@pytest.mark.parametrize(
    ("member", "epoch", "expected"),
    [
        ("m1", 2, 0),
        ("m1", 1, STALE),
        ("m1", 3, STALE),
        ("m1", 0, STALE),
        ("m1", -1, STALE),
        ("m1", -2, STALE),
        ("nobody", 2, UNKNOWN_MEMBER),
        ("nobody", -1, UNKNOWN_MEMBER),
        ("", -1, UNKNOWN_MEMBER),
        ("", 2, UNKNOWN_MEMBER),
    ],
)
def test_commit_is_fenced_by_member_id_and_epoch(member: str, epoch: int, expected: int) -> None:
    """O2; a fence leaves everything unchanged, the member included."""
    g = GroupDriver()
    g.two_stable_members()
    before = state(g.coordinator)
    assert Committer(g).commit(member, epoch, {"foo-0": 5}) == {"foo-0": expected}
    assert (state(g.coordinator) == before) == (expected != 0)
    assert error(g.heartbeat("m1", 2)) == 0


@pytest.mark.parametrize(
    ("member", "epoch", "expected"),
    [
        ("m1", 2, {"foo-0": 5}),
        ("m1", 1, STALE),
        ("m1", -1, STALE),
        ("nobody", 2, UNKNOWN_MEMBER),
        ("nobody", -1, UNKNOWN_MEMBER),
        ("", -1, {"foo-0": 5}),
        ("", 2, UNKNOWN_MEMBER),
        ("", 0, UNKNOWN_MEMBER),
        ("", -2, UNKNOWN_MEMBER),
    ],
)
def test_fetch_is_fenced_if_it_names_a_member_or_an_epoch(member: str, epoch: int, expected: Any) -> None:
    """O2, O4: both are verified; a client that names neither is an administrator."""
    g = GroupDriver()
    g.two_stable_members()
    offsets = Committer(g)
    offsets.commit("m1", 2, {"foo-0": 5})
    before = state(g.coordinator)
    assert offsets.fetch("foo-0", member=member, epoch=epoch) == expected
    assert state(g.coordinator) == before


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [("kip-848", UNKNOWN_MEMBER), ("kafka-4.2", ErrorCode.GROUP_ID_NOT_FOUND)],
)
def test_member_of_a_group_that_does_not_exist(dialect: str, expected: int) -> None:
    g = GroupDriver(dialect)
    offsets = Committer(g)
    assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": expected}
    assert offsets.fetch("foo-0", member="m1", epoch=1) == expected
    assert offsets.fetch("foo-0") == {"foo-0": -1}
    assert offsets.fetch() == {}
    assert g.coordinator.end == 0


def test_commit_is_no_heartbeat() -> None:
    """H8: only heartbeats keep the session."""
    g, offsets = joined()
    before = g.group()
    g.coordinator.advance(44_999)
    assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": 0}
    assert g.group() == before
    assert [timer["member"] for timer in g.coordinator.advance(1)] == ["m1"]
    assert offsets.commit("m1", 1, {"foo-0": 6}) == {"foo-0": UNKNOWN_MEMBER}
    assert offsets.fetch() == {"foo-0": 5}


def test_clean_hand_over_goes_on_where_the_owner_stopped() -> None:
    """O3: m1 commits while it revokes and then acknowledges; m2 starts exactly there."""
    g = GroupDriver()
    g.m1_revoking()
    offsets = Committer(g)
    assert offsets.commit("m1", 1, {"foo-1": 10}) == {"foo-1": 0}
    g.heartbeat("m1", owned=["foo-0"])
    g.heartbeat("m2", owned=[])
    assert g.assigned("m2") == ["foo-1"]
    assert offsets.fetch("foo-1", member="m2", epoch=2) == {"foo-1": 10}


def test_superseded_owner_cannot_overwrite_its_successor() -> None:
    """O2: a late commit of m1, from before its acknowledgement, after m2's."""
    g = GroupDriver()
    g.m1_revoking()
    offsets = Committer(g)
    g.heartbeat("m1", owned=["foo-0"])
    g.heartbeat("m2", owned=[])
    offsets.commit("m2", 2, {"foo-1": 20})
    assert offsets.commit("m1", 1, {"foo-1": 10}) == {"foo-1": STALE}
    assert offsets.fetch() == {"foo-1": 20}


@pytest.mark.parametrize("way", ["expired", "fenced", "left"])
def test_zombie_cannot_overwrite_its_successor(way: str) -> None:
    """R7's exemption is harmless: a removed member commits nothing, though it still owns partitions."""
    g = GroupDriver()
    g.two_stable_members()
    offsets = Committer(g)
    if way == "expired":
        g.coordinator.fire("session", "g", "m1")
    elif way == "fenced":
        g.heartbeat("m1", 7)
    else:
        g.leave("m1")
    g.heartbeat("m2", owned=["foo-1"])
    assert "foo-0" in g.assigned("m2")
    assert offsets.commit("m2", 3, {"foo-0": 20}) == {"foo-0": 0}
    assert offsets.commit("m1", 2, {"foo-0": 10}) == {"foo-0": UNKNOWN_MEMBER}
    assert offsets.fetch() == {"foo-0": 20}


def test_stale_member_commits_with_the_epoch_of_its_next_heartbeat() -> None:
    """O4."""
    g, offsets = joined()
    g.script(m1=["foo-0", "foo-1"], m2=[])
    g.join("m2")
    response = g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": STALE}
    assert offsets.commit("m1", response["memberEpoch"], {"foo-0": 5}) == {"foo-0": 0}


def test_rejoined_member_is_fenced_at_the_epoch_of_its_former_self() -> None:
    g, offsets = joined()
    g.join("m1")
    assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": STALE}
    assert offsets.commit("m1", 2, {"foo-0": 5}) == {"foo-0": 0}


@pytest.mark.parametrize("instance", [None, "i1"])
def test_manually_assigned_consumer_commits_without_a_group(instance: str | None) -> None:
    """Real bug 59 (KAFKA-14201): with an instance id but no member id, too. No group is made by it."""
    g = GroupDriver()
    body = {**commit_body("", -1, {"foo-0": 5}), "groupInstanceId": instance}
    assert errors(send(g.coordinator, body)) == {"foo-0": 0}
    assert (g.group(), Committer(g).fetch()) == (GroupDriver().group(), {"foo-0": 5})
    assert g.coordinator.volatile() == GroupDriver().coordinator.volatile()


@pytest.mark.parametrize("by_name", [False, True])
def test_a_topic_of_a_response_is_named_as_the_request_named_it(by_name: bool) -> None:
    """The other field is absent: a null name, or the id of zeros."""
    g, _ = joined()
    zeros = "00000000-0000-0000-0000-000000000000"
    expected = {"name": "foo", "topicId": zeros} if by_name else {"name": None, "topicId": FOO_ID}
    committed = send(g.coordinator, commit_body("m1", 1, {"foo-0": 5}, by_name))
    refused = send(g.coordinator, commit_body("m1", 9, {"foo-0": 5}, by_name))
    (result,) = g.coordinator.request("OffsetFetch", 9, CLIENT, fetch_body(["foo-0"], by_name=by_name))[
        "groups"
    ]
    for (topic,) in (committed["topics"], refused["topics"], result["topics"]):
        assert {name: topic[name] for name in expected} == expected


@pytest.mark.parametrize(("member", "epoch"), [("m1", -1), ("", 1), ("m1", 1), ("", -2)])
def test_a_commit_with_a_member_or_an_epoch_is_not_anonymous(member: str, epoch: int) -> None:
    """O4, O2: neither for a missing group nor for one without members."""
    g = GroupDriver()
    assert Committer(g).commit(member, epoch, {"foo-0": 5}) == {"foo-0": UNKNOWN_MEMBER}
    g.join("m2")
    g.leave("m2")
    assert Committer(g).commit(member, epoch, {"foo-0": 5}) == {"foo-0": UNKNOWN_MEMBER}


@pytest.mark.parametrize(("offset", "leader_epoch"), [(0, -1), (0, 0), (2**63 - 1, 2**31 - 1)])
def test_the_least_and_the_largest_that_is_committed(offset: int, leader_epoch: int) -> None:
    g, offsets = joined()
    assert offsets.commit("m1", 1, {"foo-0": offset}, committedLeaderEpoch=leader_epoch) == {"foo-0": 0}
    (answer,) = g.coordinator.request("OffsetFetch", 9, CLIENT, fetch_body(["foo-0"]))["groups"]
    (partition,) = answer["topics"][0]["partitions"]
    assert (partition["committedOffset"], partition["committedLeaderEpoch"]) == (offset, leader_epoch)


def test_a_stale_epoch_is_reported_before_other_errors() -> None:
    """O2 comes before O1's partitions, where a dialect has no PartitionEpochs."""
    g = GroupDriver()
    g.two_stable_members()
    assert Committer(g).commit("m1", 1, {"foo-9": 5}) == {"foo-9": STALE}
    assert Committer(g).commit("m1", 2, {"foo-9": 5}) == {"foo-9": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def test_a_partition_that_the_topic_lacks_is_not_fetched() -> None:
    """T2: even if the log knows an offset of it."""
    g, offsets = joined()
    offsets.commit("m1", 1, {"foo-1": 5})
    g.coordinator.load(g.coordinator.records(), [{"name": "foo", "id": FOO_ID, "partitions": 1}], {})
    (answer,) = g.coordinator.request("OffsetFetch", 9, CLIENT, fetch_body(["foo-1"]))["groups"]
    (partition,) = answer["topics"][0]["partitions"]
    assert (partition["errorCode"], partition["committedOffset"]) == (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        -1,
    )


def test_group_without_members_takes_commits_of_nobody_only() -> None:
    g, offsets = joined()
    g.leave("m1")
    assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": UNKNOWN_MEMBER}
    assert offsets.commit("", -1, {"foo-0": 6}) == {"foo-0": 0}
    g.join("m1")
    assert offsets.fetch("foo-0", member="m1", epoch=3) == {"foo-0": 6}


def test_offsets_of_a_recreated_topic_are_gone() -> None:
    """T2, O1: by the old id the topic is unknown, by its name and by the new id nothing is committed."""
    g, offsets = joined()
    offsets.commit("m1", 1, {"foo-0": 5})
    g.new_records()
    g.coordinator.upsert_topic("foo", IDS["foo again"], 2)
    kinds = [(kind, value is None) for kind, _, value in g.new_records()]
    assert kinds[0] == ("OffsetCommit", True)
    for body in (fetch_body(["foo again-0"]), fetch_body(["foo-0"], by_name=True)):
        assert list(fetched(g.coordinator, body)["g"].values()) == [-1]  # type: ignore[union-attr]
    response = g.coordinator.request("OffsetFetch", 9, CLIENT, fetch_body(["foo-0"]))
    (partition,) = response["groups"][0]["topics"][0]["partitions"]
    assert (partition["errorCode"], partition["committedOffset"]) == (ErrorCode.UNKNOWN_TOPIC_ID, -1)
    epoch = g.heartbeat("m1", owned=["foo-0", "foo-1"])["memberEpoch"]
    assert offsets.commit("m1", epoch, {"foo-0": 9}) == {"foo-0": ErrorCode.UNKNOWN_TOPIC_ID}
    assert offsets.fetch() == {}


def test_offsets_of_the_old_id_do_not_apply_even_where_their_tombstones_are_missing() -> None:
    """T2, P2: the old coordinator died before it could write them; the new one does."""
    g, offsets = joined()
    offsets.commit("m1", 1, {"foo-0": 5})
    records = g.coordinator.records()
    topics = [{"name": "foo", "id": IDS["foo again"], "partitions": 2}]
    g.coordinator.load(records, topics, {})
    assert offsets.fetch() == {}
    assert offsets.fetch("foo-0", by_name=True) == {"foo-0": -1}
    for partitions in (1, 2):
        g.coordinator.upsert_topic("bar", IDS["bar"], partitions)
    noticed = {record["key"]["type"] for record in g.coordinator.records(len(records))}
    assert noticed and "OffsetCommit" not in noticed, "nothing was deleted, so no offsets are read"
    end = g.coordinator.end
    g.coordinator.restart()
    assert g.coordinator.records(end)[0] == {
        "offset": end,
        "key": records[-1]["key"],
        "value": None,
    }


def test_offsets_of_a_deleted_topic_are_deleted() -> None:
    """Real bug 55 (KAFKA-16168); those of a group that never had a member, too."""
    g, offsets = joined(topics={"foo": 2, "bar": 1})
    offsets.commit("m1", 1, {"foo-1": 5, "bar-0": 6, "foo-0": 7})
    simple = {**commit_body("", -1, {"foo-0": 8}), "groupId": "simple"}
    send(g.coordinator, simple)
    end = g.coordinator.end
    g.delete_topic("foo")
    records = g.coordinator.records(end)
    assert [(record["key"]["groupId"], record["key"].get("partition")) for record in records[:2]] == [
        ("g", 0),
        ("g", 1),
    ]
    assert (records[-1]["key"]["groupId"], records[-1]["value"]) == ("simple", None)
    assert offsets.fetch() == {"bar-0": 6}
    g.topic("foo", 2)
    assert offsets.fetch("foo-0", "foo-1") == {"foo-0": -1, "foo-1": -1}


def test_deleted_group_leaves_no_offsets() -> None:
    """E5 DEAD: their tombstones come before the group's."""
    g, offsets = joined()
    offsets.commit("m1", 1, {"foo-1": 5, "foo-0": 6})
    g.leave("m1")
    g.new_records()
    g.coordinator.fire("group", "g")
    kinds = [kind for kind, _, _ in g.new_records()]
    assert kinds == ["OffsetCommit"] * 2 + ["TargetAssignmentMetadata", "PartitionMetadata", "Metadata"]
    assert offsets.fetch() == {}


def test_too_large_metadata_spoils_no_other_partition() -> None:
    """Real bug 53 (KAFKA-16371): nothing of the refused partition is left, not for a stable fetch either."""
    g, offsets = joined()
    body = commit_body("m1", 1, {"foo-0": 5, "foo-1": 6})
    body["topics"][1]["partitions"][0]["committedMetadata"] = "é" * 2049
    too_large = ErrorCode.OFFSET_METADATA_TOO_LARGE
    assert errors(send(g.coordinator, body)) == {"foo-0": 0, "foo-1": too_large}
    assert offsets.fetch("foo-0", "foo-1") == {"foo-0": 5, "foo-1": -1}
    body["topics"][1]["partitions"][0]["committedMetadata"] = "é" * 2048
    assert errors(send(g.coordinator, body)) == {"foo-0": 0, "foo-1": 0}


COMMIT = commit_body("m1", 1, {"foo-0": 9})
FETCH = fetch_body(["foo-0"])


def test_rights_and_state_of_the_coordinator_come_first() -> None:
    """H5, D5: a commit needs READ, a fetch DESCRIBE."""
    request = []

    def authorizer(principal: str, operation: str, group_id: str) -> bool:
        request.append((principal, operation, group_id))
        return False

    coordinator = Coordinator(authorizer=authorizer)
    refused = ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert set(errors(send(coordinator, COMMIT)).values()) == {refused}
    assert fetched(coordinator, FETCH) == {"g": refused}
    assert request == [("User:alice", "READ", "g"), ("User:alice", "DESCRIBE", "g")]
    g, offsets = joined()
    g.coordinator.set_state("loading")
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    assert (offsets.commit("m1", 1, {"foo-0": 5}), offsets.fetch()) == ({"foo-0": loading}, loading)


def test_a_refused_append_is_an_error_at_every_partition_and_leaves_nothing() -> None:
    """P3."""
    g, offsets = joined()
    before = state(g.coordinator)
    g.coordinator.fail_appends(True)
    refused = ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert offsets.commit("m1", 1, {"foo-0": 5, "foo-1": 6}) == {"foo-0": refused, "foo-1": refused}
    assert state(g.coordinator) == before
    g.coordinator.fail_appends(False)
    assert offsets.commit("m1", 1, {"foo-0": 5}) == {"foo-0": 0}


def test_batch_of_more_than_the_limit_is_refused_whole() -> None:
    """P4: to the byte, as Kafka's log has it: a header of 61 bytes, and nine records of 60."""
    body = commit_body("", -1, {f"foo-{index}": 5 for index in range(9)})

    def codes(limit: int) -> set[int]:
        g = GroupDriver(topics={"foo": 9}, config=Config(max_batch_bytes=limit))
        results = set(errors(send(g.coordinator, body)).values())
        assert g.coordinator.end == (9 if results == {0} else 0)
        return results

    size = 61 + 9 * (1 + 4 + 14 + 1 + 40 + 1)
    assert codes(size) == {0}
    assert codes(size - 1) == {ErrorCode.INVALID_COMMIT_OFFSET_SIZE}
    assert codes(size + 1) == {0}


def test_heartbeat_whose_batch_is_too_large_is_refused_whole() -> None:
    """P4: the answer names the way out; a smaller request still works."""
    g = GroupDriver(config=Config(max_batch_bytes=1200))
    before = state(g.coordinator)
    response = g.join("m" * 400)
    assert response["errorCode"] == ErrorCode.UNKNOWN_SERVER_ERROR
    assert "more than the 1200 that message.max.bytes allows" in response["errorMessage"]
    assert state(g.coordinator) == before
    g.script(m=["foo-0"])
    assert error(g.join("m")) == 0


@pytest.mark.parametrize("way", ["topic", "group"])
def test_deletion_of_more_offsets_than_a_batch_holds_takes_several(way: str) -> None:
    """P4: a topic or a group can always be deleted."""
    g = GroupDriver(topics={"foo": 60}, config=Config(max_batch_bytes=4000))
    for start in range(0, 60, 10):
        send(g.coordinator, commit_body("", -1, {f"foo-{index}": 1 for index in range(start, start + 10)}))
    if way == "topic":
        g.delete_topic("foo")
    else:
        g.join("m1")
        g.leave("m1")
        assert g.coordinator.fire("group", "g")
    assert Committer(g).fetch() == {}
    tombstones = [record for record in g.coordinator.records() if record["value"] is None]
    assert len([record for record in tombstones if record["key"]["type"] == "OffsetCommit"]) == 60


def eventful() -> GroupDriver:
    """A log with commits, a recreated topic, a deleted group that comes again, and a deleted topic."""
    g, offsets = joined(topics={"foo": 2, "bar": 1})
    offsets.commit("m1", 1, {"foo-0": 1, "foo-1": 2})
    offsets.commit("m1", 1, {"foo-0": 3})
    g.coordinator.upsert_topic("foo", IDS["foo again"], 1)
    offsets.commit("m1", 2, {"foo again-0": 4})
    g.leave("m1")
    g.coordinator.fire("group", "g")
    offsets.commit("", -1, {"foo again-0": 5, "bar-0": 6})
    g.delete_topic("bar")
    g.join("m1", "bar")
    return g


def loaded_state(source: GroupDriver, records: list[dict[str, Any]]) -> tuple[Any, ...]:
    topics = [{"name": "foo", "id": IDS["foo again"], "partitions": 1}]
    other = Coordinator()
    other.load(records, topics, {})
    return state(other)[1:]


def test_fail_over_keeps_offsets_and_fences_as_before() -> None:
    """P2, P3."""
    g = eventful()
    epoch = g.member("m1")["memberEpoch"]
    offsets = Committer(g)
    before = g.coordinator.records(), offsets.fetch()
    g.coordinator.restart()
    assert (g.coordinator.records(), offsets.fetch()) == before
    assert offsets.commit("m1", epoch - 1, {"foo again-0": 1}) == {"foo again-0": STALE}
    assert offsets.commit("m1", epoch, {"foo again-0": 7}) == {"foo again-0": 0}


def test_lost_tail_loses_whole_commits() -> None:
    """P4: two partitions of one commit, or none."""
    for keep, expected in ((6, {}), (7, {}), (8, {"foo-0": 1, "foo-1": 2})):
        g, offsets = joined()
        offsets.commit("m1", 1, {"foo-0": 1, "foo-1": 2})
        g.coordinator.restart(keep)
        assert offsets.fetch() == expected


def test_compaction_of_every_range_leads_to_the_same_state() -> None:
    """P3; real bug 49: the last commit in the log wins."""
    g = eventful()
    records = g.coordinator.records()
    expected = loaded_state(g, records)
    assert expected[-1] == {"g": {"foo-0": 5}}
    for start in range(len(records)):
        for end in range(start + 2, len(records) + 1):
            last = {tuple(record["key"].items()): record["offset"] for record in records[start:end]}
            kept = [
                record
                for record in records
                if not start <= record["offset"] < end
                or last[tuple(record["key"].items())] == record["offset"]
            ]
            assert loaded_state(g, kept) == expected, (start, end)
