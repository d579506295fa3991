"""A consumer's configuration by Kafka's names, and the behaviour of the protocol that it chooses (K4, C8)."""

from __future__ import annotations

import logging
from typing import Any, ClassVar

import pytest
from member_driver import FENCED, UNSUPPORTED_VERSION, Driver, answer, names

from coordinator.members.classic import ClassicMember
from coordinator.members.consumer import Consumer, Listener, Member, MemberError, Partitions, Settings, State
from coordinator.members.from_config import consumer


@pytest.mark.parametrize(
    ("protocol", "machine"),
    [({}, ClassicMember), ({"group.protocol": "consumer"}, Member)]
    + [({"group.protocol": name}, ClassicMember) for name in ("classic", "generic")],
)
def test_group_protocol_chooses(protocol: dict[str, Any], machine: type) -> None:
    made = consumer({"group.id": "g", "group.instance.id": "i", **protocol}, "m")
    assert type(made) is machine
    assert (made.settings.group_id, made.settings.instance_id, made.member_id) == ("g", "i", "m")


def test_settings_go_where_they_belong() -> None:
    made = consumer({"group.id": "g", "group.protocol": "consumer", "group.remote.assignor": "range"})
    assert isinstance(made, Member) and made.settings.server_assignor == "range"
    eager = consumer({"group.id": "g", "session.timeout.ms": 9, "max.poll.interval.ms": 8})
    assert isinstance(eager, ClassicMember)
    assert (eager.settings.session_timeout_ms, eager.settings.rebalance_timeout_ms) == (9, 8)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"group.protocol": "new"}, "group.protocol is 'new': it may be classic"),
        ({"group.protocol": "consumer", "session.timeout.ms": 9}, "session.timeout.ms is no setting"),
        (
            {"group.protocol": "consumer", "partition.assignment.strategy": ["range"]},
            "partition.assignment.strategy is no setting",
        ),
        ({"group.remote.assignor": "range"}, "group.remote.assignor is no setting"),
        ({"group.local.assignors": []}, "group.local.assignors is no setting"),
        ({"partition.assignment.strategy": ["best"]}, "names best: there are cooperative-sticky"),
        (
            {
                "group.protocol": "consumer",
                "group.remote.assignor": "range",
                "group.local.assignors": [object()],
            },
            "not both",
        ),
        ({"group.id": ""}, "group.id is missing"),
    ],
)
def test_errors_are_reported(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        consumer({"group.id": "g", **given})


def test_enforce_rebalance_is_a_warning_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    driver = Driver(auto_commit=False).stable("foo-0")
    before = driver.member.next_deadline_ms()
    with caplog.at_level(logging.WARNING):
        driver.member.enforce_rebalance("I want it")
    assert "enforce_rebalance does nothing" in caplog.text
    assert driver.take() is None and driver.member.next_deadline_ms() == before


def test_a_cluster_without_the_protocol_is_fatal_and_says_what_to_do() -> None:
    driver = Driver().subscribe()
    driver.heartbeat()
    driver.reply({**answer(error=UNSUPPORTED_VERSION), "errorMessage": None})
    error = driver.member.take_error()
    assert isinstance(error, MemberError) and error.code == UNSUPPORTED_VERSION
    assert "set group.protocol to classic" in str(error) and driver.member.state is State.FATAL


def test_c8_lost_partitions_are_revoked_by_default() -> None:
    class Old(Listener):
        """An application without on_partitions_lost."""

        heard: tuple[str, ...] = ()

        def on_partitions_revoked(self, partitions: Partitions) -> None:
            self.heard += tuple(names(partitions))

    class Answers:
        """A coordinator that assigns once, and then fences."""

        bodies: ClassVar = [answer(1, ("foo-0",), member="m"), answer(error=FENCED)]

        def request(self, *_: object) -> dict[str, Any]:
            return self.bodies.pop(0)

    listener = Old()
    process = Consumer(Member(Settings("g", auto_commit=False), "m"), Answers(), listener)
    process.member.subscribe(["foo"], now_ms=0)
    for _ in range(2):
        process.send(0)
        process.receive(0)
        process.poll(0)
    assert listener.heard == ("foo-0",)
