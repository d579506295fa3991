"""The requests that a member sends, their times, and their content (H1, H2, H7, K4, S1)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from member_driver import (
    COMMIT,
    FENCED,
    HEARTBEAT,
    INTERVAL_MS,
    LOAD_IN_PROGRESS,
    NOT_AVAILABLE,
    NOT_COORDINATOR,
    REBALANCE,
    STALE_EPOCH,
    UNKNOWN,
    Driver,
    answer,
    committed,
    foo,
    names,
    owned,
    parts,
)

from coordinator.members.consumer import Purpose, State


def absent(body: dict[str, object]) -> bool:
    """Tell if the request is a keep-alive (H7)."""
    known = {"groupId", "memberId", "memberEpoch"}
    return all(value in (None, -1) for name, value in body.items() if name not in known)


def test_join_has_all_fields() -> None:
    settings = {"instance_id": "i", "rack_id": "r", "server_assignor": "range", "max_poll_interval_ms": 7_000}
    driver = Driver("", **settings).subscribe("foo", "bar")
    body = driver.heartbeat()
    assert body == {
        "groupId": "g",
        "memberId": "",
        "memberEpoch": 0,
        "instanceId": "i",
        "rackId": "r",
        "rebalanceTimeoutMs": 7_000,
        "subscribedTopicNames": ["bar", "foo"],
        "subscribedTopicRegex": None,
        "serverAssignor": "range",
        "topicPartitions": [],
    }
    driver.reply(answer(1, ("foo-0",), member="made"))
    driver.poll()
    assert driver.heartbeat()["memberId"] == "made"


def test_keep_alive_when_nothing_changes() -> None:
    driver = Driver().stable("foo-0")
    sent_ms = []
    for _ in range(3):
        assert absent(driver.heartbeat())
        sent_ms.append(driver.now_ms)
        driver.kept(1)
    assert [later - before for before, later in pairwise(sent_ms)] == [INTERVAL_MS] * 2


@pytest.mark.parametrize("code", [None, LOAD_IN_PROGRESS, NOT_AVAILABLE, NOT_COORDINATOR])
def test_all_fields_after_an_error_or_a_lost_answer(code: int | None) -> None:
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    failed_ms = driver.now_ms
    if code is None:
        driver.lose()
    else:
        driver.error(code)
    request = driver.wait()
    assert driver.now_ms > failed_ms
    if code in (NOT_AVAILABLE, NOT_COORDINATOR):
        assert request.purpose is Purpose.FIND_COORDINATOR
        driver.offsets(request)
        request = driver.wait()
    assert request.purpose is HEARTBEAT and owned(request.body) == ["foo-0"]
    assert request.body["subscribedTopicNames"] == ["foo"] and request.body["memberEpoch"] == 1


def test_pauses_get_longer_up_to_the_longest() -> None:
    driver = Driver(retry_backoff_ms=100, retry_backoff_max_ms=1_000).subscribe()
    pauses = []
    for _ in range(6):
        driver.heartbeat()
        before_ms = driver.now_ms
        driver.lose()
        driver.wait()
        pauses.append(driver.now_ms - before_ms)
        driver.lose()
    assert pauses == [100, 400, 1_000, 1_000, 1_000, 1_000]


def test_one_request_at_a_time() -> None:
    """R9: with any due requests."""
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    driver.subscribe("bar")
    driver.member.commit()
    driver.now_ms += 10 * INTERVAL_MS
    driver.poll()
    assert driver.take() is None
    driver.kept(1)
    assert driver.take() is not None


def test_answer_to_a_request_that_was_given_up_is_ignored() -> None:
    driver = Driver().stable("foo-0")
    driver.heartbeat()
    old = driver.sent
    driver.lose()
    driver.heartbeat()
    assert old is not None
    driver.member.answered(old.correlation, answer(9, ("bar-0",)), driver.now_ms)
    assert driver.member.epoch == 1 and driver.take() is None


def test_pending_partitions_do_not_make_it_hurry() -> None:
    """The assignment is repeated until others have revoked (R5); it is reported at the interval only."""
    driver = Driver().stable("foo-0")
    for _ in range(3):
        body = driver.heartbeat()
        sent_ms = driver.now_ms
        driver.ok(2, "foo-0")
        driver.poll()
        assert driver.take() is None
    assert owned(body) == ["foo-0"] and owned(driver.heartbeat()) == ["foo-0"]
    assert driver.now_ms - sent_ms == INTERVAL_MS


def test_regular_expression_is_taken_back_with_an_empty_one() -> None:
    """T1: null says unchanged."""
    driver = Driver()
    driver.member.subscribe(regex="fo+", now_ms=0)
    body = driver.heartbeat()
    assert (body["subscribedTopicNames"], body["subscribedTopicRegex"]) == ([], "fo+")
    driver.ok(1)
    driver.subscribe("bar")
    body = driver.heartbeat()
    assert (body["subscribedTopicNames"], body["subscribedTopicRegex"]) == (["bar"], "")
    driver.error(FENCED)
    driver.poll()
    assert driver.heartbeat()["subscribedTopicRegex"] is None


def test_acknowledgement_is_immediate_and_reports_what_is_left() -> None:
    """K2."""
    driver = Driver(auto_commit=False).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(1, "foo-0")
    assert driver.member.state is State.RECONCILING
    told_ms = driver.now_ms
    driver.poll()
    assert driver.member.state is State.ACKNOWLEDGING
    assert owned(driver.heartbeat()) == ["foo-0"] and driver.now_ms == told_ms
    assert driver.member.state is State.STABLE


@pytest.mark.parametrize(("literal", "expected"), [(False, None), (True, ["foo-0", "foo-1"])])
def test_report_after_a_lost_answer_while_revoking(literal: bool, expected: list[str] | None) -> None:
    """H7 literally, or in a way that a coordinator that has failed over does not misunderstand."""
    driver = Driver(auto_commit=False, reports_while_revoking=literal).stable("foo-0", "foo-1")
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.heartbeat()
    driver.lose()
    body = driver.heartbeat()
    assert owned(body) == expected and body["subscribedTopicNames"] == ["foo"]
    driver.ok(1, "foo-0")
    driver.poll()
    assert owned(driver.heartbeat()) == ["foo-0"]


def test_nothing_is_reported_before_the_member_has_revoked() -> None:
    """A coordinator that has failed over and gives foo-0 to another would take an empty report for the end of
    its revocation (R1), and the application would use foo-0 with its next poll."""
    driver = Driver().subscribe()
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.subscribe("foo", "bar")
    body = driver.heartbeat_now()
    assert owned(body) is None and body["subscribedTopicNames"] == ["bar", "foo"]
    driver.kept(1)
    driver.poll()
    assert owned(driver.heartbeat_now()) == ["foo-0"]


@pytest.mark.parametrize(
    ("instance", "how", "epoch", "names_instance"),
    [
        (None, "close", -1, None),
        (None, "unsubscribe", -1, None),
        ("i", "close", -2, "i"),
        ("i", "unsubscribe", -1, None),
    ],
)
def test_leaves(instance: str | None, how: str, epoch: int, names_instance: str | None) -> None:
    """H2, S1: a static member that closes leaves for a while only."""
    driver = Driver(instance_id=instance, auto_commit=False).stable("foo-0")
    getattr(driver.member, how)(driver.now_ms)
    assert driver.take() is None and not driver.member.fetchable
    driver.run_callbacks()
    assert driver.callbacks == [("revoked", ["foo-0"])] and driver.member.state is State.LEAVING
    body = driver.heartbeat()
    assert (body["memberEpoch"], body["instanceId"]) == (epoch, names_instance)
    driver.reply(answer(epoch))
    assert driver.member.state is State.UNSUBSCRIBED and driver.member.next_deadline_ms() is None


def test_without_a_member_id_there_is_nothing_to_leave() -> None:
    """H2, H3: the join was not answered; it closes while it looks for the coordinator, and sends no leave."""
    driver = Driver(member_id="").subscribe()
    assert driver.heartbeat_now()["memberEpoch"] == 0
    driver.lose(disconnected=True)
    request = driver.wait()
    assert request.purpose is Purpose.FIND_COORDINATOR
    driver.member.close(driver.now_ms)
    driver.offsets(request)
    assert driver.take() is None and driver.member.state is State.UNSUBSCRIBED


def test_commits_before_it_leaves() -> None:
    """K4: with auto-commit, all positions, before the application gives them up."""
    driver = Driver().stable("foo-0", "foo-1")
    driver.member.set_position(next(iter(parts("foo-1"))), 20)
    driver.member.close(driver.now_ms)
    driver.run_callbacks()
    assert not driver.callbacks
    request = driver.wait()
    assert request.purpose is COMMIT and committed(request.body) == {"foo-0": 10, "foo-1": 20}
    driver.offsets(request)
    driver.run_callbacks()
    assert driver.callbacks == [("revoked", ["foo-0", "foo-1"])]
    assert driver.heartbeat()["memberEpoch"] == -1


def test_commits_only_what_it_gives_up() -> None:
    """K2; the body has the member's id and epoch of now."""
    driver = Driver(instance_id="i").stable("foo-0", "foo-1")
    for partition in parts("foo-0", "foo-1"):
        driver.member.set_position(partition, 30)
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll()
    assert not driver.callbacks
    body = driver.wait().body
    assert committed(body) == {"foo-1": 30}
    assert (body["memberId"], body["generationIdOrMemberEpoch"], body["groupInstanceId"]) == ("m", 1, "i")


