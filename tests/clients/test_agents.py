"""Agents of real clients speak the agents' protocol, and a callback holds its client until `release` (K2)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TypeAlias

import jsonschema
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/serve"))
served = pytest.importorskip("served", reason="tests/serve has the broker of these tests")
Json: TypeAlias = dict[str, Any]
SCHEMA = json.loads((ROOT / "examples/clients/agent.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA)


class Agent:
    """An agent's process; each line in either direction is held against the schema."""

    def __init__(self, program: str, port: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(ROOT / "examples/clients" / program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        address = {"bootstrap": f"127.0.0.1:{port}", "group": "g", "autoCommit": False}
        self.tell(do="subscribe", topics=["foo"], **address)

    def tell(self, **command: Any) -> None:
        VALID.validate(command)
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def until(self, wanted: str) -> dict[str, Any]:
        """The next event of this name; a line that is no event fails."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event: dict[str, Any] = json.loads(line)
            VALID.validate(event)
            if event["event"] == wanted:
                return event
        raise AssertionError(f"the agent ended before it said {wanted}")

    def end(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def agents() -> Any:
    """A served coordinator, and a function that starts an agent on it."""
    started: list[Agent] = []
    heartbeats: list[Json] = []
    with served.serving(topics={"foo": 2}, settings=served.FAST) as (broker, port):
        ask = broker._ask

        def noted(api: Any, sent: Any, body: Json, ticket: int) -> Any:
            if api.name == "ConsumerGroupHeartbeat":
                heartbeats.append(body)
            return ask(api, sent, body, ticket)

        broker._ask = noted

        def start(program: str) -> Agent:
            started.append(Agent(program, port))
            return started[-1]

        yield heartbeats, start
        for agent in started:
            agent.end()


def test_librdkafka_waits_in_its_callback_until_it_is_released(agents: Any) -> None:
    """While `revoked` is running in the first of two consumers, its heartbeats go on, and none of them leaves
    out a partition; after the release the second one gets the revoked partitions."""
    heartbeats, start = agents
    first: Agent = start("librdkafka.py")
    assert first.until("assigned")["partitions"] == ["foo-0", "foo-1"]
    first.tell(do="release")
    first.until("position")
    second: Agent = start("librdkafka.py")
    moved = first.until("revoked")["partitions"]
    assert len(moved) == 1
    answer = len(heartbeats)
    member_id = heartbeats[0]["memberId"]
    later: list[Json] = []
    while len(later) < 4:
        assert first.process.poll() is None
        time.sleep(0.05)
        later = [one for one in heartbeats[answer:] if one["memberId"] == member_id]
    reports = [one["topicPartitions"] for one in later if one["topicPartitions"] is not None]
    assert all(len(topic["partitions"]) == 2 for report in reports for topic in report), reports
    assert [] not in reports, "an empty report acknowledges, too"
    first.tell(do="release")
    assert first.until("assigned")["partitions"] == [], "librdkafka announces that nothing is added, too"
    first.tell(do="release")
    while (given := second.until("assigned")["partitions"]) == []:
        second.tell(do="release")
    assert given == moved


def test_agents_are_short() -> None:
    suffixes = (".py", ".java", ".go", ".js")
    agents = [path for path in (ROOT / "examples/clients").glob("**/*.*") if path.suffix in suffixes]
    assert len(agents) >= 4
    for path in agents:
        assert len(path.read_text().splitlines()) < 150, path


@pytest.mark.parametrize(
    "line",
    [{"do": "dance"}, {"event": "assigned"}, {"event": "position", "partition": "foo", "offset": 1}, {}],
)
def test_the_schema_refuses_what_is_no_line(line: dict[str, Any]) -> None:
    assert not VALID.is_valid(line)
