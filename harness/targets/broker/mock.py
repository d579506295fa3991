"""librdkafka's mock cluster, as a program of its own: `python -m harness.targets.broker.mock`.

It reads JSON lines and answers each with one: {"op": "cluster"} starts a cluster anew and gives its
"address"; {"op": "create", "topic": "foo", "partitions": 2} and {"op": "delete", "topic": "foo"} change its
topics and give an "error" code. A request that crashes the mock ends this process, and no other.
"""

from __future__ import annotations

import ctypes
import json
import sys
from typing import Any, Final

SESSION_TIMEOUT_MS: Final = 45_000
HEARTBEAT_INTERVAL_MS: Final = 5_000
"""Kafka's defaults (D3); the mock's own are 30 and 3 seconds."""
_PRODUCER: Final = 0


class Mock:
    """The needed part of librdkafka's C interface, from the library in confluent-kafka."""

    def __init__(self) -> None:
        from confluent_kafka import cimpl

        self._c = ctypes.CDLL(cimpl.__file__)  # the libraries that it is linked with are found through it
        for function in ("rd_kafka_new", "rd_kafka_mock_cluster_new"):
            getattr(self._c, function).restype = ctypes.c_void_p
        self._c.rd_kafka_conf_new.restype = ctypes.c_void_p
        self._c.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
        self._client = self._started()
        self._cluster: ctypes.c_void_p | None = None

    def _started(self) -> ctypes.c_void_p:
        """The client that the interface needs; it never connects, and must not log that."""
        error = ctypes.create_string_buffer(512)
        configuration = ctypes.c_void_p(self._c.rd_kafka_conf_new())
        self._c.rd_kafka_conf_set(configuration, b"log_level", b"0", error, len(error))
        client = self._c.rd_kafka_new(_PRODUCER, configuration, error, ctypes.c_size_t(len(error)))
        if not client:
            raise RuntimeError(f"librdkafka does not start: {error.value.decode()}")
        return ctypes.c_void_p(client)

    def cluster(self) -> str:
        """Start a cluster of one broker in place of the last one; host and port."""
        if self._cluster is not None:
            self._c.rd_kafka_mock_cluster_destroy(self._cluster)
        self._cluster = ctypes.c_void_p(self._c.rd_kafka_mock_cluster_new(self._client, 1))
        self._c.rd_kafka_mock_set_group_consumer_session_timeout_ms(self._cluster, SESSION_TIMEOUT_MS)
        self._c.rd_kafka_mock_set_group_consumer_heartbeat_interval_ms(self._cluster, HEARTBEAT_INTERVAL_MS)
        address: bytes = self._c.rd_kafka_mock_cluster_bootstraps(self._cluster)
        return address.decode()

    def create(self, topic: str, partitions: int) -> int:
        """Create a topic; the error code."""
        return int(self._c.rd_kafka_mock_topic_create(self._cluster, topic.encode(), partitions, 1))

    def delete(self, topic: str) -> int:
        """Delete a topic; the error code."""
        return int(self._c.rd_kafka_mock_topic_delete(self._cluster, topic.encode()))


def answer(mock: Mock, line: dict[str, Any]) -> dict[str, Any]:
    """Do the operation of a line."""
    match line:
        case {"op": "cluster"}:
            return {"address": mock.cluster()}
        case {"op": "create", "topic": topic, "partitions": partitions}:
            return {"error": mock.create(topic, partitions)}
        case {"op": "delete", "topic": topic}:
            return {"error": mock.delete(topic)}
    return {"error": f"there is no operation {line.get('op')!r}"}


def main() -> None:
    """Answer until the input ends."""
    mock = Mock()
    for line in sys.stdin:
        print(json.dumps(answer(mock, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