def test_commit_that_cannot_succeed_does_not_stop_the_revocation() -> None:
    driver = Driver().stable("foo-0")
    driver.member.set_position(next(iter(parts("foo-0"))), 30)
    driver.heartbeat()
    driver.ok(2)
    driver.poll()
    driver.offsets(driver.wait(), error=100)
    driver.poll()
    assert driver.callbacks == [("revoked", ["foo-0"])]
    assert "not committed" in str(driver.member.take_error())


def test_commit_before_revocation_ends_with_the_rebalance_timeout() -> None:
    """R4: after that the member is out anyway."""
    driver = Driver(max_poll_interval_ms=60_000).stable("foo-0")
    driver.member.set_position(next(iter(parts("foo-0"))), 30)
    driver.heartbeat()
    driver.ok(2)
    driver.poll()
    began_ms = driver.now_ms
    while not driver.callbacks:
        request = driver.wait()
        if request.purpose is COMMIT:
            driver.offsets(request, error=LOAD_IN_PROGRESS)
        else:
            driver.kept(2)
        driver.poll()
    assert 60_000 <= driver.now_ms - began_ms < 62_000


def test_commit_of_the_application_is_tried_once() -> None:
    driver = Driver().stable("foo-0")
    driver.member.set_position(next(iter(parts("foo-0"))), 30)
    driver.member.commit()
    request = driver.wait()
    assert request.purpose is Purpose.COMMIT
    driver.offsets(request, error=LOAD_IN_PROGRESS)
    callback = driver.member.next_callback(driver.now_ms)
    assert (
        callback is not None
        and callback.error == LOAD_IN_PROGRESS
        and names(callback.partitions) == ["foo-0"]
    )
    driver.member.callback_done(driver.now_ms)
    assert driver.wait().purpose is HEARTBEAT


