"""Answers that no coordinator should give, or that come late: the member pauses, and stays as it was (E4,
O3)."""

from __future__ import annotations

import pytest
from member_driver import FETCH, HEARTBEAT, UNKNOWN, Driver, foo, names

from coordinator.members.consumer import Purpose, State


def test_a_partition_without_a_result_is_fetched_again_after_a_pause() -> None:
    """O3: an OffsetFetch answer without an error, and without the partition, or without the group."""
    driver = Driver()
    driver.fetching()
    for pause_ms, groups in (
        (100, [{"groupId": "g", "errorCode": 0, "topics": []}]),
        (200, []),
    ):
        driver.reply({"groups": groups})
        began_ms = driver.now_ms
        assert driver.wait().purpose is FETCH and driver.now_ms == began_ms + pause_ms
    assert driver.sent is not None
    driver.offsets(driver.sent)
    assert names(driver.member.fetchable) == ["foo-0"]


def test_a_join_that_is_refused_again_and_again_has_pauses() -> None:
    """K1: UNKNOWN_MEMBER_ID to a join; the pause gets longer."""
    driver = Driver().subscribe()
    times = []
    for _ in range(4):
        assert driver.heartbeat()["memberEpoch"] == 0
        times.append(driver.now_ms)
        driver.error(UNKNOWN)
    assert times == [0, 100, 300, 700]


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_join_that_is_answered_without_an_epoch_is_repeated(epoch: int) -> None:
    """E4: such a member would be in no group."""
    driver = Driver().subscribe()
    driver.heartbeat()
    driver.ok(epoch, "foo-0")
    driver.poll()
    assert driver.member.state is State.JOINING and not driver.callbacks
    assert driver.take() is None
    assert driver.heartbeat()["memberEpoch"] == 0


@pytest.mark.parametrize("epoch", [3, 0, -1])
def test_an_epoch_does_not_fall(epoch: int) -> None:
    """E4: the answer is ignored, and the heartbeat is repeated with all fields after a pause."""
    driver = Driver().stable("foo-0", epoch=7)
    driver.heartbeat()
    driver.ok(epoch, "foo-1")
    driver.poll()
    assert driver.member.epoch == 7 and not driver.callbacks and driver.take() is None
    body = driver.heartbeat()
    assert body["memberEpoch"] == 7 and body["subscribedTopicNames"] == ["foo"]


def test_a_late_answer_to_a_commit_says_nothing_of_a_partition_that_is_lost() -> None:
    """O3: the application stalls while a commit is in flight. The member gets the partition again, seeks to
    the same position, and must commit that: meanwhile the group was elsewhere."""
    driver = Driver(max_poll_interval_ms=10_000).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.commit()
    request = driver.take()
    assert request is not None and request.purpose is Purpose.COMMIT
    driver.now_ms += 20_000
    assert driver.take() is None and driver.member.state is State.LEAVING
    driver.run_callbacks()
    driver.sent = request
    driver.offsets(request)
    driver.heartbeat()
    driver.kept(-1)
    driver.poll()
    driver.heartbeat()
    driver.ok(5, "foo-0")
    driver.poll()
    driver.member.set_position(foo(0), 20)
    assert names(driver.member.offsets.committable()) == ["foo-0"]


def test_one_callback_at_a_time() -> None:
    """K3: the result of a commit waits for the end of on_partitions_revoked."""
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    driver.member.set_position(foo(0), 20)
    driver.heartbeat()
    driver.ok(2, "foo-1")
    driver.poll_until_revoking()
    driver.member.commit()
    request = driver.wait()
    assert request.purpose is Purpose.COMMIT
    driver.offsets(request)
    assert driver.member.next_callback(driver.now_ms) is None
    driver.member.callback_done(driver.now_ms)
    assert names(driver.member.owned) == ["foo-1"]
    driver.run_callbacks()
    assert driver.callbacks == [("on_commit_complete", ["foo-0", "foo-1"])]


def test_offsets_that_arrive_later_do_not_replace_a_position() -> None:
    """O3: the application sought while its OffsetFetch was in flight."""
    driver = Driver()
    driver.fetching()
    driver.member.set_position(foo(0), 77)
    assert driver.sent is not None
    driver.offsets(driver.sent)
    assert driver.member.offsets.positions == {foo(0): 77}
    assert names(driver.member.offsets.committable()) == ["foo-0"]


def test_a_commit_without_an_answer_ends() -> None:
    """O4: the application hears that its commit timed out; then the member goes on."""
    driver = Driver().stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.commit()
    driver.wait()
    driver.lose()
    driver.poll()
    assert driver.callbacks == [("on_commit_complete", ["foo-0"])] and driver.errors == [7]
    assert driver.wait().purpose is HEARTBEAT


def test_a_coordinator_that_is_not_named_is_looked_for_again() -> None:
    """K1: the answer to FindCoordinator names none."""
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    driver.lose(disconnected=True)
    for _ in range(2):
        assert driver.wait().purpose is Purpose.FIND_COORDINATOR
        driver.reply({"coordinators": []})
