"""Dialects: the constants that each sets, their names and their values."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from dialect_drivers import drivers
from group_driver import GroupDriver

from coordinator import DIALECTS, BadInput, Dialect

SPECIFICATION = Path(__file__).parents[2] / "spec" / "Dialects.tla"


def test_constants_are_those_of_the_specification_with_the_same_defaults() -> None:
    text = SPECIFICATION.read_text(encoding="utf-8")
    body = text[text.index("KIP848 ==") : text.index("KIP848Literal ==")]
    specified = dict(re.findall(r"^  (\w+) \|-> ([^,\n]+?),?$", body, re.MULTILINE))
    values = {"TRUE": True, "FALSE": False}
    expected = {
        name: values.get(
            value, value.strip('"') if value.startswith('"') else int(value) if value.isdigit() else value
        )
        for name, value in specified.items()
    }
    ours = {field.name: field.default for field in dataclasses.fields(Dialect) if field.name != "name"}
    assert ours == expected


def test_every_named_dialect_is_identified_and_others_are_not() -> None:
    for name in ("kip-848", "kafka-4.0", "kafka-4.1", "kafka-4.2", "kafka-4.3", "kafka-4.4"):
        assert Dialect.named(name).name == name
    departures = {repr(dataclasses.replace(dialect, name="")) for dialect in DIALECTS.values()}
    assert len(departures) == len(DIALECTS) - 1, "Kafka 4.1 departs from the text where 4.0 does"
    with pytest.raises(BadInput, match=r"no dialect 'kafka'; there are kip-848, kafka-4\.0"):
        Dialect.named("kafka")


def test_departures_follow_the_name_of_a_dialect() -> None:
    mixed = Dialect.named("kafka-4.2, PartitionEpochs=yes,MetadataChange=at-once")
    kafka = DIALECTS["kafka-4.2"]
    assert mixed == dataclasses.replace(
        kafka, name=mixed.name, MetadataChange="at-once", PartitionEpochs=True
    )
    assert mixed.name == "kafka-4.2,MetadataChange=at-once,PartitionEpochs=yes", "in the constants' order"
    assert mixed.base == "kafka-4.2" and not mixed.has_client_assignors and mixed.refuses_sync_behind
    assert Dialect.named("kafka-4.2,MetadataChange=next-heartbeat") == kafka, "what the base has is not named"
    assert Dialect.named("kip-848,AwaySession=runs on,FirstGroupEpoch=2").AwaySession == "runs on"
    assert Dialect.named(mixed.name) == mixed


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("kafka-4,AwayCommits=no", "there is no dialect 'kafka-4'; there are kip-848, kafka-4.0"),
        (
            "kafka-4.2,MetadatChange=at-once",
            "no departure 'MetadatChange'; did you mean MetadataChange?",
        ),
        ("kafka-4.2,x=1", "no departure 'x'; there are FirstGroupEpoch, FencedMemberIsRemoved"),
        (
            "kafka-4.2,MetadataChange=atonce",
            "cannot be 'atonce'; give MetadataChange=at-once or next-heartbeat; did you mean at-once?",
        ),
        ("kafka-4.2,AwayCommits", "AwayCommits has no value; give AwayCommits=yes or no"),
        ("kafka-4.2,FirstGroupEpoch=7", "FirstGroupEpoch cannot be '7'; give FirstGroupEpoch=1 or 2"),
        ("kafka-4.2,AwayCommits=no,AwayCommits=yes", "names a departure twice"),
    ],
)
def test_departure_that_there_is_not_is_refused_with_those_that_there_are(name: str, message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        Dialect.named(name)


def test_constant_has_only_its_values() -> None:
    with pytest.raises(BadInput, match="RevocationRestart cannot be 'later'"):
        drivers(RevocationRestart="later")
    with pytest.raises(BadInput, match="PendingInResponse cannot be 'no'"):
        drivers(PendingInResponse="no")


@pytest.mark.parametrize("name", DIALECTS)
def test_two_members_converge_in_every_dialect(name: str) -> None:
    """R8, in one schedule."""
    g = GroupDriver(name, topics={"foo": 4})
    for member in ("m1", "m2", "m1", "m2", "m1", "m2", "m1", "m2"):
        g.coordinator.advance(1000)
        if member in g.members():
            g.heartbeat(member, owned=g.assigned(member))
        else:
            g.join(member)
    assert g.group()["state"] == "Stable"
    assert (len(g.assigned("m1")), len(g.assigned("m2"))) == (2, 2)
