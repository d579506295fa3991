"""Records as JSON (P1): a record is read as it was written, and each number has its least value."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coordinator.classic.embedded import Subscription, write_subscription
from coordinator.classic.records import (
    ClassicRecord,
    GroupMetadata,
    SavedMember,
    classic_from_wire,
    classic_to_wire,
    converted_back,
    loaded,
    saved,
)
from coordinator.classic.response import join_response
from coordinator.consumer.model import (
    AWAY,
    ClassicMetadata,
    ClientAssignor,
    MemberMetadata,
    Target,
    TopicImage,
)
from coordinator.consumer.records import (
    CURRENT_ASSIGNMENT,
    GROUP_METADATA,
    MEMBER_METADATA,
    PARTITION_METADATA,
    TARGET_MEMBER,
    TARGET_METADATA,
    AssignmentEpoch,
    CurrentAssignment,
    GroupEpoch,
    MemberUpdate,
    PartitionMetadata,
    Record,
    consumer_from_wire,
    consumer_to_wire,
)
from coordinator.core.errors import BadInput

TOPIC_IDS = st.sampled_from(["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"])
words = st.text("ab1", min_size=1, max_size=3)
counts = st.integers(0, 9)
numbers = st.integers(-9, 9)
partitions = st.frozensets(st.tuples(TOPIC_IDS, counts), max_size=4)
assignors = st.builds(ClientAssignor, words, numbers, numbers, numbers, numbers, st.text("ab", max_size=2))
classic = st.builds(
    ClassicMetadata, counts, st.lists(st.tuples(words, st.text("ab", max_size=2)), max_size=2).map(tuple)
)
metadata = st.builds(
    MemberMetadata,
    st.none() | words,
    st.none() | words,
    words,
    words,
    st.frozensets(words, max_size=2),
    st.none() | words,
    counts,
    st.none() | words,
    st.lists(assignors, max_size=2).map(tuple),
    st.none() | classic,
)
epochs = st.integers(1, 9) | st.just(AWAY)
previous = st.integers(AWAY, 9)
FIRST = ("00000000-0000-0000-0000-000000000001", 0)
SECOND = ("00000000-0000-0000-0000-000000000002", 1)
NO_PARTITIONS: frozenset[tuple[str, int]] = frozenset()


@st.composite
def recorded_revocations(draw: st.DrawFn) -> CurrentAssignment:
    """An assignment in a dialect that records revocations, with or without the epochs of partitions."""
    assigned, revoking = draw(partitions), draw(partitions)
    given = draw(st.lists(st.tuples(counts, partitions), max_size=2).map(tuple))
    return CurrentAssignment(draw(epochs), assigned | revoking, draw(previous), revoking, given=given)


@st.composite
def plain_assignments(draw: st.DrawFn) -> CurrentAssignment:
    """An assignment as the text has it: without what is revoked, with the assignor's data."""
    data = Target(NO_PARTITIONS, draw(numbers), draw(numbers), draw(st.text("ab", max_size=2)))
    return CurrentAssignment(draw(epochs), draw(partitions), assignor_data=data)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    GROUP_METADATA: st.builds(GroupEpoch, counts),
    PARTITION_METADATA: st.builds(
        PartitionMetadata,
        counts,
        st.dictionaries(words, st.builds(TopicImage, TOPIC_IDS, st.integers(1, 9)), max_size=2),
    ),
    MEMBER_METADATA: st.builds(MemberUpdate, counts, metadata),
    TARGET_METADATA: st.builds(AssignmentEpoch, counts),
    TARGET_MEMBER: st.builds(Target, partitions, numbers, numbers, st.text("ab", max_size=2)),
    CURRENT_ASSIGNMENT: recorded_revocations() | plain_assignments(),
}
OF_A_MEMBER = (MEMBER_METADATA, TARGET_MEMBER, CURRENT_ASSIGNMENT)


@st.composite
def consumer_records(draw: st.DrawFn) -> Record:
    kind = draw(st.sampled_from(sorted(VALUES)))
    member = draw(words) if kind in OF_A_MEMBER else None
    return Record(kind, draw(words), member, draw(st.none() | VALUES[kind]))


A_MEMBER = MemberMetadata(
    "i",
    "r",
    "c",
    "h",
    frozenset({"t"}),
    "a.*",
    5,
    "range",
    (ClientAssignor("x", 1, 4, 3, 2, "b"),),
    ClassicMetadata(6, (("range", "d"),)),
)


@given(consumer_records())
@example(Record(MEMBER_METADATA, "g", "m", MemberUpdate(1, A_MEMBER)))
@example(
    Record(
        CURRENT_ASSIGNMENT,
        "g",
        "m",
        CurrentAssignment(
            3,
            frozenset({FIRST, SECOND}),
            2,
            frozenset({FIRST}),
            given=((1, frozenset({FIRST})), (3, frozenset({SECOND}))),
        ),
    )
)
@example(
    Record(
        CURRENT_ASSIGNMENT,
        "g",
        "m",
        CurrentAssignment(3, frozenset({FIRST}), assignor_data=Target(NO_PARTITIONS, 1, 2, "b")),
    )
)
def test_a_record_of_a_consumer_group_is_read_as_it_was_written(record: Record) -> None:
    assert consumer_from_wire(consumer_to_wire(record, 7)) == record


