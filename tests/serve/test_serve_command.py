"""`python -m coordinator serve` as a program: bounds, kills, signals, wrong command lines."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from served import ROOT, serving

from coordinator.serve.command import EXAMPLES
from coordinator.serve.connection import Bounds
from coordinator.serve.frames import Malformed
from harness.targets.broker.connection import Connection
from harness.targets.broker.local import free_port

COMMAND = [sys.executable, "-m", "coordinator", "serve"]


@contextmanager
def program(*words: str, port: int) -> Iterator[subprocess.Popen[str]]:
    run = subprocess.Popen(
        [*COMMAND, "--listen", f"127.0.0.1:{port}", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None
    try:
        assert run.stdout.readline() == f"listening on 127.0.0.1:{port}\n", run.communicate()
        yield run
    finally:
        run.kill()
        run.communicate()


def test_kills_lose_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """P3: each commit that was answered is there after the next start, and so is each member."""
    log, port, answered = tmp_path / "groups.db", free_port(), 0
    for life in range(8):
        with program("--topic", "foo:2", "--log", str(log), port=port) as run:
            client = Connection("127.0.0.1", port)
            wanted = {"groups": [{"groupId": "g", "topics": [{"name": "foo", "partitionIndexes": [0]}]}]}
            result = client.call("OffsetFetch", 9, wanted)["groups"][0]["topics"][0]["partitions"][0]
            assert result["committedOffset"] in ({-1} if life == 0 else {answered, answered + 1})
            described = client.call("ConsumerGroupDescribe", 0, {"groupIds": ["members"]})["groups"][0]
            assert len(described["members"]) == life
            join = {
                "groupId": "members",
                "memberId": f"m{life}",
                "memberEpoch": 0,
                "rebalanceTimeoutMs": 60000,
            }
            names = {"subscribedTopicNames": ["foo"], "topicPartitions": []}
            assert client.call("ConsumerGroupHeartbeat", 0, join | names)["errorCode"] == 0
            for _ in range(1 + 3 * life):
                offset = answered + 1
                partition = {"partitionIndex": 0, "committedOffset": offset, "committedMetadata": ""}
                topics = [{"name": "foo", "partitions": [partition]}]
                answer = client.call("OffsetCommit", 9, {"groupId": "g", "topics": topics})
                assert answer["topics"][0]["partitions"][0]["errorCode"] == 0
                answered = offset
            run.kill()
            client.close()


@pytest.mark.parametrize("answer", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(answer: signal.Signals) -> None:
    port = free_port()
    with program("--topic", "foo:2", port=port) as run:
        client = Connection("127.0.0.1", port)
        assert client.call("Metadata", 9, {"topics": None})["topics"][0]["name"] == "foo"
        run.send_signal(answer)
        output, errors = run.communicate(timeout=60)
        client.close()
    assert (run.returncode, output, "Traceback" in errors) == (0, "stopped; 1 connections were open\n", False)


def test_settings_hold_for_the_groups_of_a_log(tmp_path: Path) -> None:
    """P2: a group that was empty at the stop is deleted as the start configures it, not a week later."""
    log, port = tmp_path / "groups.db", free_port()
    beat = {"groupId": "g", "memberId": "m", "memberEpoch": 0, "rebalanceTimeoutMs": 60000}
    with program("--topic", "foo:2", "--log", str(log), port=port):
        client = Connection("127.0.0.1", port)
        client.call(
            "ConsumerGroupHeartbeat", 0, beat | {"subscribedTopicNames": ["foo"], "topicPartitions": []}
        )
        assert client.call("ConsumerGroupHeartbeat", 0, {**beat, "memberEpoch": -1})["errorCode"] == 0
        assert [one["groupId"] for one in client.call("ListGroups", 4, {})["groups"]] == ["g"]
        client.close()
    with program("--log", str(log), "--set", "group.empty.retention.ms=50", port=port):
        client = Connection("127.0.0.1", port)
        end = time.monotonic() + 60  # for a server that hangs
        while client.call("ListGroups", 4, {})["groups"]:
            assert time.monotonic() < end
        client.close()


def test_the_examples_of_the_help_run(tmp_path: Path) -> None:
    """Each command as it is printed, but for its ports."""
    commands = re.findall(r"python -m coordinator (serve (?:.*\\\n)*.*)", EXAMPLES)
    assert len(commands) == 4
    with serving(topics={"foo": 1}) as (_, behind):
        for command in commands:
            port = free_port()
            words = (
                command.replace("\\\n", " ")
                .replace(":9092", f":{port}")
                .replace(":9093", f":{behind}")
                .split()
            )
            if "--listen" not in words:
                words += ["--listen", f"127.0.0.1:{port}"]
            run = subprocess.Popen(
                [sys.executable, "-m", "coordinator", *words],
                cwd=tmp_path,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                assert run.stdout is not None
                assert run.stdout.readline() == f"listening on 127.0.0.1:{port}\n", run.communicate()
            finally:
                run.kill()
                run.communicate()


def test_frames_and_connections_are_bounded(caplog: pytest.LogCaptureFixture) -> None:
    """Each of these is closed: a frame that is too large, a frame that is cut, a connection too many, an idle
    connection."""
    with serving(Bounds(connections=2, frame_bytes=1000, idle_s=0.5, frame_s=0.5), topics={}) as (_, port):

        def connected() -> socket.socket:
            made = socket.create_connection(("127.0.0.1", port), 30)
            made.settimeout(30)
            return made

        def is_closed(made: socket.socket) -> bool:
            with made:
                try:
                    return made.recv(1) == b""
                except ConnectionResetError:
                    return True

        for sent in (struct.pack(">i", 1001), struct.pack(">i", -1), struct.pack(">i", 8) + b"\x00", b""):
            one = connected()
            one.sendall(sent)
            assert is_closed(one)
        first, second = connected(), connected()
        assert is_closed(connected()), "the third"
        assert is_closed(first) and is_closed(second), "idle"
    assert "a frame of 1001 bytes; at most 1000 are read" in caplog.text


def test_a_half_open_connection_holds_up_nobody() -> None:
    with serving(topics={"foo": 1}) as (_, port), socket.create_connection(("127.0.0.1", port)) as half:
        half.sendall(b"\x00\x00")
        client = Connection("127.0.0.1", port)
        assert client.call("Metadata", 9, {"topics": None})["topics"][0]["name"] == "foo"
        client.close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--listen", "here"], "--listen is HOST:PORT, as in 127.0.0.1:9092, not 'here'"),
        (["--topic", "foo"], "--topic is NAME:PARTITIONS, as in foo:6, not 'foo'"),
        (["--set", "x=y"], "--set is NAME=VALUE with a whole number, not 'x=y'"),
        (["--topic", "foo:2", "--topic", "foo:3"], "--topic gives foo twice; give it once"),
        (["--set", "x=1", "--set", "x=2"], "--set gives x twice; give it once"),
        (["--set", "group.nothing=1"], "group.nothing"),
        (["--dialect", "kafka-9"], "kafka-9"),
        (["--rate", "-1"], "--rate is a number of records from 0 to 1000000, not -1"),
        (["--rate", "1000001"], "--rate is a number of records from 0 to 1000000, not 1000001"),
        (["--connections", "-1"], "--connections is a number of connections from 1, not -1"),
        (["--connections", "0"], "--connections is a number of connections from 1, not 0"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(words: list[str], sentence: str) -> None:
    ended = subprocess.run([*COMMAND, *words], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 2 and sentence in ended.stderr


def test_a_port_that_is_taken_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = subprocess.run([*COMMAND, "--listen", address], cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 3
    assert re.search(rf"{address} cannot be used: .*in use", ended.stderr)


def test_an_address_that_others_reach_is_printed() -> None:
    port = free_port()
    run = subprocess.Popen(
        [*COMMAND, "--listen", f"0.0.0.0:{port}"],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdout is not None and run.stdout.readline().startswith("listening on")
    run.terminate()
    assert "it asks for no password" in run.communicate(timeout=60)[1]


def test_a_fault_while_time_passes_ends_neither_the_server_nor_other_requests() -> None:
    """Time-outs and waiting requests are looked at again after a fault of any kind."""
    with serving(topics={"foo": 1}, rate=20) as (made, port):
        looked, works = 0, made.ready

        def ready() -> list[tuple[int, bytes | Malformed]]:
            nonlocal looked
            looked += 1
            if looked <= 3:
                raise RuntimeError("a fault")
            return works()

        made.ready = ready  # type: ignore[method-assign]
        client = Connection("127.0.0.1", port)
        assert client.call("Metadata", 9, {"topics": None})["topics"][0]["name"] == "foo"
        group = {"groupId": "g", "memberId": "", "sessionTimeoutMs": 10000, "protocolType": "consumer"}
        times = {"rebalanceTimeoutMs": 10000, "protocols": [{"name": "range", "metadata": "AAA="}]}
        assert client.call("JoinGroup", 3, group | times)["errorCode"] == 0, "after the group's first delay"
        client.close()
        assert looked > 3


def test_a_join_that_waits_for_nothing_is_answered_at_once() -> None:
    """Without an initial delay the barrier opens before the server looks at the requests that wait."""
    settings = {"group.initial.rebalance.delay.ms": 0}
    with serving(topics={"foo": 1}, settings=settings) as (_, port):
        client = Connection("127.0.0.1", port)
        join: dict[str, object] = {"groupId": "c", "memberId": "", "protocolType": "consumer"}
        join |= {"sessionTimeoutMs": 10_000, "rebalanceTimeoutMs": 20_000}
        join |= {"protocols": [{"name": "range", "metadata": "AAA="}]}
        join["memberId"] = client.call("JoinGroup", 5, join)["memberId"]
        answer = client.call("JoinGroup", 5, join)
        client.close()
    assert (answer["errorCode"], answer["leader"]) == (0, join["memberId"])
