"""The order and the arguments of callbacks, as KIP-429 lists them for eager and cooperative members (C6)."""

from __future__ import annotations

import pytest
from scripted_member import (
    COOPERATIVE,
    EAGER,
    ILLEGAL_GENERATION,
    INCONSISTENT,
    REBALANCE,
    UNKNOWN,
    Partitions,
    ScriptedMember,
    named,
    parts,
)

from coordinator import Coordinator
from coordinator.members.classic import ClassicConsumer, Phase
from coordinator.members.consumer import Listener, MemberError

# The events of a member at rest with foo-0 and foo-1, and their log: an error of a heartbeat, "join" or
# "lead" for the answer to a JoinGroup, "= ..." for an assignment.
Told = list[int | str]
TABLE: dict[str, tuple[frozenset[int], Told, list[str]]] = {
    "eager 1: lost, unless nothing was owned; then it rejoins": (
        EAGER,
        [UNKNOWN],
        ["lost foo-0 foo-1", "user data", "JoinGroup"],
    ),
    "eager 1: the same where the generation is another": (
        EAGER,
        [ILLEGAL_GENERATION],
        ["lost foo-0 foo-1", "user data", "JoinGroup"],
    ),
    "eager 2, 3: everything is revoked, then user data is asked for": (
        EAGER,
        [REBALANCE],
        ["revoked foo-0 foo-1", "user data", "JoinGroup"],
    ),
    "eager 4, 5, 6: the leader assigns; all that is assigned is new": (
        EAGER,
        [REBALANCE, "lead", "= foo-1 foo-2"],
        [
            *["revoked foo-0 foo-1", "user data", "JoinGroup"],
            *["assign", "SyncGroup {'m': 'foo-1 foo-2'}"],
            *["on assignment foo-1 foo-2", "assigned foo-1 foo-2"],
        ],
    ),
    "eager: a follower does not assign": (
        EAGER,
        [REBALANCE, "join", "="],
        ["revoked foo-0 foo-1", "user data", "JoinGroup", "SyncGroup", "on assignment", "assigned"],
    ),
    "eager 2: with nothing, nothing is revoked; 6: assigned always is": (
        EAGER,
        [REBALANCE, "join", "=", REBALANCE],
        [
            *["revoked foo-0 foo-1", "user data", "JoinGroup", "SyncGroup", "on assignment", "assigned"],
            *["user data", "JoinGroup"],
        ],
    ),
    "cooperative 1: lost, unless nothing was owned; then it rejoins": (
        COOPERATIVE,
        [UNKNOWN],
        ["lost foo-0 foo-1", "user data", "JoinGroup"],
    ),
    "cooperative 1: with nothing, nothing is lost": (
        COOPERATIVE,
        [REBALANCE, "join", "=", UNKNOWN],
        [
            *["user data", "JoinGroup foo-0 foo-1", "SyncGroup"],
            *["revoked foo-0 foo-1", "on assignment", "assigned", "user data", "JoinGroup"],
            *["user data", "JoinGroup"],
        ],
    ),
    "cooperative 2, 3: nothing is revoked before it rejoins, and all is claimed": (
        COOPERATIVE,
        [REBALANCE],
        ["user data", "JoinGroup foo-0 foo-1"],
    ),
    "cooperative 4: the leader assigns": (
        COOPERATIVE,
        [REBALANCE, "lead"],
        ["user data", "JoinGroup foo-0 foo-1", "assign", "SyncGroup {'m': 'foo-1 foo-2'}"],
    ),
    "cooperative 5, 6, 7: revoked what moves, the assignor, assigned what is new; then it rejoins": (
        COOPERATIVE,
        [REBALANCE, "join", "= foo-1 foo-2"],
        [
            *["user data", "JoinGroup foo-0 foo-1", "SyncGroup"],
            *["revoked foo-0", "on assignment foo-1 foo-2", "assigned foo-2"],
            *["user data", "JoinGroup foo-1 foo-2"],
        ],
    ),
    "cooperative 5: revoked is not called where nothing moves; 7: assigned always is": (
        COOPERATIVE,
        [REBALANCE, "join", "= foo-0 foo-1"],
        ["user data", "JoinGroup foo-0 foo-1", "SyncGroup", "on assignment foo-0 foo-1", "assigned"],
    ),
    "cooperative: a rebalance that another overtakes changes nothing": (
        COOPERATIVE,
        [REBALANCE, "join", REBALANCE, "join", "= foo-0 foo-1"],
        [
            *["user data", "JoinGroup foo-0 foo-1", "SyncGroup", "user data", "JoinGroup foo-0 foo-1"],
            *["SyncGroup", "on assignment foo-0 foo-1", "assigned"],
        ],
    ),
    "eager: a rebalance that another overtakes revokes nothing twice": (
        EAGER,
        [REBALANCE, "join", REBALANCE, "join", "= foo-0"],
        [
            *["revoked foo-0 foo-1", "user data", "JoinGroup", "SyncGroup", "user data", "JoinGroup"],
            *["SyncGroup", "on assignment foo-0", "assigned foo-0"],
        ],
    ),
}