saved_members = st.builds(
    SavedMember,
    words,
    st.none() | words,
    words,
    words,
    counts,
    counts,
    words,
    st.text("ab", max_size=2),
)
classic_groups = st.builds(
    GroupMetadata,
    words,
    counts,
    st.none() | words,
    st.none() | words,
    st.integers(-1, 9),
    st.lists(saved_members, max_size=2, unique_by=lambda member: member.member_id).map(sorted).map(tuple),
)
led_groups = classic_groups.flatmap(
    lambda value: st.sampled_from([one.member_id for one in value.members] or [None]).map(
        lambda leader: value._replace(leader=leader)
    )
)
"""Groups whose leader is a member."""
classic_records = st.builds(ClassicRecord, words, st.none() | classic_groups)
ONE = SavedMember("m", "i", "c", "h", 5, 6, "s", "a")


@given(classic_records)
@example(ClassicRecord("g", GroupMetadata("consumer", 3, "range", "m", 9, (ONE,))))
def test_a_record_of_a_classic_group_is_read_as_it_was_written(record: ClassicRecord) -> None:
    assert classic_from_wire(classic_to_wire(record, 7)) == record


@given(led_groups)
@example(GroupMetadata("consumer", 3, None, "m", 9, (ONE,)))
def test_a_loaded_classic_group_is_saved_as_it_was(value: GroupMetadata) -> None:
    """Also a group whose log has members and no protocol. Its leader is told what the members sent."""
    group = loaded("g", value)
    assert saved(group, value.state_ms) == ClassicRecord("g", value)
    shown = [] if value.leader is None else join_response(group, value.leader)["members"]
    sent = [] if value.leader is None else [member.subscription for member in value.members]
    assert [member["metadata"] for member in shown] == sent


@pytest.mark.parametrize(
    ("protocol_type", "generation", "expected"),
    [
        ("consumer", 4, True),
        ("consumer", 3, False),
        ("connect", 4, False),
    ],
)
def test_only_a_consumer_that_owns_partitions_of_this_generation_shows_a_conversion(
    protocol_type: str, generation: int, expected: bool
) -> None:
    """Metadata of other protocol types may be the same bytes by chance (M1)."""
    bytes_ = write_subscription(Subscription(frozenset({"t"}), b"", frozenset(), generation))
    member = ONE._replace(subscription=b64encode(bytes_).decode(), assignment="")
    value = GroupMetadata(protocol_type, 4, "range", "m", 9, (member,))
    assert converted_back(value) is expected


def wire(kind: str, value: Any) -> dict[str, Any]:
    """The JSON of a record of a consumer group."""
    member = {"memberId": "m"} if kind in OF_A_MEMBER else {}
    return {"offset": 0, "key": {"type": kind, "groupId": "g", **member}, "value": value}


MEMBER = consumer_to_wire(Record(MEMBER_METADATA, "g", "m", MemberUpdate(1, A_MEMBER)), 0)["value"]
TOPIC = {"topicId": "00000000-0000-0000-0000-000000000001", "topicName": "foo", "numPartitions": 1}
RECORDED = {
    "memberEpoch": 1,
    "previousMemberEpoch": AWAY,
    "assignedPartitions": [],
    "partitionsPendingRevocation": [],
}


@pytest.mark.parametrize("field", ["instanceId", "subscribedTopicRegex"])
def test_an_empty_name_is_no_name(field: str) -> None:
    read = consumer_from_wire(wire(MEMBER_METADATA, MEMBER | {field: ""})).value
    assert isinstance(read, MemberUpdate)
    assert (read.metadata.instance_id, read.metadata.regex) == (
        (None, "a.*") if field == "instanceId" else ("i", None)
    )


def test_fields_that_older_coordinators_left_out_have_their_defaults() -> None:
    assert consumer_from_wire(wire(TARGET_MEMBER, {"error": 3, "topicPartitions": []})).value == Target(
        NO_PARTITIONS, 3, 0, ""
    )
    read = consumer_from_wire(wire(CURRENT_ASSIGNMENT, {"memberEpoch": 1, "topicPartitions": []})).value
    assert read == CurrentAssignment(1, NO_PARTITIONS)
    without = {name: value for name, value in MEMBER.items() if name != "assignors"}
    update = consumer_from_wire(wire(MEMBER_METADATA, without)).value
    assert isinstance(update, MemberUpdate) and update.metadata.client_assignors == ()


@pytest.mark.parametrize(
    ("kind", "value", "problem"),
    [
        (
            PARTITION_METADATA,
            {"epoch": 1, "topics": [TOPIC | {"numPartitions": 0}]},
            "'numPartitions' of a ConsumerGroupPartitionMetadata record must be at least 1, not 0",
        ),
        (
            CURRENT_ASSIGNMENT,
            RECORDED | {"memberEpoch": 0},
            "'memberEpoch' of a ConsumerGroupCurrentMemberAssignment record must be at least 1, or -2 for "
            "away, not 0",
        ),
        (
            CURRENT_ASSIGNMENT,
            RECORDED | {"memberEpoch": -3},
            "'memberEpoch' of a ConsumerGroupCurrentMemberAssignment record must be at least -2, not -3",
        ),
        (
            CURRENT_ASSIGNMENT,
            RECORDED | {"previousMemberEpoch": -3},
            "'previousMemberEpoch' of a ConsumerGroupCurrentMemberAssignment record must be at least -2, "
            "not -3",
        ),
    ],
)
def test_a_number_that_is_too_low_is_refused_by_name(kind: str, value: Any, problem: str) -> None:
    with pytest.raises(BadInput) as refused:
        consumer_from_wire(wire(kind, value))
    assert str(refused.value) == problem
