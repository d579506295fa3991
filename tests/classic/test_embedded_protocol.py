"""The embedded consumer protocol, byte for byte, beside kio's own writer of Kafka's schemas (C5)."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.serial import entity_writer
from kio.serial.writers import write_int16
from kio.static.primitive import i16

from coordinator.classic.embedded import (
    NEWEST,
    Assignment,
    Subscription,
    read_assignment,
    read_subscription,
    version_of,
    write_assignment,
    write_subscription,
)
from coordinator.core.errors import BadInput

VERSIONS = range(NEWEST + 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
NAMES = st.text(max_size=8)
PARTITIONS = st.frozensets(st.tuples(NAMES, INT32), max_size=5)
SUBSCRIPTIONS = st.builds(
    Subscription,
    st.frozensets(NAMES, max_size=4),
    st.none() | st.binary(max_size=8),
    PARTITIONS,
    INT32,
    st.none() | NAMES,
)
ASSIGNMENTS = st.builds(Assignment, PARTITIONS, st.none() | st.binary(max_size=8))

FULL = Subscription(
    frozenset({"foo", "bar"}), b"\x01", frozenset({("foo", 1), ("foo", 0), ("bar", 2)}), 7, "r"
)
"""A message with a value in every field."""


def of_version(subscription: Subscription, version: int) -> Subscription:
    """The subscription, reduced to the fields that the version has."""
    return Subscription(
        subscription.topics,
        subscription.user_data,
        subscription.owned if version >= 1 else frozenset(),
        subscription.generation if version >= 2 else -1,
        subscription.rack_id if version >= 3 else None,
    )


def by_kio(kind: str, version: int, **values: Any) -> bytes:
    """The bytes of a message by kio, made from Kafka's schemas; partitions are given as pairs."""
    module = import_module(f"kio.schema.consumer_protocol_{kind}.v{version}.data")
    schema = getattr(module, f"ConsumerProtocol{kind.title()}")
    for name in ("owned_partitions", "assigned_partitions"):
        if name in values:
            topics = sorted({topic for topic, _ in values[name]})
            values[name] = tuple(
                module.TopicPartition(
                    topic=topic, partitions=tuple(sorted(i for t, i in values[name] if t == topic))
                )
                for topic in topics
            )
    buffer = io.BytesIO()
    write_int16(buffer, i16(version))
    entity_writer(schema)(buffer, schema(**values))
    return buffer.getvalue()


@pytest.mark.parametrize("version", VERSIONS)
@given(subscription=SUBSCRIPTIONS)
def test_a_subscription_is_read_as_it_was_written(version: int, subscription: Subscription) -> None:
    written = write_subscription(subscription, version)
    assert version_of(written) == version
    assert read_subscription(written) == of_version(subscription, version)


@pytest.mark.parametrize("version", VERSIONS)
@given(assignment=ASSIGNMENTS)
def test_an_assignment_is_read_as_it_was_written(version: int, assignment: Assignment) -> None:
    assert read_assignment(write_assignment(assignment, version)) == assignment


@pytest.mark.parametrize("version", VERSIONS)
def test_the_bytes_of_a_subscription_are_kios(version: int) -> None:
    since = {"owned_partitions": (1, FULL.owned), "generation_id": (2, 7), "rack_id": (3, "r")}
    values = {name: value for name, (first, value) in since.items() if version >= first}
    expected = by_kio("subscription", version, topics=("bar", "foo"), user_data=b"\x01", **values)
    assert write_subscription(FULL, version) == expected


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("user_data", [None, b"", b"\x00\x01"])
def test_the_bytes_of_an_assignment_are_kios(version: int, user_data: bytes | None) -> None:
    expected = by_kio("assignment", version, assigned_partitions=FULL.owned, user_data=user_data)
    assert write_assignment(Assignment(FULL.owned, user_data), version) == expected


def test_a_newer_version_is_read_as_the_newest() -> None:
    newer = struct.pack(">h", 9) + write_subscription(FULL)[2:] + b"a field of version 9"
    assert version_of(newer) == 9
    assert read_subscription(newer) == FULL
    assigned = Assignment(FULL.owned)
    assert read_assignment(struct.pack(">h", 9) + write_assignment(assigned)[2:] + b"more") == assigned


def test_a_member_that_the_leader_does_not_name_is_assigned_nothing() -> None:
    assert read_assignment(b"") == Assignment(frozenset())