def tell(script: ScriptedMember, answer: Told) -> None:
    """Make all events happen."""
    for event in answer:
        assert script.sent is not None or isinstance(event, int)
        if event in ("join", "lead"):
            script.assignor.result = {"m": parts("foo-1 foo-2")}
            script.joined(leader=event == "lead")
        elif isinstance(event, str):
            script.synced(event.removeprefix("="))
        elif script.sent is not None:
            script.reply(errorCode=event)
            if script.sent is None:
                script.now_ms += script.member.settings.retry_backoff_ms
                script.run()
        else:
            script.heartbeat(event)


@pytest.mark.parametrize("case", TABLE)
def test_timeline(case: str) -> None:
    protocols, answer, expected = TABLE[case]
    script = ScriptedMember(protocols).stable("foo-0 foo-1")
    tell(script, answer)
    assert script.log == expected


def test_first_join_runs_no_callback() -> None:
    for protocols in (EAGER, COOPERATIVE):
        script = ScriptedMember(protocols)
        script.member.subscribe({"foo"}, 0)
        script.run()
        assert script.log == ["user data", "JoinGroup"]


# The number of partitions of each topic; the subscription; the callbacks of a cooperative and of an eager
# member with bar-0, foo-0 and foo-3 at the rejoin, and the claims of the cooperative one.
CHANGES: dict[str, tuple[dict[str, int], set[str], list[str], list[str], str]] = {
    "not subscribed to any more": (
        {"foo": 4, "bar": 4},
        {"foo"},
        ["revoked bar-0"],
        ["revoked bar-0 foo-0 foo-3"],
        "foo-0 foo-3",
    ),
    "a topic is gone": (
        {"foo": 4},
        {"foo", "bar"},
        ["lost bar-0"],
        ["lost bar-0", "revoked foo-0 foo-3"],
        "foo-0 foo-3",
    ),
    "both": (
        {"foo": 3, "bar": 4},
        {"foo"},
        ["lost foo-3", "revoked bar-0"],
        ["lost foo-3", "revoked bar-0 foo-0"],
        "foo-0",
    ),
    "gone, and not subscribed to any more": (
        {"foo": 4},
        {"foo"},
        ["lost bar-0"],
        ["lost bar-0", "revoked foo-0 foo-3"],
        "foo-0 foo-3",
    ),
    "everything is gone": ({}, {"foo", "bar"}, ["lost bar-0 foo-0 foo-3"], ["lost bar-0 foo-0 foo-3"], ""),
}


@pytest.mark.parametrize("case", CHANGES)
@pytest.mark.parametrize("protocols", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])
def test_before_a_rejoin_what_is_gone_is_lost_and_what_is_unwanted_is_revoked(
    case: str, protocols: frozenset[int]
) -> None:
    """1a and 1b of the algorithm."""
    partitions, topics, cooperative, eager, claimed = CHANGES[case]
    script = ScriptedMember(protocols).stable("bar-0 foo-0 foo-3")
    script.member.topics_are(partitions, 0)
    script.member.subscribe(topics, 0)
    if topics == {"foo", "bar"}:
        script.heartbeat(REBALANCE)
    else:
        script.run()
    before, claims = (eager, "") if protocols is EAGER else (cooperative, claimed)
    assert script.log == [*before, "user data", f"JoinGroup {claims}".strip()]


