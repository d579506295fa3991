"""`mock`: librdkafka's mock cluster, over the wire like any broker, in a process of its own.

A request that crashes the mock ends its process. That is an answer, too: `Died`, which is a difference like
others, and the next `load` starts another process.
"""

from __future__ import annotations

import importlib.util
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import Answer, Capabilities, Died, Json, Refused
from harness.targets.broker.connection import TIMEOUT_S, Connection, Unreachable
from harness.targets.broker.forms import versions_of
from harness.targets.broker.names import Names
from harness.targets.broker.refusing import Refusing, check_topics
from harness.targets.broker.target import ask
from harness.targets.program import CLOSING_S, Program

CONTROLS: Final = frozenset({"topics", "fresh"})
"""The mock has no ConsumerGroupDescribe: only responses can be compared."""


class MockTarget(Refusing):
    """A mock cluster; the methods are those of `harness.targets.base.Target`.

    ConformError (exit 3) if confluent-kafka, which has the mock, is not installed.
    """

    name = "mock"

    def __init__(self, dialect: str, timeout_s: float = TIMEOUT_S) -> None:
        if importlib.util.find_spec("confluent_kafka") is None:
            raise ConformError(
                "The target mock is in the package confluent-kafka, which is not installed: "
                "pip install 'group-conformance[mock]'.",
                ENGINE_FAILED,
            )
        self._dialect = dialect
        self._timeout_s = timeout_s
        self._names = Names("")
        self._topics: dict[str, Json] = {}
        self._sent: Json = {}
        self._process = MockProcess(self._timeout_s)
        try:
            self._broker = self._cluster()
        except ConformError:
            self._process.close()
            raise

    def hello(self) -> Capabilities:
        """The operations that a client has. The caller names the mock's dialect."""
        return Capabilities(self.name, self._dialect, versions_of(self._broker.has), CONTROLS)

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        """Send one request. Died if it ends the mock's process."""
        process = self._alive(f"request {api}")
        try:
            self._sent = {}
            self._sent, response = ask(self._broker, self._names, self.name, api, version, client, body)
            return Answer(response)
        except Unreachable:
            if (death := process.death()) is None:
                raise
            raise Died(self.name, f"request {api}", death) from None

    def as_sent(self, operation: Json) -> Json:
        """The request with Kafka's version of the API, if that is another."""
        return {**operation, **self._sent}

    def topics(self, upsert: Sequence[Json], delete: Sequence[str], observe: str | None = None) -> Answer:
        """Create, recreate and delete topics. Refused for more partitions of a topic: the mock cannot do
        that."""
        check_topics(self.name, upsert)
        process = self._alive("topics")
        for name in delete:
            if self._topics.pop(name, None) is not None:
                process.ask("delete", topic=name)
        for topic in upsert:
            self._upsert(process, topic)
        return Answer()

    def describe(self, group: str) -> Json:
        """Refused: the mock cannot describe groups."""
        raise self._cannot("describe")

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """`fresh`: a new cluster with these topics. Refused for a state with anything else in it."""
        if records or any(volatile.values()):
            raise Refused(self.name, "load", "a mock cluster can only start anew")
        self._broker.close()
        if self._process.death(0) is not None:
            self._process.close()
            self._process = MockProcess(self._timeout_s)
        self._names.forget_topics()
        self._topics.clear()
        self._broker = self._cluster()
        self.topics(topics, ())

    def close(self) -> None:
        """End the process."""
        self._broker.close()
        self._process.close()

    def _cluster(self) -> Connection:
        """A new cluster, without topics."""
        host, _, port = str(self._process.ask("cluster")["address"]).rpartition(":")
        return Connection(host, int(port), self._timeout_s)

    def _alive(self, operation: str) -> MockProcess:
        if self._process.death(0) is not None:
            raise Died(self.name, operation, "its process has died already; `load` starts another")
        return self._process

    def _upsert(self, process: MockProcess, topic: Json) -> None:
        name, there = topic["name"], self._topics.get(topic["name"])
        if there is not None and there["id"] == topic["id"]:
            if there["partitions"] != topic["partitions"]:
                raise Refused(self.name, "topics", "the mock cannot change the partitions of a topic")
            return
        if there is not None:
            process.ask("delete", topic=name)
        process.ask("create", topic=name, partitions=topic["partitions"])
        body = {"topics": [{"name": name}], "allowAutoTopicCreation": False}
        [made] = self._broker.call("Metadata", 12, body)["topics"]
        self._names.bind(name, topic["id"], made["topicId"])
        self._topics[name] = topic


class MockProcess(Program):
    """The program `harness.targets.broker.mock`. ConformError (exit 3) if it does not do an operation."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__([sys.executable, "-m", "harness.targets.broker.mock"], "mock", timeout_s)

    def ask(self, operation: str, **parameters: str | int) -> Json:
        """One operation."""
        self.write(json.dumps({"op": operation, **parameters}).encode() + b"\n")
        given: Json = json.loads(self.read(operation))
        if given.get("error"):
            raise self.failed(f"did not do {operation}: error {given['error']}")
        return given

    def death(self, wait_s: float = CLOSING_S) -> str | None:
        """The cause of death, with its last words; None if it lives."""
        try:
            code = self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return None
        how = f"of signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"with exit code {code}"
        lines = self.last_words().splitlines()
        return f"its process died {how}{': ' + lines[-1].strip() if lines else ''}"
