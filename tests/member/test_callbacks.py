"""Callbacks in order and with the right partitions (K1, K2, K3), and what they must not stop (K4)."""

from __future__ import annotations

import pytest
from member_driver import (
    COMMIT,
    FENCED,
    STALE_EPOCH,
    UNKNOWN,
    UNRELEASED,
    Driver,
    answer,
    committed,
    foo,
    owned,
    parts,
)

from coordinator.members.consumer import Consumer, Listener, Member, MemberError, Settings, State

# Answers to a member in a row, while it is at rest with foo-0 and foo-1: an assignment, or an error; "poll"
# lets the application poll. The callbacks that must have run.
TABLE: dict[str, tuple[list[list[str] | int | str], list[tuple[str, list[str]]]]] = {
    "nothing new": ([["foo-0", "foo-1"], "poll"], []),
    "one taken": ([["foo-0"], "poll"], [("revoked", ["foo-1"])]),
    "all taken": ([[], "poll"], [("revoked", ["foo-0", "foo-1"])]),
    "one given": ([["foo-0", "foo-1", "bar-0"], "poll"], [("assigned", ["bar-0"])]),
    "two batches": (
        [["foo-0", "foo-1", "bar-0"], "poll", ["foo-0", "foo-1", "bar-0", "bar-1"], "poll"],
        [("assigned", ["bar-0"]), ("assigned", ["bar-1"])],
    ),
    "two batches before one poll": (
        [["foo-0", "foo-1", "bar-0"], ["foo-0", "foo-1", "bar-0", "bar-1"], "poll"],
        [("assigned", ["bar-0", "bar-1"])],
    ),
    "a batch told again": (
        [["foo-0", "foo-1", "bar-0"], "poll", ["foo-0", "foo-1", "bar-0"], "poll"],
        [("assigned", ["bar-0"])],
    ),
    "revoked before assigned": (
        [["foo-0", "bar-0"], "poll"],
        [("revoked", ["foo-1"]), ("assigned", ["bar-0"])],
    ),
    "given and taken before a poll": ([["foo-0", "foo-1", "bar-0"], ["foo-0", "foo-1"], "poll"], []),
    "given, then taken": (
        [["foo-0", "foo-1", "bar-0"], "poll", ["foo-0", "foo-1"], "poll"],
        [("assigned", ["bar-0"]), ("revoked", ["bar-0"])],
    ),
    "fenced": ([FENCED, "poll"], [("lost", ["foo-0", "foo-1"])]),
    "unknown": ([UNKNOWN, "poll"], [("lost", ["foo-0", "foo-1"])]),
    "fatal": ([UNRELEASED, "poll"], [("lost", ["foo-0", "foo-1"])]),
    "fenced with something new": (
        [["foo-0", "foo-1", "bar-0"], FENCED, "poll"],
        [("lost", ["foo-0", "foo-1"])],
    ),
    "fenced with nothing": ([[], "poll", FENCED, "poll"], [("revoked", ["foo-0", "foo-1"])]),
    "fenced before the revocation began": ([["foo-0"], FENCED, "poll"], [("lost", ["foo-0", "foo-1"])]),
    "fenced, then assigned the same": (
        [FENCED, "poll", ["foo-0", "foo-1"], "poll"],
        [("lost", ["foo-0", "foo-1"]), ("assigned", ["foo-0", "foo-1"])],
    ),
}


@pytest.mark.parametrize("case", TABLE)
def test_callbacks(case: str) -> None:
    response, expected = TABLE[case]
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    epoch = 2
    for event in response:
        if event == "poll":
            driver.poll()
            continue
        driver.heartbeat()
        if isinstance(event, int):
            driver.error(event)
        else:
            driver.ok(epoch, *event)
            epoch += 1
    assert driver.callbacks == expected


def test_fenced_while_a_revocation_runs_loses_only_the_rest() -> None:
    """Each partition ends once: revoked, or lost (K1, K2)."""
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(2, "foo-0")
    driver.member.poll(driver.now_ms)
    assert driver.member.next_callback(driver.now_ms) is not None
    driver.heartbeat()
    driver.error(FENCED)
    assert not driver.member.owned and not driver.member.fetchable
    driver.member.callback_done(driver.now_ms)
    driver.run_callbacks()
    assert driver.callbacks == [("lost", ["foo-0"])]
    assert owned(driver.heartbeat()) == []


def test_nothing_is_fetched_from_the_moment_it_is_taken() -> None:
    """K2: before the application polls; K1: all of them."""
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(2, "foo-0")
    assert driver.member.fetchable == parts("foo-0")
    driver.heartbeat()
    driver.error(FENCED)
    assert not driver.member.fetchable


def test_new_partitions_are_fetched_when_their_callback_has_returned() -> None:
    """K3: and not before their offsets are known."""
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    driver.ok(2, "foo-0", "foo-1")
    driver.member.poll(driver.now_ms)
    assert driver.member.next_callback(driver.now_ms) is not None
    assert driver.take() is None and driver.member.fetchable == parts("foo-0")
    driver.member.set_position((next(iter(parts("foo-1")))), 5)
    assert driver.member.fetchable == parts("foo-0")
    driver.member.callback_done(driver.now_ms)
    assert driver.member.fetchable == parts("foo-0", "foo-1")