@pytest.mark.parametrize("version", VERSIONS)
def test_input_that_is_cut_off_anywhere_is_refused(version: int) -> None:
    subscription, assignment = (
        write_subscription(FULL, version),
        write_assignment(Assignment(FULL.owned), version),
    )
    for length in range(len(subscription)):
        with pytest.raises(BadInput, match=r"subscription is cut off: '.+' needs \d bytes, and \d are left"):
            read_subscription(subscription[:length])
    for length in range(1, len(assignment)):
        with pytest.raises(BadInput, match="the assignment is cut off"):
            read_assignment(assignment[:length])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("ffff", "the subscription has a version from 0, not -1"),
        ("0000 ffffffff", "'topics' of the subscription has a negative length: -1"),
        ("0000 00000001 ffff", "'topics' of the subscription has a negative length: -1"),
        ("0000 00000001 fffe", "'topics' of the subscription has a negative length: -2"),
        ("0000 00000000 fffffffe", "'userData' of the subscription has a negative length: -2"),
        (
            "0001 00000000 ffffffff ffffffff",
            "'ownedPartitions' of the subscription has a negative length: -1",
        ),
        ("0000 00000001 0001 ff", "'topics' of the subscription is not UTF-8: invalid start byte"),
        ("0000 7fffffff", "the subscription is cut off: 'topics' needs 2 bytes, and 0 are left"),
    ],
)
def test_impossible_metadata_of_a_member_is_named(data: str, sentence: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_subscription(bytes.fromhex(data))
    assert str(raised.value) == sentence


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_subscription, read_assignment):
        try:
            read(data)
        except BadInput as error:
            assert str(error)


def test_values_that_cannot_be_written() -> None:
    with pytest.raises(BadInput, match="a version from 0 to 3, not 4"):
        write_subscription(FULL, 4)
    with pytest.raises(
        BadInput, match="'topics' of a subscription has at most 32767 bytes of text, not 32768"
    ):
        write_subscription(Subscription(frozenset({"x" * 32768})))
    with pytest.raises(BadInput, match="must fit into an int32"):
        write_assignment(Assignment(frozenset({("foo", 2**31)})))


def test_the_field_that_is_cut_off_is_named() -> None:
    """In their order, each where the bytes before it are there."""

    def named(data: bytes, read: Callable[[bytes], object], what: str) -> list[str]:
        results = []
        for length in range(1, len(data)):
            with pytest.raises(BadInput) as raised:
                read(data[:length])
            sentence = re.fullmatch(
                rf"the {what} is cut off: '(\w+)' needs \d bytes, and \d are left", str(raised.value)
            )
            assert sentence is not None
            results.append(sentence[1])
        return list(dict.fromkeys(results))

    fields = ["version", "topics", "userData", "ownedPartitions", "generationId", "rackId"]
    assert named(write_subscription(FULL), read_subscription, "subscription") == fields
    assigned = write_assignment(Assignment(FULL.owned, b"\x01"))
    assert named(assigned, read_assignment, "assignment") == ["version", "assignedPartitions", "userData"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"topics": frozenset({"\ud800"})}, "'topics' of a subscription is not Unicode text"),
        ({"owned": frozenset({("\ud800", 0)})}, "'ownedPartitions' of a subscription is not Unicode text"),
        (
            {"owned": frozenset({("foo", 2**31)})},
            "'ownedPartitions' of a subscription must fit into an int32",
        ),
        ({"generation": 2**31}, "'generationId' of a subscription must fit into an int32"),
        ({"rack_id": "\ud800"}, "'rackId' of a subscription is not Unicode text"),
    ],
)
def test_an_unreadable_subscription_is_named(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        write_subscription(replace(FULL, **change))


def test_an_unreadable_assignment_is_named() -> None:
    for partition, sentence in (
        (("\ud800", 0), "'assignedPartitions' of an assignment is not Unicode text"),
        (("foo", 2**31), "'assignedPartitions' of an assignment must fit into an int32"),
    ):
        with pytest.raises(BadInput, match=sentence):
            write_assignment(Assignment(frozenset({partition})))
    for version in (-1, 4):
        with pytest.raises(BadInput, match=f"an assignment has a version from 0 to 3, not {version}"):
            write_assignment(Assignment(FULL.owned), version)


def test_the_bounds_of_fields() -> None:
    """Names of 32767 bytes, numbers of 32 bits, nothing at all."""
    most = Subscription(
        frozenset({"x" * 32767, ""}), b"", frozenset({("", 2**31 - 1), ("", -(2**31))}), 2**31 - 1, ""
    )
    assert read_subscription(write_subscription(most)) == most
    with pytest.raises(BadInput, match="the assignment has a version from 0, not -1"):
        read_assignment(b"\xff\xff")
    with pytest.raises(BadInput, match="'assignedPartitions' of the assignment has a negative length: -1"):
        read_assignment(struct.pack(">hi", 0, -1))
