"""A classic member that closes at any moment: its partitions are revoked once, and released before the
coordinator knows (C6; real bugs 29 and 97)."""

from __future__ import annotations

import pytest
from scripted_member import COOPERATIVE, EAGER, REBALANCE, ScriptedMember, named, parts

from coordinator.classic.assignors import RebalanceProtocol
from coordinator.members.classic import Phase

BOTH = pytest.mark.parametrize("protocols", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])


def closed(script: ScriptedMember) -> list[str]:
    """The events from now on, when the member closes here."""
    script.log.clear()
    script.member.close()
    script.run()
    assert not script.member.owned
    if script.sent is not None:
        script.reply()
    assert script.member.phase is Phase.UNSUBSCRIBED and script.sent is None
    return script.log


def test_close_revokes_and_leaves() -> None:
    assert closed(ScriptedMember(COOPERATIVE).stable("foo-0")) == ["revoked foo-0", "LeaveGroup"]


def test_close_before_the_first_request_leaves_nothing() -> None:
    script = ScriptedMember(COOPERATIVE)
    script.member.subscribe({"foo"}, 0)
    assert closed(script) == []


@BOTH
def test_97_an_assignment_that_comes_while_it_closes_is_never_taken(
    protocols: frozenset[RebalanceProtocol],
) -> None:
    """The member's SyncGroup is in flight, and the answer comes later."""
    script = ScriptedMember(protocols).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.joined()
    late = script.sent
    assert late is not None and late.api == "SyncGroup"
    script.log.clear()
    script.member.close()
    script.sent = late
    script.assigned("foo-1")
    script.run()
    assert script.log == [*(["revoked foo-0"] if protocols is COOPERATIVE else []), "LeaveGroup"]
    assert not script.member.owned


@BOTH
def test_97_an_assignment_that_the_application_has_not_seen_is_void(
    protocols: frozenset[RebalanceProtocol],
) -> None:
    script = ScriptedMember(protocols).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.joined()
    script.assigned("foo-1 foo-2")
    assert closed(script) == [*(["revoked foo-0"] if protocols is COOPERATIVE else []), "LeaveGroup"]


@BOTH
def test_partitions_that_are_being_assigned_are_revoked(protocols: frozenset[RebalanceProtocol]) -> None:
    """The member closes within on_partitions_assigned."""
    script = ScriptedMember(protocols).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.joined()
    script.assigned("foo-0 foo-1")
    callback = script.member.next_callback(script.now_ms)
    assert callback is not None and callback.name.value == "on_partitions_assigned"
    script.member.close()
    script.member.callback_done(script.now_ms)
    assert closed(script) == ["revoked foo-0 foo-1", "LeaveGroup"]


@BOTH
@pytest.mark.parametrize("running", [False, True], ids=["waits", "runs"])
def test_partitions_that_are_being_revoked_are_revoked_once(
    protocols: frozenset[RebalanceProtocol], running: bool
) -> None:
    script = ScriptedMember(protocols).stable("bar-0 foo-0")
    script.member.subscribe({"bar"}, 0)
    if not running:
        assert closed(script) == ["revoked bar-0 foo-0", "LeaveGroup"]
        return
    callback = script.member.next_callback(script.now_ms)
    assert callback is not None and callback.name.value == "on_partitions_revoked"
    script.member.close()
    script.member.callback_done(script.now_ms)
    rest = parts("bar-0 foo-0") - callback.partitions
    assert closed(script) == [*([f"revoked {named(rest)}"] if rest else []), "LeaveGroup"]


def test_29_a_static_member_does_not_leave_and_keeps_its_member_id() -> None:
    """S1: a process that subscribes again is the same member, and is not fenced by itself."""
    script = ScriptedMember(COOPERATIVE, instance_id="i").stable("foo-0")
    assert closed(script) == ["revoked foo-0"]
    script.member.subscribe({"foo"}, script.now_ms)
    script.run()
    assert script.sent is not None and script.log[-1] == "JoinGroup"
    assert script.sent.body["memberId"] == "m" and script.sent.body["groupInstanceId"] == "i"
