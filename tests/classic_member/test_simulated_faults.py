"""Faults of the classic member that the simulation of whole groups showed (C2, C3, C6, O2)."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_member import COOPERATIVE, EAGER, ScriptedMember, named, parts

from coordinator.members.classic import Phase
from coordinator.members.consumer import MemberError

FOO = {("foo", 0): 5, ("foo", 1): 7}
NOT_COORDINATOR, UNKNOWN_TOPIC, FENCED_INSTANCE = 16, 3, 82


def committing() -> ScriptedMember:
    """A member whose commit is under way."""
    scripted = ScriptedMember(EAGER).stable("foo-0 foo-1")
    scripted.member.commit(FOO)
    scripted.sent = scripted.member.take_request(scripted.now_ms)
    assert offsets(scripted) == FOO
    return scripted


def offsets(scripted: ScriptedMember) -> dict[tuple[str, int], int]:
    """The offsets of the commit that was sent."""
    assert scripted.sent is not None and scripted.sent.api == "OffsetCommit"
    return {
        (topic["name"], one["partitionIndex"]): one["committedOffset"]
        for topic in scripted.sent.body["topics"]
        for one in topic["partitions"]
    }


def refuse(scripted: ScriptedMember, error: int) -> None:
    """The commit is answered with an error for each partition."""
    assert scripted.sent is not None
    topics: list[dict[str, Any]] = [
        {"name": "foo", "partitions": [{"partitionIndex": 0, "errorCode": error}]}
    ]
    scripted.member.answered(scripted.sent.correlation, {"topics": topics}, scripted.now_ms)
    scripted.sent = scripted.member.take_request(scripted.now_ms)


def test_a_commit_of_a_deleted_topic_does_not_end_the_member() -> None:
    """The application is told, and the member stays in its generation."""
    scripted = committing()
    refuse(scripted, UNKNOWN_TOPIC)
    error = scripted.member.take_error()
    assert isinstance(error, MemberError) and error.code == UNKNOWN_TOPIC
    assert scripted.member.phase is Phase.STABLE
    assert scripted.sent is None


def test_a_fenced_static_member_ends() -> None:
    scripted = committing()
    refuse(scripted, FENCED_INSTANCE)
    assert scripted.member.phase is Phase.FAILED


def test_a_commit_is_sent_again_after_an_error_that_passes() -> None:
    """After a pause; a later commit of the same partition goes over the earlier one."""
    scripted = committing()
    refuse(scripted, NOT_COORDINATOR)
    assert scripted.sent is None
    scripted.member.commit({("foo", 0): 6})
    scripted.now_ms += 100
    scripted.sent = scripted.member.take_request(scripted.now_ms)
    assert offsets(scripted) == FOO | {("foo", 0): 6}
    assert scripted.member.take_error() is None


def test_a_commit_without_an_answer_is_sent_again() -> None:
    scripted = committing()
    assert scripted.sent is not None
    scripted.member.failed(scripted.sent.correlation, scripted.now_ms)
    assert scripted.member.take_request(scripted.now_ms) is None, "it pauses"
    scripted.now_ms += scripted.member.settings.retry_backoff_ms
    scripted.sent = scripted.member.take_request(scripted.now_ms)
    assert offsets(scripted) == FOO


@pytest.mark.parametrize("error", [25, 22, 27])
def test_a_commit_that_a_rebalance_overtakes_is_refused_and_not_sent_again(error: int) -> None:
    scripted = committing()
    refuse(scripted, error)
    scripted.log.clear()
    scripted.run()
    refusal = scripted.member.take_error()
    assert isinstance(refusal, MemberError) and refusal.code == error
    done = [line.split()[0] for line in scripted.log if line != "user data"]
    assert done == ["revoked" if error == 27 else "lost", "JoinGroup"]


@pytest.mark.parametrize("protocols", [EAGER, COOPERATIVE])
def test_a_loss_is_reported_even_as_the_member_closes(protocols: Any) -> None:
    """The application gets the error: else nothing would report that the partitions have ended."""
    scripted = ScriptedMember(protocols).stable("foo-0 foo-1")
    scripted.now_ms += 10_000
    heartbeat = scripted.member.take_request(scripted.now_ms)
    assert heartbeat is not None and heartbeat.api == "Heartbeat"
    scripted.member.answered(heartbeat.correlation, {"errorCode": 25}, scripted.now_ms)
    scripted.member.close()
    scripted.run()
    assert scripted.log == ["lost foo-0 foo-1"]
    assert scripted.member.phase is Phase.UNSUBSCRIBED


def test_a_subscription_that_changes_before_the_assignment_is_refused_is_not_claimed() -> None:
    """The member does not claim partitions of a topic that it gave up while its SyncGroup was under way."""
    scripted = ScriptedMember(COOPERATIVE).stable("bar-0 foo-0")
    scripted.heartbeat(27)
    scripted.joined()
    assert scripted.sent is not None and scripted.sent.api == "SyncGroup"
    scripted.member.subscribe({"foo"}, scripted.now_ms)
    scripted.log.clear()
    scripted.reply(errorCode=27)
    assert [line for line in scripted.log if line != "user data"] == ["revoked bar-0", "JoinGroup foo-0"]
    assert named(scripted.member.owned) == "foo-0"


@pytest.mark.parametrize("leads", [True, False])
def test_a_leader_rejoins_for_topics_that_changed_after_it_assigned(leads: bool) -> None:
    """The topics change while the SyncGroup is in flight: no other member would notice (C2)."""
    scripted = ScriptedMember(COOPERATIVE)
    scripted.member.subscribe({"foo", "bar"}, scripted.now_ms)
    scripted.run()
    scripted.joined(leader=leads)
    scripted.member.topics_are({"foo": 5, "bar": 4}, scripted.now_ms)
    scripted.log.clear()
    scripted.synced("foo-0")
    assert ("JoinGroup foo-0" in scripted.log) == leads


def test_a_commit_that_is_lost_while_the_member_rejoins_is_not_sent_again() -> None:
    """O2: the member was in another generation when it committed, and may not own the partition any more."""
    scripted = committing()
    commit = scripted.sent
    assert commit is not None
    scripted.member.enforce_rebalance(scripted.now_ms)
    scripted.member.failed(commit.correlation, scripted.now_ms)
    scripted.now_ms += 100
    scripted.run()
    scripted.joined()
    scripted.log.clear()
    scripted.synced("foo-0")
    assert scripted.log == ["on assignment foo-0", "assigned foo-0"] and scripted.sent is None


def test_nothing_is_fetched_that_the_assignment_took_away() -> None:
    """C6: before the application polls, too: the next owner begins at the committed position."""
    scripted = ScriptedMember(COOPERATIVE).stable("foo-0 foo-1")
    scripted.heartbeat(27)
    scripted.joined()
    scripted.assigned("foo-0")
    assert named(scripted.member.owned) == "foo-0 foo-1"
    assert named(scripted.member.fetchable) == "foo-0"


@pytest.mark.parametrize("protocols", [EAGER, COOPERATIVE])
def test_an_assignor_gets_the_last_assignment_with_its_generation(protocols: Any) -> None:
    """C5: what it writes of both into the subscription lets the leader tell old claims from new ones."""
    scripted = ScriptedMember(protocols)
    scripted.member.subscribe({"foo", "bar"}, 0)
    scripted.run()
    assert scripted.assignor.last == (frozenset(), -1)
    scripted.joined()
    scripted.synced("foo-0")
    scripted.heartbeat(27)
    assert scripted.assignor.last == (parts("foo-0"), 1)
    scripted.joined()
    scripted.synced("foo-0 foo-1")
    scripted.heartbeat(27)
    assert scripted.assignor.last == (parts("foo-0 foo-1"), 2)


def test_a_subscription_that_changes_before_the_assignment_is_sent_after_it() -> None:
    """C1, C3: the coordinator has the topics of the last JoinGroup; the member rejoins with the new ones."""
    scripted = ScriptedMember(COOPERATIVE).stable("foo-0")
    scripted.heartbeat(27)
    scripted.joined()
    scripted.member.subscribe({"foo", "baz"}, scripted.now_ms)
    scripted.log.clear()
    scripted.synced("foo-0")
    assert scripted.log[-1] == "JoinGroup foo-0"
