"""Clients over sockets: the reference conforms, faulty ones are caught, librdkafka breaks the known rules."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import struct
import sys
from pathlib import Path

import pytest
from on_wire import (
    AT_A_TIME,
    JOINED,
    LIBRDKAFKA,
    LOADING,
    LOST_AT_ONCE,
    MEMBER,
    REMOVED,
    ROOT,
    STALE,
    STATIC,
    UNRELEASED,
    WAIT,
    played,
)

from harness.clients.agent import Agent, AgentFailed
from harness.clients.front import GROUP, Front
from harness.clients.judge import judge
from harness.clients.over_sockets import Sockets, judge_agent
from harness.clients.schedules import drawn
from harness.clients.simulated import topic_ids
from harness.clients.timeline import Event, Setup
from harness.targets.base import Json
from harness.targets.groups.served import ServedCoordinator

sys.path.insert(0, str(ROOT / "tests/serve"))
frame = pytest.importorskip("served", reason="tests/serve has the frames of these tests").frame
FOO = next(iter(topic_ids()))

FAULTY_ON_WIRE: dict[str, tuple[str, list[Json], Setup]] = {
    "AcknowledgesAtOnce": (
        "AcknowledgesAfterCallback",
        [*JOINED, {"do": "ghost", "who": "G1"}, WAIT],
        Setup(),
    ),
    "ClosesSilently": ("LeavesWhenClosed", [*JOINED, {"do": "close"}], Setup()),
    "CommitsWithoutMemberId": (
        "CommitsWithItsEpoch",
        [*JOINED, {"do": "consume"}, {"do": "commit"}, WAIT],
        Setup(),
    ),
    "HidesFatalErrors": ("FatalErrorsAreShown", UNRELEASED, STATIC),
    "RejoinsWithChangesOnly": ("JoinsWithAllFields", REMOVED, Setup()),
    "RepeatsNothing": ("RepeatsAllAfterError", LOADING, Setup()),
    "RevokesWhenRemoved": ("LosesAllWhenRemoved", REMOVED, Setup()),
    "StaysWithTheCoordinator": (
        "FindsCoordinatorAnew",
        [*JOINED, {"do": "refuse", "error": 16}, WAIT],
        Setup(),
    ),
}
"""Faulty member -> the rule that must name it, and a schedule that shows it."""


def test_the_reference_conforms_over_sockets() -> None:
    """A breach in one run may be a machine that is busy; a finding is one that repeats."""
    result = judge_agent(Sockets(ServedCoordinator, MEMBER, AT_A_TIME), drawn(range(4)), lambda _: None)
    assert result.schedules == 4 and not result.broken


def test_faulty_members_are_caught_over_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    runs = played(
        *(([*MEMBER, f"faulty:{name}"], setup, steps) for name, (_, steps, setup) in FAULTY_ON_WIRE.items())
    )
    caught = {name: judged.broken() for name, judged in zip(FAULTY_ON_WIRE, runs, strict=True)}
    assert all(rule in caught[name] for name, (rule, _, _) in FAULTY_ON_WIRE.items()), caught


def test_librdkafka_breaks_no_rules_but_the_known_ones() -> None:
    """After COORDINATOR_LOAD_IN_PROGRESS the same heartbeat is sent again, without the subscription (H7); a
    stale commit is not repeated (O4); a lost partition is fetched if its offsets arrive late (K2).
    UNRELEASED_INSTANCE_ID reaches the application."""
    loading, stale, fetches, fatal = played(
        (LIBRDKAFKA, Setup(), LOADING),
        (LIBRDKAFKA, Setup(), STALE),
        (LIBRDKAFKA, Setup(), LOST_AT_ONCE),
        (LIBRDKAFKA, STATIC, UNRELEASED),
    )
    assert "RepeatsAllAfterError" in loading.broken()
    assert "RepeatsStaleCommit" in stale.broken()
    for _ in range(3):  # a busy machine may hide this fetch; its window is short
        if "FetchesWhatItUses" in fetches.broken():
            break
        (fetches,) = played((LIBRDKAFKA, Setup(), LOST_AT_ONCE))
    assert "FetchesWhatItUses" in fetches.broken()
    assert fatal.counts["FatalErrorsAreShown"] and "FatalErrorsAreShown" not in fatal.broken()
    result = judge_agent(Sockets(ServedCoordinator, LIBRDKAFKA, AT_A_TIME), drawn((1, 2)), lambda _: None)
    assert not result.broken


async def at_a_port_that_is_taken() -> tuple[int, int]:
    """The port of a coordinator before and after its start."""
    served = ServedCoordinator(Setup(), topic_ids(), {"foo": 1}, lambda: 0, lambda partitions: None)
    port = served.port
    with socket.create_server(("127.0.0.1", port)):
        await served.start()
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.close()
        await served.stop()
    return port, served.port


def test_a_port_that_another_program_took_is_replaced() -> None:
    """Between the choice of a free port and its use another program may take the port."""
    taken, used = asyncio.run(at_a_port_that_is_taken())
    assert taken != used


def test_a_request_is_seen_when_it_is_sent_not_when_the_one_before_it_is_answered() -> None:
    """Two heartbeats are in flight on one connection; the answer to the first is held."""
    front = asyncio.run(two_heartbeats())
    kinds = [(event.kind, event.number) for event in front.timeline]
    assert kinds == [("request", 1), ("request", 2), ("answer", 1), ("answer", 2)]
    judged = judge(front.timeline, Setup(wire=True), front.names)
    assert judged.broken() == {"OneHeartbeatInFlight"}


async def two_heartbeats() -> Front:
    served = ServedCoordinator(Setup(), topic_ids(), {"foo": 1}, lambda: 0, lambda _: None)
    served.front.faults.append({"do": "hold", "ms": 100})
    await served.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    body = {"groupId": GROUP, "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 1000}
    sent = frame(68, 1, {**body, "subscribedTopicNames": ["foo"], "topicPartitions": []})
    for _ in range(2):
        writer.write(struct.pack(">i", len(sent)) + sent)
    for _ in range(2):
        (size,) = struct.unpack(">i", await reader.readexactly(4))
        await reader.readexactly(size)
    writer.close()
    await served.stop()
    return served.front


def heartbeat(number: int, epoch: int, owned: list[int]) -> list[Event]:
    """A heartbeat and its answer, which tells foo-0 and foo-1."""
    topics = [{"topicId": FOO, "partitions": owned}]
    response = {"assignedTopicPartitions": [{"topicId": FOO, "partitions": [0, 1]}]}
    body = {"memberId": "m", "memberEpoch": epoch, "rebalanceTimeoutMs": 1000, "instanceId": None}
    answer = {"memberId": "m", "memberEpoch": 1, "errorCode": 0, "assignment": response}
    request = {**body, "subscribedTopicNames": ["foo"], "topicPartitions": topics if owned else []}
    return [
        Event(number, "request", api="ConsumerGroupHeartbeat", number=number, connection=1, body=request),
        Event(number, "answer", number=number, body=answer),
    ]


def commit(epoch: int) -> Event:
    body = {"memberId": "m", "generationIdOrMemberEpoch": epoch, "topics": []}
    return Event(9, "request", api="OffsetCommit", number=99, connection=1, body=body)


def test_a_client_is_not_judged_by_news_that_it_may_not_know_yet() -> None:
    """A report that was in flight when `assigned` ended, and a commit that was when the join was answered;
    after the next report both are breaches."""
    foo = frozenset({"foo-0", "foo-1"})
    given = [Event(2, "callback", name="assigned", partitions=foo)]
    given.append(Event(3, "released", name="assigned", partitions=foo))
    joined = [*heartbeat(1, 0, []), *given]
    before = judge([*joined, commit(7), *heartbeat(4, 1, [])], Setup(wire=True), topic_ids())
    assert before.broken() == set()
    known = [*joined, *heartbeat(4, 1, [0, 1])]
    after = judge([*known, commit(7), *heartbeat(5, 1, [0])], Setup(wire=True), topic_ids())
    assert after.broken() == {"AcknowledgesAfterCallback", "CommitsWithItsEpoch"}


def judged_by_agent(message: str) -> AgentFailed:
    """The error about an agent that runs this Python program."""
    with pytest.raises(AgentFailed) as raised:
        played(([sys.executable, "-c", message], Setup(), [JOINED[0]]))
    return raised.value


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("'nonsense'", "a line that is no event: b'nonsense"),
        ("'[' * 100_000", "a line that is no event: b'[[["),
        ("'1' * 5_000", "a line that is no event: b'111"),
        ("'x' * 2_000_000", "a line that is no event: b'(a line of more than 1048576 bytes)"),
        ('\'{"event": "asigned", "partitions": []}\'', 'a line that is no event: b\'{"event": "asigned"'),
        ('\'{"event": ["closed"]}\'', "a line that is no event: b'{"),
        (
            '\'{"event": "lost", "partitions": ["foo"]}\'',
            "the event 'lost': the field \"partitions[0]\" must match ^.+-[0-9]+$.",
        ),
        ('\'{"event": "assigned"}\'', "the event 'assigned': the field \"partitions\" is missing."),
        ('\'{"event": "error", "code": 3}\'', "the event 'error': the field \"text\" is missing."),
        (
            '\'{"event": "position", "partition": 1, "offset": 2}\'',
            "the event 'position': the field \"partition\" must be a text, not a whole number.",
        ),
    ],
)
def test_a_line_of_an_agent_that_is_no_event_is_a_sentence(line: str, sentence: str) -> None:
    assert sentence in judged_by_agent(f"print({line}, flush=True); input(); input()").message


def test_an_agent_ends_also_where_another_program_has_its_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program in another session is not ended with the agent."""
    monkeypatch.setattr("harness.clients.agent._END_S", 0.2)
    started = tmp_path / "started"
    heard: list[Json] = []

    async def ends() -> None:
        agent = Agent(
            ["setsid", "-w", "sh", "-c", f'echo $$ > {started}; echo \'{{"event": "closed"}}\'; sleep 600'],
            heard.append,
        )
        await agent.start()
        while not heard:
            await asyncio.sleep(0.01)
        await asyncio.wait_for(agent.end(), 20)

    try:
        asyncio.run(ends())
    finally:
        os.killpg(int(started.read_text()), signal.SIGKILL)


def test_an_agent_that_is_none_is_a_sentence() -> None:
    assert "ended without being told to. sorry" in judged_by_agent("raise SystemExit('sorry')").message
    with pytest.raises(AgentFailed, match="cannot be started"):
        played((["/nowhere/agent"], Setup(), [JOINED[0]]))