def test_partition_without_committed_offset_starts_at_the_reset_offset() -> None:
    driver = Driver(reset_offset=3).subscribe()
    driver.heartbeat()
    driver.ok(1, "foo-0")
    driver.poll()
    driver.heartbeat()
    driver.kept(1)
    request = driver.wait()
    assert request.purpose is Purpose.FETCH_OFFSETS and not driver.member.fetchable
    results = [{"partitionIndex": 0, "committedOffset": -1, "errorCode": 0}]
    topic = {"topicId": next(iter(parts("foo-0")))[0], "partitions": results}
    driver.reply({"groups": [{"groupId": "g", "errorCode": 0, "topics": [topic]}]})
    assert driver.member.offsets.positions == dict.fromkeys(parts("foo-0"), 3)
    assert driver.member.fetchable == parts("foo-0")


def test_static_member_that_does_not_poll_leaves_for_a_while() -> None:
    driver = Driver(instance_id="i", max_poll_interval_ms=60_000).stable("foo-0")
    driver.now_ms += 60_000
    request = driver.take()
    assert request is not None and request.body["memberEpoch"] == -2


def test_fenced_member_joins_with_the_same_id_after_its_callback() -> None:
    """K1, H1."""
    for code in (FENCED, UNKNOWN):
        driver = Driver().stable("foo-0")
        driver.heartbeat()
        driver.error(code)
        driver.now_ms += 100_000
        assert driver.member.state is State.FENCED and driver.take() is None
        driver.poll()
        body = driver.heartbeat()
        assert (body["memberId"], body["memberEpoch"], owned(body)) == ("m", 0, [])