def test_unsubscribed_partitions_are_revoked_before_the_join_group() -> None:
    """1a: the first JoinGroup after that does not claim it."""
    script = ScriptedMember(COOPERATIVE).stable("bar-0 foo-0")
    due_ms = script.member.next_deadline_ms()
    assert due_ms is not None
    heartbeat = script.member.take_request(due_ms)
    assert heartbeat is not None
    script.member.answered(heartbeat.correlation, {"errorCode": REBALANCE}, due_ms)
    script.member.subscribe({"foo"}, due_ms)
    script.run()
    assert script.log == ["revoked bar-0", "user data", "JoinGroup foo-0"]


def test_gone_partitions_are_lost_as_the_member_rejoins_and_not_before() -> None:
    """1b is about a JoinGroup: a member that gave something up and did not rejoin would leave it without an
    owner, if the topic were made again."""
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.member.topics_are({}, 0)
    script.run()
    assert script.log == [] and named(script.member.owned) == "foo-0"
    script.heartbeat(REBALANCE)
    assert script.log == ["lost foo-0", "user data", "JoinGroup"]


def test_a_member_removed_with_partitions_to_lose_loses_all_at_once() -> None:
    """Each partition ends once."""
    script = ScriptedMember(COOPERATIVE).stable("bar-0 foo-0")
    script.member.topics_are({"foo": 4}, 0)
    script.member.subscribe({"foo"}, 0)
    script.heartbeat_before_callbacks(UNKNOWN)
    assert script.log == ["lost bar-0 foo-0", "user data", "JoinGroup"]


def test_the_leader_rejoins_when_topics_change() -> None:
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.member.topics_are({"foo": 5, "bar": 4}, 0)
    script.run()
    assert script.log == [], "a follower goes on"
    script.heartbeat(REBALANCE)
    script.assignor.result = {"m": parts("foo-0")}
    script.joined(leader=True)
    script.synced("foo-0")
    script.log.clear()
    script.member.topics_are({"foo": 6, "bar": 4}, 0)
    script.run()
    assert script.log == ["user data", "JoinGroup foo-0"]


def test_document_example_of_an_error() -> None:
    """KIP-429: from {1, 2} to {2, 3}; revoked(1) raises, assigned(3) runs, and it is {2, 3} all the same."""
    script = ScriptedMember(COOPERATIVE, raising=("revoked",)).stable("foo-1 foo-2")
    tell(script, [REBALANCE, "join", "= foo-2 foo-3"])
    assert script.log[3:6] == ["revoked foo-1", "on assignment foo-2 foo-3", "assigned foo-3"]
    assert named(script.member.owned) == "foo-2 foo-3"
    assert str(script.member.take_error()) == "revoked raised"
    assert script.member.take_error() is None


def test_the_first_of_several_errors_is_raised() -> None:
    script = ScriptedMember(COOPERATIVE, raising=("revoked", "assigned")).stable("foo-1 foo-2")
    script.member.take_error()
    tell(script, [REBALANCE, "join", "= foo-2 foo-3"])
    assert str(script.member.take_error()) == "revoked raised"


@pytest.mark.parametrize("protocols", [EAGER, COOPERATIVE])
def test_commit_in_the_middle_of_a_rebalance(protocols: frozenset[int]) -> None:
    """RebalanceInProgressException; when it is over, commits go on."""
    script = ScriptedMember(protocols).stable("foo-0")
    script.heartbeat(REBALANCE)
    with pytest.raises(MemberError, match="A rebalance is in progress") as raised:
        script.member.commit({("foo", 0): 5})
    assert raised.value.code == REBALANCE
    script.joined()
    script.synced("foo-0")
    script.member.commit({("foo", 0): 5})
    script.run()
    assert script.log[-1] == "OffsetCommit"


