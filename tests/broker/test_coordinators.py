"""Coordinators of other projects, judged over the wire: the table and the findings of
docs/coordinators.md."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from proxied import proxied

from coordinator.serve.frames import read_answer
from harness.cli.replay import command as replay
from harness.cli.shrink import command as shrink
from harness.doctor.examine import Doctor
from harness.errors import NOT_CONFORMANT, ConformError
from harness.replay.causes import causes
from harness.replay.files import replay_files, trace_files
from harness.replay.run import Replayed
from harness.targets import start_target
from harness.targets.broker.admin import groups
from harness.targets.broker.connection import Connection
from harness.targets.broker.local import LocalBroker

ROOT = Path(__file__).parents[2]
TRACES = trace_files([ROOT / "traces/dialects/kafka-4.2"])
RENEWED = next((ROOT / "traces/dialects/kafka-4.2/wire").glob("*-0001-still-revoking-*.itf.json"))
"""The rebalance time-out comes, though the member sends heartbeats (R4)."""
PAGE = (ROOT / "docs/coordinators.md").read_text(encoding="utf-8")
TABLE = [
    [cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\|.*\|$", PAGE, re.MULTILINE)
]
"""Rows of cells, of both tables."""


def in_the_table(implementation: str) -> set[str]:
    column = TABLE[0].index(implementation)
    return {row[0] for row in TABLE[2:] if len(row) == len(TABLE[0]) and row[column] == "differs"}


def requirements_of(result: Replayed) -> set[str]:
    """The requirements that differences break, and those of their causes."""
    named = {failure.requirement(one) for failure in result.failures for one in failure.differences}
    return named | {name for cause in causes(result.failures) for name in cause.requirements}


def broken_by_the_findings() -> set[str]:
    """The requirements in brackets of the table of findings."""
    results = [row[0] for row in TABLE if len(row) < len(TABLE[0])]
    return {
        name for one in results for name in re.findall(r"\b[A-Z]\d+\b", "".join(re.findall(r"\(.*?\)", one)))
    }


def test_no_finding_contradicts_the_table() -> None:
    """The table had no line for R4, S1 and H8, which the findings break."""
    assert {"R4", "S1", "H8", "H10"} <= broken_by_the_findings()
    assert broken_by_the_findings() <= in_the_table("franz-go's kfake")


@pytest.fixture(scope="module")
def kfake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """kfake as a target, built from the Go module proxy."""
    if not shutil.which("go"):
        pytest.skip("Go is not on this machine: kfake is in Go")
    program = tmp_path_factory.mktemp("kfake") / "kfake"
    environment = {**os.environ, "GOFLAGS": "-buildvcs=false -mod=readonly", "GOTOOLCHAIN": "local"}
    source = Path(__file__).parent / "kfake"
    fetched = subprocess.run(["go", "mod", "download"], cwd=source, env=environment, capture_output=True)
    if fetched.returncode:
        pytest.skip(f"kfake cannot be fetched: {fetched.stderr.decode().strip()}")
    subprocess.run(["go", "build", "-o", str(program), "."], cwd=source, env=environment, check=True)
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        yield f"broker:{process.stdout.readline().strip()}"
        process.stdin.close()


@pytest.mark.maven
def test_kfake_is_judged(kfake: str) -> None:
    result = replay_files(TRACES, kfake, "kafka-4.2", 10**6, wait_s=60)
    assert requirements_of(result) | broken_by_the_findings() == in_the_table("franz-go's kfake")
    at = {
        (Path(failure.trace).name.partition(".")[0], failure.action): failure for failure in result.failures
    }
    answer = [
        ("MCKafka42Closed-goal-0001-still-revoking-when-the-time-out-comes", "RebalanceTimeout"),
        ("MCKafka42Static-goal-0013-session-of-one-that-is-away-runs-out", "SessionTimeout"),
        ("MCKafka42Tour-goal-0018-heartbeat-revoke", "Heartbeat"),
    ]
    members = [
        [one for one in at[key].differences if one.path.startswith("group.members[m1]")] for key in answer
    ]
    assert [(members[0][0].expected, members[0][0].got["assigned"] != [])] == [("(absent)", True)]
    assert [(members[1][0].expected, members[1][0].got["memberEpoch"])] == [("(absent)", -2)]
    [changed] = [one for one in members[2] if one.path.endswith("subscribedTopicNames")]
    assert (changed.expected, changed.got) == ([], ["foo"])
    assert all(name in PAGE for name, _ in answer)
    sent = [one.operation for one in result.failures]
    assert {one["wire"]["version"] for one in sent if one.get("api") == "OffsetFetch"} == {10}


@pytest.mark.maven
def test_no_group_with_the_empty_id_stays_on_kfake(kfake: str) -> None:
    """kfake makes such a group for a heartbeat without a group id, which conform doctor sends."""
    host, _, port = kfake.removeprefix("broker:").rpartition(":")
    Doctor(kfake, "kafka-4.2", lambda: start_target(kfake, "kafka-4.2")).examine(lambda _: None)
    asking = Connection(host, int(port), 10)
    assert "" not in groups(asking)
    asking.close()


def versions(port: int, version: int) -> bytes:
    """The answer to ApiVersions, which has a cluster id and a node since version 5."""
    body = b"\x02a\x02b" + (b"\x00\xff\xff\xff\xff" if version > 4 else b"") + b"\x00"
    frame = struct.pack(">hhih", 18, version, 7, -1) + b"\x00" + body
    with socket.create_connection(("127.0.0.1", port), 30) as connection, connection.makefile("rb") as answer:
        connection.sendall(struct.pack(">i", len(frame)) + frame)
        (size,) = struct.unpack(">i", answer.read(4))
        return answer.read(size)


@pytest.mark.maven
def test_the_proxy_sends_a_client_that_is_newer_than_itself_back_to_what_it_reads(
    kfake: str, tmp_path: Path
) -> None:
    """franz-go 1.22.3 begins with ApiVersions 5, which kfake has."""
    upstream = int(kfake.rpartition(":")[2])
    assert struct.unpack(">ih", versions(upstream, 5)[:6]) == (7, 0)
    with proxied(upstream, tmp_path / "log") as [port]:
        answer = read_answer(18, 0, versions(port, 5))
        assert answer["errorCode"] == 35
        assert {one["apiKey"]: one["maxVersion"] for one in answer["apiKeys"]}[18] == 4
        assert read_answer(18, 4, versions(port, 4))["errorCode"] == 0


@pytest.mark.maven
def test_a_timer_that_differs_is_shown_again_by_the_command_that_is_printed(
    kfake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    with pytest.raises(ConformError) as ended:
        replay([RENEWED], target=kfake, dialect="kafka-4.2", wait=6, record=log)
    assert ended.value.exit_code == NOT_CONFORMANT
    requests = [one for one in map(json.loads, log.read_text().splitlines()) if one["op"] == "request"]
    times = {(one["client"]["id"], one["body"]["rebalanceTimeoutMs"]) for one in requests}
    assert times == {("client-m1", 3000), ("client-m1", -1), ("client-m2", 300_000)}
    output = capsys.readouterr().out
    assert f"again: conform replay {RENEWED} --target {kfake} --dialect kafka-4.2 --wait 6\n" in output


@pytest.mark.maven
def test_a_timer_that_differs_is_shrunk_in_the_seconds_that_there_are(
    kfake: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """These options suffice for the whole trace, which is judged twice: no part of it is known to fail."""
    options = {"target": kfake, "dialect": "kafka-4.2", "out": tmp_path / "short.itf.json"}
    with pytest.raises(ConformError, match=r"only up to its step 4, .* needs fire: give --wait SECONDS"):
        shrink(RENEWED, **options)  # type: ignore[arg-type]
    with pytest.raises(typer.Exit):
        shrink(RENEWED, wait=10, **options)  # type: ignore[arg-type]
    output = capsys.readouterr().out
    assert "shrunk to 5 of 5 steps" in output
    assert " of 10 s for 2 timers\nthese seconds did not suffice for each part" in output


@pytest.mark.maven
def test_kafka_is_judged(kafka: LocalBroker) -> None:
    result = replay_files(TRACES, kafka.target, "kafka-4.2", 10**6, wait_s=60)
    assert (requirements_of(result), in_the_table("Apache Kafka 4.2.1")) == (set(), set())
    assert result.judged > 100


def test_the_mock_is_judged() -> None:
    pytest.importorskip("confluent_kafka", reason="the target mock needs confluent-kafka")
    result = replay_files(TRACES, "mock", "kafka-4.2", 10**6)
    assert requirements_of(result) == in_the_table("librdkafka's mock")


def test_the_page_names_the_version_that_is_built() -> None:
    required = (ROOT / "tests/broker/kfake/go.mod").read_text(encoding="utf-8")
    for module in ("github.com/twmb/franz-go/pkg/kfake", "github.com/twmb/franz-go"):
        [version] = re.findall(rf"{module} (v\S+)", required)
        assert version in PAGE
