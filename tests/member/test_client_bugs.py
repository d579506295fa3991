"""Bugs that librdkafka and franz-go shipped, each as the behaviour that it broke."""

from __future__ import annotations

import pytest
from member_driver import (
    BAR,
    FENCED,
    FETCH,
    HEARTBEAT,
    INTERVAL_MS,
    LEAVE,
    LOAD_IN_PROGRESS,
    NOT_COORDINATOR,
    STALE_EPOCH,
    UNKNOWN,
    Driver,
    answer,
    foo,
    owned,
    parts,
)

from coordinator.members.consumer import Purpose, State

# librdkafka


def test_member_does_not_leave_while_it_revokes() -> None:
    """https://github.com/confluentinc/librdkafka/pull/5488: the interval ends in a slow callback; the
    next join owns nothing."""
    driver = Driver(auto_commit=False, max_poll_interval_ms=12_000).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll_until_revoking()
    driver.now_ms += 12_000
    request = driver.take()
    assert request is not None and request.body["memberEpoch"] == 1 and owned(request.body) is None
    driver.kept(1)
    driver.member.callback_done(driver.now_ms)
    request = driver.take()
    assert request is not None and request.purpose is LEAVE
    driver.reply(answer(-1))
    driver.poll()
    assert driver.callbacks == [("lost", ["foo-0"])]
    assert owned(driver.heartbeat()) == []


def test_fenced_while_revoking_starts_afresh() -> None:
    """https://github.com/confluentinc/librdkafka/pull/4634: nothing of the old assignment is left."""
    driver = Driver().stable("foo-0", "foo-1")
    driver.member.set_position(foo(1), 20)
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll()
    assert driver.member.next_callback(driver.now_ms) is None
    driver.offsets(driver.wait(), error=UNKNOWN)
    driver.heartbeat()
    driver.error(FENCED)
    driver.poll()
    assert driver.callbacks == [("lost", ["foo-0", "foo-1"])]
    driver.heartbeat()
    driver.ok(5, "foo-1")
    driver.poll()
    assert driver.callbacks[1:] == [("assigned", ["foo-1"])]
    assert driver.wait().purpose is HEARTBEAT
    driver.kept(5)
    assert driver.wait().purpose is FETCH


def test_member_without_assignment_leaves() -> None:
    """https://github.com/confluentinc/librdkafka/pull/4634: also when it owns nothing."""
    driver = Driver().stable()
    driver.member.close(driver.now_ms)
    driver.run_callbacks()
    assert not driver.callbacks and driver.heartbeat()["memberEpoch"] == -1


@pytest.mark.parametrize("answered", ["between", "at the end"])
def test_last_of_fast_subscriptions_reaches_the_coordinator(answered: str) -> None:
    """https://github.com/confluentinc/librdkafka/pull/5015: t1, t2, t1 in one interval, with a heartbeat in
    flight that does not have them."""
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    driver.subscribe("bar")
    if answered == "between":
        driver.kept(1)
        assert driver.heartbeat()["subscribedTopicNames"] == ["bar"]
    driver.subscribe("foo")
    driver.subscribe("foo", "bar")
    changed_ms = driver.now_ms
    driver.kept(1)
    assert driver.heartbeat()["subscribedTopicNames"] == ["bar", "foo"]
    assert driver.now_ms == changed_ms


def test_unsubscribe_leaves() -> None:
    """https://github.com/confluentinc/librdkafka/blob/master/CHANGELOG.md, 1.7.0: the others need not wait
    for the session to end."""
    driver = Driver().stable("foo-0")
    driver.member.unsubscribe(driver.now_ms)
    driver.run_callbacks()
    request = driver.take()
    assert request is not None and request.body["memberEpoch"] == -1


# franz-go


@pytest.mark.parametrize("literal", [False, True])
def test_no_report_lacks_what_is_still_being_revoked(literal: bool) -> None:
    """https://github.com/twmb/franz-go/commit/d5ceeb73 and 466a4512: keep-alives, lost answers and changed
    subscriptions while the callback runs; no list may acknowledge before it has ended."""
    driver = Driver(auto_commit=False, reports_while_revoking=literal).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll_until_revoking()
    reports: list[list[str] | None] = []
    for happens in ("nothing", "told again", "lost", "subscribed", "nothing"):
        if happens == "subscribed":
            driver.subscribe("foo", "bar")
        reports.append(owned(driver.heartbeat()))
        if happens == "lost":
            driver.lose()
        else:
            driver.ok(1, "foo-0")
    assert all(report is None or report == ["foo-0", "foo-1"] for report in reports)
    driver.member.callback_done(driver.now_ms)
    assert owned(driver.heartbeat()) == ["foo-0"]


def test_partition_given_and_taken_in_consecutive_answers_is_revoked() -> None:
    """https://github.com/twmb/franz-go/commit/6536e4f3: the second comes while the callback of the first
    runs."""
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.heartbeat()
    driver.ok(2, "foo-0", "foo-1")
    driver.member.poll(driver.now_ms)
    callback = driver.member.next_callback(driver.now_ms)
    assert callback is not None and callback.partitions == parts("foo-1")
    driver.heartbeat()
    driver.ok(2, "foo-0")
    assert driver.member.fetchable == parts("foo-0")
    driver.member.callback_done(driver.now_ms)
    assert driver.member.state is State.RECONCILING
    driver.run_callbacks()
    assert driver.callbacks == [("revoked", ["foo-1"])]
    assert owned(driver.heartbeat()) == ["foo-0"]


