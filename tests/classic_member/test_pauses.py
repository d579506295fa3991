"""A classic member pauses after each failure, and copes with answers that no coordinator should give (C1)."""

from __future__ import annotations

import pytest
from scripted_member import (
    COOPERATIVE,
    INCONSISTENT,
    MEMBER_ID_REQUIRED,
    REBALANCE,
    UNKNOWN,
    ScriptedMember,
)

from coordinator.members.classic import Phase
from coordinator.members.consumer.types import MemberError


def joining() -> ScriptedMember:
    """A member whose first JoinGroup is in flight."""
    script = ScriptedMember(COOPERATIVE)
    script.member.subscribe({"foo"}, 0)
    script.run()
    return script


def pause_ms(script: ScriptedMember) -> int:
    """The time until the next request."""
    assert script.sent is None
    due_ms = script.member.next_deadline_ms()
    assert due_ms is not None
    return due_ms - script.now_ms


def test_a_join_without_an_answer_is_sent_again_after_a_pause() -> None:
    """C1: a refused connection is noticed at once."""
    script = joining()
    for _ in range(3):
        assert script.sent is not None and script.sent.api == "JoinGroup"
        script.member.failed(script.sent.correlation, script.now_ms)
        script.run()
        assert pause_ms(script) == 100
        script.now_ms += 100
        script.run()


@pytest.mark.parametrize("error", [REBALANCE, UNKNOWN, 22, MEMBER_ID_REQUIRED])
def test_a_refused_join_is_sent_again_after_a_pause(error: int) -> None:
    """C1: the coordinator may refuse each of them. Only the first member id is sent without a pause."""
    script = joining()
    if error == MEMBER_ID_REQUIRED:
        script.reply(errorCode=error, memberId="m")
        assert script.sent is not None and script.sent.body["memberId"] == "m"
    script.reply(errorCode=error, memberId="m")
    assert pause_ms(script) == 100
    script.now_ms += 100
    script.run()
    assert script.sent is not None and script.sent.api == "JoinGroup"


@pytest.mark.parametrize("name", ["another", None])
def test_an_assignor_that_the_member_does_not_have_ends_it(name: str | None) -> None:
    """C4: a follower could not take its assignment."""
    script = joining()
    script.reply(memberId="m", generationId=1, protocolName=name, members=[], skipAssignment=False)
    error = script.member.take_error()
    assert script.member.phase is Phase.FAILED and script.sent is None
    assert isinstance(error, MemberError) and error.code == INCONSISTENT
