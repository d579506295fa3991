"""The broker configuration (D3): names and defaults as Kafka has them, and values that contradict others."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from coordinator.assignors import RangeAssignor, UniformAssignor
from coordinator.core.config import Config, configured, out_of_bounds
from coordinator.core.errors import BadInput

ASSIGNORS = {"uniform": UniformAssignor(), "range": RangeAssignor()}
DEFAULTS = {
    "group.consumer.session.timeout.ms": 45_000,
    "group.consumer.min.session.timeout.ms": 45_000,
    "group.consumer.max.session.timeout.ms": 60_000,
    "group.consumer.heartbeat.interval.ms": 5_000,
    "group.consumer.min.heartbeat.interval.ms": 5_000,
    "group.consumer.max.heartbeat.interval.ms": 15_000,
    "group.consumer.max.size": 2_147_483_647,
    "group.coordinator.threads": 1,
    "group.consumer.assignment.interval.ms": 1_000,
    "message.max.bytes": 1_048_576,
    "offset.metadata.max.bytes": 4_096,
    "group.empty.retention.ms": 604_800_000,
    "group.initial.rebalance.delay.ms": 3_000,
    "group.min.session.timeout.ms": 6_000,
    "group.max.session.timeout.ms": 1_800_000,
}


def refusal(settings: dict[str, Any]) -> str:
    """The sentence with which the settings are refused."""
    with pytest.raises(BadInput) as refused:
        configured(Config(), ASSIGNORS, settings)
    return str(refused.value)


def test_the_defaults_by_kafkas_names_make_the_default_configuration() -> None:
    assert configured(Config(), ASSIGNORS, DEFAULTS) == (Config(), ASSIGNORS)
    assert configured(Config(), ASSIGNORS, {}) == (Config(), ASSIGNORS)
    assert out_of_bounds(Config()) is None
    without_a_name = Config().new_member_timeout_ms, Config().timer_retry_ms
    assert without_a_name == (300_000, 500)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("group.consumer.session.timeout.ms", 45_001),
        ("group.consumer.min.session.timeout.ms", 44_999),
        ("group.consumer.max.session.timeout.ms", 60_001),
        ("group.consumer.heartbeat.interval.ms", 5_001),
        ("group.consumer.min.heartbeat.interval.ms", 4_999),
        ("group.consumer.max.heartbeat.interval.ms", 15_001),
        ("group.consumer.max.size", 1),
        ("group.consumer.assignment.interval.ms", 0),
        ("message.max.bytes", 1),
        ("offset.metadata.max.bytes", 1),
        ("group.empty.retention.ms", 1),
        ("group.initial.rebalance.delay.ms", 0),
        ("group.min.session.timeout.ms", 1),
        ("group.max.session.timeout.ms", 1_800_001),
    ],
)
def test_a_setting_changes_one_value(name: str, value: int) -> None:
    changed, assignors = configured(Config(), ASSIGNORS, {name: value})
    fields = [one.name for one in dataclasses.fields(Config)]
    differ = [field for field in fields if getattr(changed, field) != getattr(Config(), field)]
    assert len(differ) == 1 and getattr(changed, differ[0]) == value
    assert configured(changed, ASSIGNORS, {name: DEFAULTS[name]}) == (Config(), assignors)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["range"], ["range"]),
        (["range", "uniform"], ["range", "uniform"]),
        (["org.apache.kafka.server.group.consumer.RangeAssignor"], ["range"]),
        (["org.apache.kafka.server.group.consumer.UniformAssignor"], ["uniform"]),
    ],
)
def test_assignors_are_chosen_by_name_or_by_class_in_the_order_of_the_list(
    chosen: list[str], expected: list[str]
) -> None:
    config, assignors = configured(Config(), ASSIGNORS, {"group.consumer.assignors": chosen})
    assert (config, list(assignors)) == (Config(), expected)
    assert all(assignors[name] is ASSIGNORS[name] for name in expected)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"group.max": 1}, "the configuration has no field 'group.max'; it has group.consumer.assign"),
        (
            {"message.max.bytes": 0},
            "'message.max.bytes' of the configuration must be at least 1, not 0",
        ),
        (
            {"group.initial.rebalance.delay.ms": -1},
            "'group.initial.rebalance.delay.ms' of the configuration must be at least 0, not -1",
        ),
        (
            {"group.consumer.assignment.interval.ms": -1},
            "'group.consumer.assignment.interval.ms' of the configuration must be at least 0, not -1",
        ),
        (
            {"group.consumer.assignors": []},
            "group.consumer.assignors must be some of uniform, range, not []",
        ),
        (
            {"group.consumer.assignors": ["range", "sticky"]},
            "group.consumer.assignors must be some of uniform, range, not ['range', 'sticky']",
        ),
        (
            {"group.consumer.assignors": "range"},
            "'group.consumer.assignors' of the configuration must be a list, not 'range'",
        ),
        (
            {"group.coordinator.threads": 2},
            "group.coordinator.threads must be 1, not 2: this coordinator runs in one thread",
        ),
        (
            {"group.consumer.session.timeout.ms": 44_999},
            "group.consumer.session.timeout.ms is 44999, but group.consumer.min.session.timeout.ms is 45000",
        ),
        (
            {"group.consumer.session.timeout.ms": 60_001},
            "group.consumer.session.timeout.ms is 60001, but group.consumer.max.session.timeout.ms is 60000",
        ),
        (
            {"group.consumer.heartbeat.interval.ms": 4_999},
            "group.consumer.heartbeat.interval.ms is 4999, but "
            "group.consumer.min.heartbeat.interval.ms is 5000",
        ),
        (
            {"group.consumer.heartbeat.interval.ms": 15_001},
            "group.consumer.heartbeat.interval.ms is 15001, but "
            "group.consumer.max.heartbeat.interval.ms is 15000",
        ),
        (
            {
                "group.consumer.max.heartbeat.interval.ms": 45_000,
                "group.consumer.heartbeat.interval.ms": 45_000,
            },
            "group.consumer.heartbeat.interval.ms is 45000, which must be less than "
            "group.consumer.session.timeout.ms, 45000",
        ),
        (
            {"group.min.session.timeout.ms": 1_800_001},
            "group.min.session.timeout.ms is 1800001, but group.max.session.timeout.ms is 1800000",
        ),
    ],
)
def test_a_refusal_names_the_setting_and_what_it_contradicts(settings: dict[str, Any], sentence: str) -> None:
    assert refusal(settings).startswith(sentence)


def test_bounds_belong_to_what_they_allow() -> None:
    """Each time may be equal to its bounds, and an interval one less than its session."""
    equal = {
        "group.consumer.min.session.timeout.ms": 45_000,
        "group.consumer.max.session.timeout.ms": 45_000,
        "group.consumer.min.heartbeat.interval.ms": 44_999,
        "group.consumer.max.heartbeat.interval.ms": 44_999,
        "group.consumer.heartbeat.interval.ms": 44_999,
        "group.min.session.timeout.ms": 1_800_000,
    }
    assert out_of_bounds(configured(Config(), ASSIGNORS, equal)[0]) is None