@pytest.mark.parametrize("code", [NOT_COORDINATOR, LOAD_IN_PROGRESS])
def test_leave_is_sent_again_until_it_arrives(code: int) -> None:
    """https://github.com/twmb/franz-go/commit/88cf835c: the coordinator moves; UNKNOWN_MEMBER_ID is
    success."""
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.member.close(driver.now_ms)
    driver.run_callbacks()
    for _ in range(3):
        assert driver.heartbeat()["memberEpoch"] == -1
        driver.error(code)
    assert driver.heartbeat()["memberEpoch"] == -1
    driver.error(UNKNOWN)
    assert driver.member.state is State.UNSUBSCRIBED and driver.member.take_error() is None


def test_partition_of_an_unheard_of_topic_is_kept() -> None:
    """https://github.com/twmb/franz-go/commit/9b92299f: it is acknowledged, so it must be consumed."""
    driver = Driver()
    driver.member.subscribe(regex=".*", now_ms=0)
    driver.heartbeat()
    driver.ok(1, "bar-0")
    driver.poll()
    assert driver.callbacks == [("assigned", ["bar-0"])]
    assert owned(driver.heartbeat()) == ["bar-0"]
    driver.kept(1)
    driver.offsets(driver.wait())
    assert driver.member.fetchable == {(BAR, 0)}


@pytest.mark.parametrize("code", [NOT_COORDINATOR, STALE_EPOCH, UNKNOWN, 3])
@pytest.mark.parametrize("whole_group", [True, False])
def test_offsets_are_fetched_until_they_are_known(code: int, whole_group: bool) -> None:
    """https://github.com/twmb/franz-go/commit/8038d16d: one failure, then healthy heartbeats: the partition
    was never consumed."""
    driver = Driver()
    request = driver.fetching()
    driver.offsets(request, error=0 if whole_group else code, group_error=code if whole_group else 0)
    if whole_group:
        driver.member.offsets.positions.clear()
    began_ms, sent = driver.now_ms, list[Purpose]()
    while not driver.member.fetchable:
        assert driver.now_ms - began_ms <= INTERVAL_MS
        request = driver.wait()
        sent.append(request.purpose)
        if request.purpose is HEARTBEAT:
            driver.kept(1)
        else:
            driver.offsets(request)
    assert driver.member.offsets.positions == {foo(0): 10}
    first = [Purpose.FIND_COORDINATOR] if code == NOT_COORDINATOR else []
    first = [HEARTBEAT] if code in (STALE_EPOCH, UNKNOWN) else first
    assert sent == [*first, FETCH], "O4: the next heartbeat has the epoch, or fences the member"


def test_heartbeat_during_the_callback_shows_nothing_released() -> None:
    """https://github.com/twmb/franz-go/commit/466a4512: and nothing before the commit, either."""
    driver = Driver().stable("foo-0", "foo-1")
    driver.member.set_position(foo(1), 20)
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll()
    driver.now_ms += INTERVAL_MS
    request = driver.take()
    assert request is not None and request.purpose is HEARTBEAT and owned(request.body) is None
    driver.ok(1, "foo-0")
    driver.offsets(driver.wait())
    driver.poll_until_revoking()
    assert owned(driver.heartbeat()) is None
    driver.ok(1, "foo-0")
    driver.member.callback_done(driver.now_ms)
    assert owned(driver.heartbeat()) == ["foo-0"]


def test_position_does_not_outlive_its_partition() -> None:
    """https://github.com/confluentinc/librdkafka/blob/master/CHANGELOG.md, 1.9.0: an offset that is stored
    after the revocation is refused, one from before is forgotten."""
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    driver.member.set_position(foo(1), 20)
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll()
    with pytest.raises(ValueError, match=r"Partition 1 of topic .* is not assigned"):
        driver.member.set_position(foo(1), 21)
    driver.heartbeat()
    driver.ok(2, "foo-0", "foo-1")
    driver.poll()
    driver.heartbeat()
    driver.kept(2)
    driver.offsets(driver.wait())
    assert driver.member.offsets.positions[foo(1)] == 10


@pytest.mark.parametrize("subscribes", ["never", "while the callback runs", "after the callback"])
def test_a_second_revocation_before_the_first_is_reported(subscribes: str) -> None:
    """R1, H10: a revocation ends while a heartbeat is in flight, and its answer asks for more: the next
    heartbeat has no news, as that of the specification's member; a subscription that changed meanwhile is
    sent at once."""
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll_until_revoking()
    driver.heartbeat()
    if subscribes == "while the callback runs":
        driver.subscribe("foo", "bar")
    driver.member.callback_done(driver.now_ms)
    if subscribes == "after the callback":
        driver.subscribe("foo", "bar")
    driver.ok(1)
    body = driver.heartbeat() if subscribes == "never" else driver.heartbeat_now()
    assert owned(body) is None
    assert body["subscribedTopicNames"] == (None if subscribes == "never" else ["bar", "foo"])
    driver.ok(1)
    driver.poll()
    assert owned(driver.heartbeat()) == []
