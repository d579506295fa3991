"""Records in the order of one step (P1), and that they hold only differences."""

from __future__ import annotations

from typing import Any

from group_driver import CLIENT, IDS, GroupDriver, topic_partitions

from coordinator.record_kinds import from_wire, to_wire


def types(records: list[tuple[str, str | None, Any]]) -> list[tuple[str, str | None]]:
    return [(kind, member) for kind, member, _ in records]


def test_first_join_writes_three_records_a_member_and_three_of_the_group() -> None:
    g = GroupDriver()
    g.join("m1", serverAssignor="uniform")
    foo = [{"topicId": IDS["foo"], "topicName": "foo", "numPartitions": 2}]
    both = [{"topicId": IDS["foo"], "partitions": [0, 1]}]
    assert g.new_records() == [
        (
            "MemberMetadata",
            "m1",
            {
                "groupEpoch": 1,
                "instanceId": None,
                "rackId": None,
                "clientId": CLIENT["id"],
                "clientHost": CLIENT["host"],
                "subscribedTopicNames": ["foo"],
                "subscribedTopicRegex": None,
                "rebalanceTimeoutMs": 5000,
                "serverAssignor": "uniform",
                "assignors": [],
            },
        ),
        ("PartitionMetadata", None, {"epoch": 1, "topics": foo}),
        ("Metadata", None, {"epoch": 1}),
        ("TargetAssignmentMember", "m1", {"error": 0, "topicPartitions": both, **NO_METADATA}),
        ("TargetAssignmentMetadata", None, {"assignmentEpoch": 1}),
        (
            "CurrentMemberAssignment",
            "m1",
            {"memberEpoch": 1, "error": 0, "topicPartitions": both, **NO_METADATA},
        ),
    ]


NO_METADATA = {"metadataVersion": 0, "metadataBytes": ""}


def test_first_join_writes_partition_metadata_even_without_a_topic() -> None:
    g = GroupDriver(topics={})
    g.join("m1")
    assert ("PartitionMetadata", None, {"epoch": 1, "topics": []}) in g.new_records()


def test_a_group_of_x_members_is_3x_plus_3_records_after_compaction() -> None:
    g = GroupDriver(topics={"foo": 4})
    for name in ("m1", "m2", "m3"):
        g.join(name)
    keys = {(record["key"]["type"], record["key"].get("memberId")) for record in g.coordinator.records()}
    assert len(keys) == 3 * 3 + 3


def test_second_join_writes_only_what_it_changes() -> None:
    g = GroupDriver()
    g.script(m1=["foo-0", "foo-1"])
    g.join("m1")
    g.new_records()
    g.script(m1=["foo-0", "foo-1"], m2=[])
    g.join("m2")
    assert types(g.new_records()) == [
        ("MemberMetadata", "m2"),
        ("Metadata", None),
        ("TargetAssignmentMember", "m2"),
        ("TargetAssignmentMetadata", None),
        ("CurrentMemberAssignment", "m2"),
    ]


def test_rejoined_member_is_written_anew_although_nothing_differs() -> None:
    g = GroupDriver()
    g.join("m1")
    g.new_records()
    g.join("m1")
    assert types(g.new_records()) == [
        ("MemberMetadata", "m1"),
        ("Metadata", None),
        ("TargetAssignmentMember", "m1"),
        ("TargetAssignmentMetadata", None),
        ("CurrentMemberAssignment", "m1"),
    ]


def test_removal_writes_tombstones_first_then_the_group_then_the_target() -> None:
    g = GroupDriver(topics={"foo": 1, "bar": 1})
    g.join("m1", "foo")
    g.join("m2", "bar")
    g.new_records()
    g.leave("m2")
    records = g.new_records()
    assert types(records) == [
        ("CurrentMemberAssignment", "m2"),
        ("TargetAssignmentMember", "m2"),
        ("MemberMetadata", "m2"),
        ("PartitionMetadata", None),
        ("Metadata", None),
        ("TargetAssignmentMetadata", None),
    ]
    assert [value for _, _, value in records[:3]] == [None, None, None]
    assert records[3][2] == {
        "epoch": 3,
        "topics": [{"topicId": IDS["foo"], "topicName": "foo", "numPartitions": 1}],
    }


def test_heartbeat_that_changes_nothing_durable_writes_nothing() -> None:
    g = GroupDriver()
    g.join("m1")
    g.new_records()
    g.heartbeat("m1", owned=["foo-0", "foo-1"])
    assert (g.member("m1")["acknowledged"], g.new_records()) == (True, [])


def test_start_of_a_revocation_is_not_durable_and_its_acknowledgement_is() -> None:
    """The partitions that the member holds stay the same until it has released some."""
    g = GroupDriver()
    g.two_stable_members()
    g.script(m1=[], m2=["foo-0", "foo-1"])
    g.heartbeat("m2", subscribedTopicNames=["foo", "bar"])
    g.new_records()
    g.heartbeat("m1", owned=["foo-0"])
    assert (g.revoking("m1"), g.new_records()) == (["foo-0"], [])
    g.heartbeat("m1", owned=[])
    expected = {"memberEpoch": 3, "error": 0, "topicPartitions": [], **NO_METADATA}
    assert g.new_records() == [("CurrentMemberAssignment", "m1", expected)]


def test_change_without_a_bump_is_written_with_the_epoch_that_is() -> None:
    g = GroupDriver()
    g.join("m1")
    g.new_records()
    g.heartbeat("m1", rebalanceTimeoutMs=7)
    ((kind, member, value),) = g.new_records()
    assert (kind, member) == ("MemberMetadata", "m1")
    assert value is not None
    assert (value["groupEpoch"], value["rebalanceTimeoutMs"]) == (1, 7)


def test_deleted_group_leaves_tombstones_and_nothing_else() -> None:
    """E5 DEAD."""
    g = GroupDriver()
    g.join("m1")
    g.leave("m1")
    g.new_records()
    g.coordinator.fire("group", "g")
    assert g.new_records() == [
        ("TargetAssignmentMetadata", None, None),
        ("PartitionMetadata", None, None),
        ("Metadata", None, None),
    ]
    assert g.group() == GroupDriver().group()


def test_every_kind_of_record_survives_the_wire() -> None:
    g = GroupDriver()
    g.join("m1", rackId="r", serverAssignor="range")
    g.leave("m1")
    g.coordinator.fire("group", "g")
    records = g.coordinator.records()
    kinds = {(record["key"]["type"], record["value"] is None) for record in records}
    assert len(kinds) == 12
    assert [to_wire(from_wire(record), offset) for offset, record in enumerate(records)] == records


def test_partitions_are_sorted_on_the_wire() -> None:
    g = GroupDriver(topics={"foo": 11, "bar": 1})
    g.join("m1", "foo", "bar")
    expected = [
        {"topicId": IDS["bar"], "partitions": [0]},
        {"topicId": IDS["foo"], "partitions": list(range(11))},
    ]
    assert g.member("m1")["assigned"] == expected
    assert g.heartbeat("m1", owned=["foo-3", "bar-0"])["assignment"]["assignedTopicPartitions"] == expected
    assert topic_partitions(["foo-0"])[0]["topicId"] > IDS["bar"]