@pytest.mark.parametrize(
    ("error", "callbacks"), [(REBALANCE, []), (UNKNOWN, ["lost foo-0"]), (ILLEGAL_GENERATION, ["lost foo-0"])]
)
def test_a_commit_tells_of_a_rebalance_too(error: int, callbacks: list[str]) -> None:
    """1c and 1d of the algorithm."""
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.member.commit({("foo", 0): 5})
    script.run()
    script.reply(topics=[{"name": "foo", "partitions": [{"partitionIndex": 0, "errorCode": error}]}])
    claimed = "JoinGroup" if callbacks else "JoinGroup foo-0"
    assert script.log == ["OffsetCommit", *callbacks, "user data", claimed]


def test_a_cooperative_member_fetches_on_during_a_rebalance() -> None:
    """An eager member does not; nothing is fetched while it is being revoked."""
    script = ScriptedMember(COOPERATIVE).stable("foo-0 foo-1")
    script.heartbeat(REBALANCE)
    assert named(script.member.fetchable) == "foo-0 foo-1"
    script.joined()
    sent = script.sent
    assert sent is not None
    script = ScriptedMember(EAGER).stable("foo-0 foo-1")
    script.heartbeat(REBALANCE)
    assert not script.member.fetchable and not script.member.owned


def test_a_refused_protocol_ends_the_member() -> None:
    """C4: with a sentence that names the way out."""
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    script.heartbeat(REBALANCE)
    script.reply(errorCode=INCONSISTENT)
    assert script.log[-1] == "lost foo-0"
    assert script.member.phase is Phase.FAILED and script.sent is None and not script.member.owned
    error = script.member.take_error()
    assert isinstance(error, MemberError) and error.code == INCONSISTENT
    assert "first bounce all consumers with the old and the new one" in str(error)


@pytest.mark.parametrize(("error", "kept"), [(ILLEGAL_GENERATION, True), (UNKNOWN, False)])
def test_153_who_missed_a_generation_keeps_its_member_id(error: int, kept: bool) -> None:
    """C1: with another id it would leave an orphan in the group (github.com/dpkp/kafka-python/pull/3017)."""
    script = ScriptedMember(COOPERATIVE).stable("foo-0")
    before = script.member.member_id
    script.heartbeat(error)
    assert before and script.member.member_id == (before if kept else "")
    assert script.sent is not None and script.sent.api == "JoinGroup"
    assert script.sent.body["memberId"] == script.member.member_id


class Revoking(Listener):
    """An old application, without on_partitions_lost."""

    def __init__(self) -> None:
        self.revoked: list[str] = []

    def on_partitions_revoked(self, partitions: Partitions) -> None:
        self.revoked.append(named(partitions))
        raise RuntimeError("it fails")


def test_lost_partitions_are_revoked_by_default() -> None:
    """C8; and poll raises the exception of the callback (C6)."""
    script, listener = ScriptedMember(COOPERATIVE).stable("foo-0"), Revoking()
    consumer = ClassicConsumer(script.member, Coordinator(), "c", listener)
    script.now_ms = 10_000
    consumer.send(script.now_ms)  # a heartbeat, to a coordinator that knows nothing of it
    consumer.receive(script.now_ms)
    with pytest.raises(RuntimeError, match="it fails"):
        consumer.poll(script.now_ms)
    assert listener.revoked == ["foo-0"]
    consumer.poll(script.now_ms)


@pytest.mark.parametrize("assigns", [True, False])
def test_a_leader_without_metadata_rejoins_when_it_has_some(assigns: bool) -> None:
    """C2: it assigned nothing, for want of topics; a static leader that returns did not assign (S1)."""
    script = ScriptedMember(COOPERATIVE, topics=None)
    script.member.subscribe({"foo", "bar"}, 0)
    script.run()
    script.joined(leader=True, skips=not assigns)
    script.synced("")
    script.log.clear()
    script.member.topics_are({"foo": 4, "bar": 4}, 0)
    script.run()
    assert script.log == (["user data", "JoinGroup"] if assigns else [])
