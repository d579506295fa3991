"""Bugs that the Java consumer shipped, each as the behaviour that it broke."""

from __future__ import annotations

import pytest
from member_driver import (
    COMMIT,
    FENCED,
    HEARTBEAT,
    INTERVAL_MS,
    LEAVE,
    LOAD_IN_PROGRESS,
    NOT_AVAILABLE,
    NOT_COORDINATOR,
    STALE_EPOCH,
    UNKNOWN,
    Driver,
    answer,
    committed,
    foo,
    owned,
    parts,
)

from coordinator.members.consumer import State


def test_target_there_and_back_during_one_revocation_is_acknowledged() -> None:
    """KAFKA-16312, https://github.com/apache/kafka/pull/15511: X, then Y, then X while Y's callback runs."""
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.member.poll(driver.now_ms)
    assert driver.member.next_callback(driver.now_ms) is not None
    driver.heartbeat()
    driver.ok(1, "foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.member.callback_done(driver.now_ms)
    driver.run_callbacks()
    assert driver.member.state is State.ACKNOWLEDGING
    assert owned(driver.heartbeat()) == ["foo-0"]


def test_empty_assignment_is_one_and_null_is_none() -> None:
    """KAFKA-16185, https://github.com/apache/kafka/pull/15511: null keeps everything, empty takes it."""
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.heartbeat()
    driver.kept(1)
    assert driver.member.fetchable == parts("foo-0")
    driver.heartbeat()
    driver.ok(1)
    driver.poll()
    assert driver.callbacks == [("revoked", ["foo-0"])] and owned(driver.heartbeat()) == []


def test_rejoin_has_all_fields() -> None:
    """KAFKA-16190, https://github.com/apache/kafka/pull/15401: also those that have not changed."""
    driver = Driver(instance_id="i", max_poll_interval_ms=7_000_000).stable("foo-0")
    driver.heartbeat()
    driver.error(FENCED)
    driver.poll()
    body = driver.heartbeat()
    assert (body["memberEpoch"], body["subscribedTopicNames"], body["rebalanceTimeoutMs"]) == (
        0,
        ["foo"],
        7_000_000,
    )
    assert (body["instanceId"], owned(body)) == ("i", [])


@pytest.mark.parametrize("member_id", ["m", ""])
def test_leave_follows_a_heartbeat_in_flight(member_id: str) -> None:
    """KAFKA-16639, https://github.com/apache/kafka/pull/16017: a join is in flight when it closes."""
    driver = Driver(member_id).subscribe()
    driver.heartbeat()
    driver.member.close(driver.now_ms)
    driver.run_callbacks()
    assert driver.take() is None
    driver.reply(answer(1, ("foo-0",), member="m"))
    body = driver.heartbeat()
    assert (body["memberId"], body["memberEpoch"]) == ("m", -1)
    assert not driver.callbacks


def test_leave_follows_a_join_that_got_no_answer() -> None:
    """A leave follows, as the coordinator may have the member. Without a member id there is nothing to
    leave."""
    for member_id, purpose in (("m", LEAVE), ("", None)):
        driver = Driver(member_id).subscribe()
        driver.heartbeat()
        driver.member.close(driver.now_ms)
        driver.lose()
        driver.now_ms += 1_000
        request = driver.take()
        assert (request and request.purpose) is purpose
        assert driver.member.state is (State.LEAVING if purpose else State.UNSUBSCRIBED)


def test_subscription_during_leave_joins_after_it() -> None:
    """KAFKA-19335, https://github.com/apache/kafka/pull/19818: with epoch 0, not the leave's -1."""
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    heartbeat = driver.sent
    driver.member.unsubscribe(driver.now_ms)
    driver.lose()
    driver.run_callbacks()
    driver.now_ms += 1_000
    leave = driver.take()
    assert leave is not None and leave.purpose is LEAVE and heartbeat is not None
    driver.subscribe("bar")
    driver.member.answered(heartbeat.correlation, answer(1), driver.now_ms)
    assert driver.take() is None
    driver.reply(answer(-1))
    body = driver.heartbeat()
    assert driver.member.state is State.JOINING
    assert (body["memberEpoch"], body["subscribedTopicNames"], owned(body)) == (0, ["bar"], [])


@pytest.mark.parametrize("code", [FENCED, UNKNOWN, LOAD_IN_PROGRESS, NOT_AVAILABLE, NOT_COORDINATOR])
def test_heartbeats_go_on_after_every_error(code: int) -> None:
    """KAFKA-16215, KAFKA-16178, https://github.com/apache/kafka/pull/15311: an error is an answer, too."""
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    driver.error(code)
    driver.poll()
    assert driver.heartbeat()["memberEpoch"] == (0 if code in (FENCED, UNKNOWN) else 1)


def test_poll_interval_does_not_disturb_a_leave() -> None:
    """KAFKA-16165, https://github.com/apache/kafka/pull/15375: the interval ends while the member leaves."""
    driver = Driver(max_poll_interval_ms=60_000).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.close(driver.now_ms, timeout_ms=1_000_000)
    driver.run_callbacks()
    driver.now_ms += 60_000
    driver.heartbeat_now()
    driver.kept(1)
    request = driver.wait()
    assert request.purpose is COMMIT
    driver.offsets(request)
    driver.run_callbacks()
    assert driver.callbacks == [("revoked", ["foo-0"])] and driver.member.state is State.LEAVING
    driver.wait()
    driver.reply(answer(-1))
    assert driver.member.state is State.UNSUBSCRIBED


def test_member_without_partitions_becomes_stable() -> None:
    """https://github.com/apache/kafka/pull/15033: the first assignment is empty."""
    driver = Driver().subscribe()
    driver.heartbeat()
    driver.ok(1)
    driver.poll()
    assert driver.member.state is State.STABLE and not driver.callbacks
    assert owned(driver.heartbeat()) == [] and driver.now_ms == INTERVAL_MS


def test_commit_has_the_member_id_of_the_join() -> None:
    """KAFKA-15978, https://github.com/apache/kafka/pull/14945."""
    driver = Driver("").subscribe()
    driver.heartbeat()
    driver.reply(answer(3, ("foo-0",), member="made"))
    driver.poll()
    driver.member.set_position(foo(0), 7)
    driver.heartbeat()
    driver.kept(3)
    driver.member.commit()
    body = driver.wait().body
    assert (body["memberId"], body["generationIdOrMemberEpoch"]) == ("made", 3)


def test_stale_commit_before_revocation_is_sent_again_with_new_epoch_and_latest_offsets() -> None:
    """KAFKA-16033, https://github.com/apache/kafka/pull/15357, and
    https://github.com/twmb/franz-go/commit/6f5471d4: the answer that moved the member's epoch was lost."""
    driver = Driver().stable("foo-0", "foo-1")
    driver.member.set_position(foo(1), 20)
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll()
    request = driver.wait()
    driver.member.set_position(foo(1), 21)
    driver.offsets(request, error=STALE_EPOCH)
    driver.poll()
    assert not driver.callbacks
    assert driver.wait().purpose is HEARTBEAT
    driver.ok(2, "foo-0")
    request = driver.wait()
    assert request.purpose is COMMIT and committed(request.body) == {"foo-1": 21}
    assert request.body["generationIdOrMemberEpoch"] == 2
    driver.offsets(request)
    driver.poll()
    assert driver.callbacks == [("revoked", ["foo-1"])]


@pytest.mark.parametrize("timeout_ms", [0, 30_000])
def test_leave_is_sent_whatever_happens_before(timeout_ms: int) -> None:
    """KAFKA-16933, KAFKA-17403, https://github.com/apache/kafka/pull/16272 and 16974: the callback raises,
    the commit fails, there is no time."""
    driver = Driver(raising=("revoked",)).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.close(driver.now_ms, timeout_ms)
    driver.run_callbacks()
    driver.offsets(driver.wait(), error=NOT_COORDINATOR if timeout_ms == 0 else 100)
    driver.run_callbacks()
    assert driver.callbacks == [("revoked", ["foo-0"])]
    assert driver.heartbeat()["memberEpoch"] == -1
    driver.lose()
    assert (driver.member.state is State.UNSUBSCRIBED) == (timeout_ms == 0)


def test_assignment_changes_only_inside_poll() -> None:
    """KAFKA-20106, https://github.com/apache/kafka/pull/21495: given, taken or lost."""
    driver = Driver(auto_commit=False).stable("foo-0")
    for response in (("foo-0", "foo-1"), ()):
        driver.heartbeat()
        driver.ok(2, *response)
        assert driver.member.assignment == parts("foo-0")
    driver.heartbeat()
    driver.error(FENCED)
    assert driver.member.assignment == parts("foo-0")
    driver.poll()
    assert not driver.member.assignment


def test_member_that_does_not_poll_leaves_and_returns_with_its_next_poll() -> None:
    """KAFKA-15818, https://github.com/apache/kafka/pull/14873."""
    driver = Driver(max_poll_interval_ms=12_000).stable("foo-0")
    driver.member.set_position(foo(0), 99)
    polled_ms = driver.now_ms
    sent: list[int] = []
    while not sent or sent[-1] != -1:
        due_ms = driver.member.next_deadline_ms()
        assert due_ms is not None and due_ms < 100_000
        driver.now_ms = max(due_ms, driver.now_ms)
        if (request := driver.take()) is not None:
            sent.append(request.body["memberEpoch"])
            driver.reply(answer(sent[-1]))
    assert sent == [1, 1, -1] and driver.now_ms == polled_ms + 12_000
    assert driver.member.state is State.STALE and driver.member.next_deadline_ms() is None
    assert not driver.member.fetchable
    driver.poll()
    assert driver.callbacks == [("lost", ["foo-0"])]
    body = driver.heartbeat()
    assert (body["memberEpoch"], owned(body)) == (0, [])


def test_one_long_poll_is_a_poll_all_the_time() -> None:
    """KAFKA-16243, https://github.com/apache/kafka/pull/15372."""
    driver = Driver(max_poll_interval_ms=12_000).stable("foo-0")
    for _ in range(10):
        assert driver.heartbeat()["memberEpoch"] == 1
        driver.kept(1)
    assert driver.now_ms > 40_000
