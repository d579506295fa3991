"""The broker's metrics of KIP-848 (D4), and their text in Prometheus' format.

JMX has kafka.server:type=group-coordinator-metrics,name=NAME[,TAG=VALUE]. The text is what the JMX exporter
of Prometheus writes for such a bean: dashes become underscores, the tag becomes a label,

    kafka_server_group_coordinator_metrics_group_count{protocol="consumer"} 1.0

Kafka says `classic` where KIP-848's text has `generic`. A sensor that has measured nothing is NaN, as in
Kafka. The ratio of idle threads is always NaN: a coordinator without IO has no threads.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from coordinator.admin.groups import CLASSIC, CONSUMER, GROUP_STATES, listed_groups
from coordinator.consumer.model import Group
from coordinator.consumer.records import GROUP_METADATA, Record
from coordinator.core.admission import ACTIVE
from coordinator.core.fields import Json
from coordinator.core.step import Result
from coordinator.offsets.records import Offsets

WINDOW_MS: Final = 60_000
"""The length of the window over which a rate is counted: two windows of 30 seconds, as in Kafka."""

_ABOUT: Final = {
    "group-count": "Groups by the rebalance protocol that they use.",
    "partition-count": "Partitions of the log by their state; this coordinator has one.",
    "event-queue-size": "Requests that wait to be handled.",
    "consumer-group-count": "Consumer groups by their state.",
    "consumer-group-rebalance-rate": "New group epochs a second, over the last minute.",
    "consumer-group-rebalance-count": "New group epochs since the start.",
    "partition-load-time-max": "The longest time that loading the log took, in milliseconds.",
    "partition-load-time-avg": "The average time that loading the log took, in milliseconds.",
    "thread-idle-ratio-min": "The least part of the time that a thread was idle.",
    "thread-idle-ratio-avg": "The average part of the time that threads were idle.",
}
"""Name of each metric -> what it counts."""
_PARTITION_STATES: Final = {"loading": "loading", ACTIVE: "active", "unavailable": "failed"}
"""The coordinator's state -> its partition's state; a partition that has moved away is not counted."""


class Sample(NamedTuple):
    """One value of one metric; `tags` are pairs of name and value."""

    name: str
    tags: tuple[tuple[str, str], ...]
    value: float


class Metrics:
    """Counters of events; times are on the coordinator's clock."""

    def __init__(self) -> None:
        self._rebalances = 0
        self._rebalanced_ms: deque[int] = deque()
        self._loads: int = 0
        self._load_sum_ms = 0
        self._load_max_ms = 0

    def committed(self, results: Sequence[Result], now_ms: int) -> None:
        """Note the new group epochs in the records of some steps."""
        for result in results:
            for record in result.records:
                if record.value is not None and isinstance(record, Record) and record.type == GROUP_METADATA:
                    self._rebalances += 1
                    self._rebalanced_ms.append(now_ms)
                    self._forget(now_ms)

    def loaded(self, took_ms: int) -> None:
        """Note that the log was loaded."""
        self._loads += 1
        self._load_sum_ms += took_ms
        self._load_max_ms = max(self._load_max_ms, took_ms)

    def _forget(self, now_ms: int) -> None:
        while self._rebalanced_ms and self._rebalanced_ms[0] <= now_ms - WINDOW_MS:
            self._rebalanced_ms.popleft()

    def samples(
        self,
        groups: Mapping[str, Group],
        others: Sequence[Json],
        offsets: Offsets,
        state: str,
        waiting: int,
        now_ms: int,
    ) -> list[Sample]:
        """Every metric at this moment; `waiting` is the number of requests that have not been handled yet."""
        self._forget(now_ms)
        listed = listed_groups(groups, others, offsets)
        types = Counter(group["groupType"] for group in listed)
        states = Counter(group["groupState"] for group in listed if group["groupType"] == CONSUMER)
        partition = _PARTITION_STATES.get(state)
        average_ms = self._load_sum_ms / self._loads if self._loads else math.nan
        return [
            *(Sample("group-count", (("protocol", kind),), types[kind]) for kind in (CONSUMER, CLASSIC)),
            *(
                Sample("partition-count", (("state", name),), int(partition == name))
                for name in ("loading", "active", "failed")
            ),
            Sample("event-queue-size", (), waiting),
            *(
                Sample("consumer-group-count", (("state", name.lower()),), states[name])
                for name in GROUP_STATES
            ),
            Sample("consumer-group-rebalance-rate", (), len(self._rebalanced_ms) * 1000 / WINDOW_MS),
            Sample("consumer-group-rebalance-count", (), self._rebalances),
            Sample("partition-load-time-max", (), self._load_max_ms if self._loads else math.nan),
            Sample("partition-load-time-avg", (), average_ms),
            Sample("thread-idle-ratio-min", (), math.nan),
            Sample("thread-idle-ratio-avg", (), math.nan),
        ]


def exposition(samples: Sequence[Sample]) -> str:
    """The samples in Prometheus' text format, version 0.0.4; samples of one metric are neighbours."""
    return "".join(f"{line}\n" for line in _lines(samples))


def _lines(samples: Sequence[Sample]) -> Iterator[str]:
    before = ""
    for sample in samples:
        name = f"kafka_server_group_coordinator_metrics_{sample.name.replace('-', '_')}"
        if sample.name != before:
            before = sample.name
            yield f"# HELP {name} {_ABOUT[sample.name]}"
            yield f"# TYPE {name} gauge"
        tags = ",".join(f'{tag}="{value}"' for tag, value in sample.tags)
        value = "NaN" if math.isnan(sample.value) else repr(float(sample.value))
        yield f"{name}{{{tags}}} {value}" if tags else f"{name} {value}"