def test_closed_member_is_not_used_again() -> None:
    driver = Driver()
    driver.member.close(0)
    assert driver.member.state is State.UNSUBSCRIBED and driver.take() is None
    with pytest.raises(ValueError, match="closed: make a new one"):
        driver.subscribe()
    with pytest.raises(ValueError, match="No callback is running"):
        driver.member.callback_done(0)


def test_o4_a_stale_commit_of_the_application_is_repeated_after_the_next_heartbeat() -> None:
    """O4: with the new epoch and the positions of that time; the application gets only the end."""
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.commit()
    commit = driver.take()
    assert commit is not None and commit.purpose is Purpose.COMMIT
    driver.offsets(commit, STALE_EPOCH)
    driver.run_callbacks()
    assert driver.callbacks == []
    driver.member.set_position(foo(0), 21)
    driver.heartbeat()
    driver.kept(2)
    again = driver.wait()
    assert again.purpose is Purpose.COMMIT
    assert again.body["generationIdOrMemberEpoch"] == 2 and committed(again.body) == {"foo-0": 21}
    driver.offsets(again)
    driver.run_callbacks()
    assert driver.callbacks == [("on_commit_complete", ["foo-0"])]


def test_o4_it_is_not_repeated_before_a_heartbeat_is_answered() -> None:
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.commit()
    driver.offsets(driver.wait(), STALE_EPOCH)
    for _ in range(3):
        assert driver.wait().purpose is HEARTBEAT
        driver.lose()
    assert driver.wait().purpose is HEARTBEAT
    driver.kept(2)
    assert driver.wait().purpose is Purpose.COMMIT


def test_o4_a_fenced_member_hears_that_it_did_not_commit() -> None:
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.commit()
    driver.offsets(driver.wait(), STALE_EPOCH)
    driver.heartbeat()
    driver.error(FENCED)
    driver.poll()
    assert driver.errors == [UNKNOWN]


def test_a_commit_of_what_is_revoked_meanwhile_ends() -> None:
    """The application waits for on_commit_complete; there is nothing left that could be committed."""
    driver = Driver(auto_commit=False).stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.commit()
    driver.offsets(driver.wait(), STALE_EPOCH)
    driver.heartbeat()
    driver.ok(2)
    driver.poll()
    assert ("on_commit_complete", []) in driver.callbacks
    assert driver.errors == [REBALANCE]


def test_an_answer_with_a_partition_that_was_not_sent_changes_nothing_else() -> None:
    """O1: such a partition is ignored, and the commit ends."""
    driver = Driver().stable("foo-0")
    driver.member.set_position(foo(0), 20)
    driver.member.commit()
    request = driver.wait()
    strange = {"partitionIndex": 7, "errorCode": 0}
    own = {"partitionIndex": 0, "errorCode": 0}
    driver.reply({"topics": [{"topicId": foo(0)[0], "partitions": [strange, own]}]})
    driver.poll()
    assert request.api == "OffsetCommit" and driver.callbacks == [("on_commit_complete", ["foo-0"])]
    assert not driver.member.offsets.committable()