@pytest.mark.parametrize("raising", [("revoked",), ("assigned",), ("revoked", "assigned"), ("lost",)])
def test_callback_that_raises_stops_nothing(raising: tuple[str, ...]) -> None:
    """The rest runs, the first error is reported, the acknowledgement is sent."""
    driver = Driver(raising=raising, auto_commit=False).stable("foo-0", "foo-1")
    driver.member.take_error()
    driver.heartbeat()
    if raising == ("lost",):
        driver.error(FENCED)
    else:
        driver.ok(2, "foo-0", "bar-0")
    driver.poll()
    error = driver.member.take_error()
    assert str(error) == f"{raising[0]} raised" and driver.member.take_error() is None
    request = driver.take()
    assert request is not None and owned(request.body) == ([] if raising == ("lost",) else ["bar-0", "foo-0"])


def test_unreleased_instance_id_is_fatal() -> None:
    """K1: no request is sent any more, and the application gets the reason."""
    driver = Driver(instance_id="i").subscribe()
    driver.heartbeat()
    driver.error(UNRELEASED)
    assert driver.member.state is State.FATAL
    assert driver.take() is None and driver.member.next_deadline_ms() is None
    error = driver.member.take_error()
    assert isinstance(error, MemberError) and error.code == UNRELEASED
    with pytest.raises(ValueError, match="has failed"):
        driver.subscribe("bar")


def test_interrupt_in_a_callback_does_not_lose_its_end() -> None:
    """https://github.com/apache/kafka/pull/18089 (KAFKA-18160): the member always gets the completion."""

    class Interrupted(Listener):
        def on_partitions_assigned(self, partitions: object) -> None:
            raise KeyboardInterrupt

    class Told:
        def request(self, api: str, *_: object) -> dict[str, object]:
            assert api == "ConsumerGroupHeartbeat"
            return answer(1, ("foo-0",), member="m")

    consumer = Consumer(Member(Settings("g"), "m"), Told(), Interrupted())
    consumer.member.subscribe(["foo"], now_ms=0)
    consumer.send(0)
    consumer.receive(0)
    with pytest.raises(KeyboardInterrupt):
        consumer.poll(0)
    assert consumer.member.state is State.ACKNOWLEDGING
    assert consumer.member.take_error().__class__ is KeyboardInterrupt


@pytest.mark.parametrize("polls", [True, False])
def test_a_partition_that_is_given_back_is_committed_before_its_next_revocation(polls: bool) -> None:
    """K2, O3: its revocation became void during the commit before it, and the application consumes more. It
    is not fetched before that commit is over."""
    driver = Driver().stable("foo-0", "foo-1")
    driver.member.set_position(foo(0), 20)
    driver.heartbeat()
    driver.ok(2, "foo-1")
    driver.poll()
    request = driver.wait()
    assert request.purpose is COMMIT and committed(request.body) == {"foo-0": 20}
    driver.offsets(request, error=STALE_EPOCH)
    driver.heartbeat()
    driver.ok(3, "foo-0", "foo-1")
    assert driver.member.fetchable == parts("foo-1")
    while (request := driver.wait()).purpose is not COMMIT:
        driver.kept(3)
    driver.offsets(request)
    if polls:
        driver.poll()
    assert driver.member.fetchable == parts("foo-0", "foo-1") and not driver.callbacks
    driver.member.set_position(foo(0), 100)
    driver.heartbeat()
    driver.ok(4, "foo-1")
    driver.poll()
    assert not driver.callbacks
    assert committed(driver.wait().body) == {"foo-0": 100}


@pytest.mark.parametrize("polls", [True, False])
def test_a_partition_that_is_given_back_after_its_commit_is_committed_again(polls: bool) -> None:
    """K2, O3: the commit before its revocation was over, and no callback had begun."""
    driver = Driver().stable("foo-0", "foo-1")
    driver.member.set_position(foo(0), 20)
    driver.heartbeat()
    driver.ok(2, "foo-1")
    driver.poll()
    driver.offsets(driver.wait())
    driver.now_ms += 10_000
    assert driver.heartbeat_now()
    driver.ok(3, "foo-0", "foo-1")
    if polls:
        driver.poll()
    assert driver.member.fetchable == parts("foo-0", "foo-1")
    driver.member.set_position(foo(0), 100)
    driver.heartbeat()
    driver.ok(4, "foo-1")
    driver.poll()
    assert not driver.callbacks and committed(driver.wait().body) == {"foo-0": 100}


def test_a_position_that_was_sought_back_is_committed_before_its_revocation() -> None:
    """K2: the next owner begins where this application wants it."""
    driver = Driver().stable("foo-0", "foo-1")
    driver.member.set_position(foo(0), 3)
    driver.heartbeat()
    driver.ok(2, "foo-1")
    driver.poll()
    assert not driver.callbacks and committed(driver.wait().body) == {"foo-0": 3}
