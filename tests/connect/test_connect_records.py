"""Records of a Connect group (P1): each is read as it was written, and its numbers have Kafka's sizes."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coordinator.connect.records import (
    LOST,
    ConnectRecord,
    Lost,
    connect_from_wire,
    connect_to_wire,
    shared_record,
)
from coordinator.connect.request import EVERY_CONNECTOR
from coordinator.consumer.model import NOTHING, ClientAssignor, MemberMetadata, Target, TopicImage
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
)
from coordinator.core.errors import BadInput
from coordinator.core.fields import Json

words = st.text("ab1", min_size=1, max_size=3)
counts = st.integers(0, 9)
numbers = st.integers(-9, 9)
resources = st.frozensets(st.tuples(words, counts), max_size=4)
data = st.text("ab", max_size=2)
assignors = st.builds(ClientAssignor, words, numbers, numbers, numbers, numbers, data)
workers = st.builds(
    lambda instance, client, host, timeout, offers: MemberMetadata(
        instance, None, client, host, frozenset(), EVERY_CONNECTOR, timeout, None, tuple(offers)
    ),
    st.none() | words,
    words,
    words,
    st.integers(1, 9),
    st.lists(assignors, max_size=2),
)
VALUES = {
    GROUP_METADATA: st.builds(GroupEpoch, counts),
    TARGET_METADATA: st.builds(AssignmentEpoch, counts),
    PARTITION_METADATA: st.builds(
        PartitionMetadata,
        counts,
        st.dictionaries(words, counts, max_size=2).map(
            lambda tasks: {name: TopicImage(name, count + 1) for name, count in tasks.items()}
        ),
    ),
    MEMBER_METADATA: st.builds(MemberUpdate, counts, workers),
    TARGET_MEMBER: st.builds(Target, resources, numbers, numbers, data),
    CURRENT_ASSIGNMENT: st.builds(
        lambda epoch, held, answer: CurrentAssignment(epoch, held, assignor_data=answer),
        counts,
        resources,
        st.builds(Target, st.just(NOTHING), numbers, numbers, data),
    ),
    LOST: st.builds(Lost, resources),
}
OF_A_WORKER = (LOST, MEMBER_METADATA, TARGET_MEMBER, CURRENT_ASSIGNMENT)
WORKER = MemberMetadata(
    *("i", None, "c", "h", frozenset(), EVERY_CONNECTOR, 5, None, (ClientAssignor("x", 1, 4, 3, 2, "b"),))
)


@st.composite
def records(draw: st.DrawFn) -> ConnectRecord:
    kind = draw(st.sampled_from(sorted(VALUES)))
    worker = draw(words) if kind in OF_A_WORKER else None
    return ConnectRecord(kind, draw(words), worker, draw(st.none() | VALUES[kind]))


@given(records())
@example(ConnectRecord(MEMBER_METADATA, "g", "w", MemberUpdate(1, WORKER)))
@example(
    ConnectRecord(
        *(CURRENT_ASSIGNMENT, "g", "w"),
        CurrentAssignment(3, frozenset({("A", 1)}), assignor_data=Target(NOTHING, 1, 2, "b")),
    )
)
def test_a_record_is_read_as_it_was_written(record: ConnectRecord) -> None:
    assert connect_from_wire(connect_to_wire(record, 7)) == record


def value_of(kind: str, value: Json) -> object:
    """The value of a record that is read from this JSON."""
    key = {"type": f"ConnectGroup{kind}", "groupId": "g"}
    if kind in ("MemberMetadata", "TargetAssignmentMember", "CurrentMemberAssignment"):
        key["memberId"] = "w"
    return connect_from_wire({"key": key, "value": value}).value


MEMBER = {"groupEpoch": 1, "clientId": "", "clientHost": "", "rebalanceTimeoutMs": 1, "assignors": []}
CONNECTORS = {"epoch": 1, "connectors": []}
TARGET = {"error": 1, "connectorsAndTasks": []}
CURRENT = {"memberEpoch": 1, "connectorsAndTasks": []}


def test_fields_that_older_coordinators_left_out_have_their_defaults() -> None:
    assert value_of("TargetAssignmentMember", TARGET) == Target(NOTHING, 1, 0, "")
    assert value_of("CurrentMemberAssignment", CURRENT) == CurrentAssignment(1, NOTHING)
    update = value_of("MemberMetadata", MEMBER)
    assert isinstance(update, MemberUpdate) and update.metadata.instance_id is None


@pytest.mark.parametrize(
    ("kind", "value", "name", "bits"),
    [
        ("Metadata", {"epoch": 1}, "epoch", 32),
        ("TargetAssignmentMetadata", {"assignmentEpoch": 1}, "assignmentEpoch", 32),
        ("ConnectorsTasksMetadata", CONNECTORS, "epoch", 32),
        ("MemberMetadata", MEMBER, "groupEpoch", 32),
        ("CurrentMemberAssignment", CURRENT, "memberEpoch", 32),
        ("TargetAssignmentMember", TARGET, "error", 8),
        ("TargetAssignmentMember", TARGET, "version", 16),
        ("CurrentMemberAssignment", CURRENT, "error", 8),
        ("CurrentMemberAssignment", CURRENT, "version", 16),
    ],
)
def test_a_number_has_the_size_that_a_response_has_for_it(
    kind: str, value: Json, name: str, bits: int
) -> None:
    most = 2 ** (bits - 1) - 1
    value_of(kind, {**value, name: most})
    with pytest.raises(BadInput, match=f"'{name}' of a ConnectGroup{kind} record must fit into an int{bits}"):
        value_of(kind, {**value, name: most + 1})


def test_a_connector_has_as_many_tasks_as_an_int32_counts() -> None:
    tasks = {"connectorId": "A", "numTasks": 2**31 - 1}
    value_of("ConnectorsTasksMetadata", {**CONNECTORS, "connectors": [tasks]})
    with pytest.raises(BadInput, match=r"'numTasks' of a .* must fit into an int32, not 2147483648"):
        value_of("ConnectorsTasksMetadata", {**CONNECTORS, "connectors": [tasks | {"numTasks": 2**31}]})


@pytest.mark.parametrize("value", [None, Lost(NOTHING)])
def test_a_consumer_group_has_no_record_of_lost_work(value: Lost | None) -> None:
    """Neither of lost work nor of its end (W2)."""
    assert shared_record(ConnectRecord(LOST, "g", "w", value)) is None
