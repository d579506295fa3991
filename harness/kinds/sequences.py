"""The sequence diagram's content of each kind of group's traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from harness.itf import Trace
from harness.kinds.classic.description import CLASSIC
from harness.kinds.classic.sequence import classic_steps
from harness.kinds.connect.description import CONNECT
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.sequence import consumer_steps
from harness.kinds.migration.description import MIGRATION
from harness.kinds.migration.sequence import migration_steps
from harness.kinds.share.description import SHARE
from harness.kinds.share.pictures import share_steps
from harness.plugins import parts
from harness.report.sequence import Event, Step

Steps: TypeAlias = Callable[
    [Trace, str, Mapping[int, Sequence[str]]], tuple[list[str], list[Step], list[Event]]
]
"""A function from a trace, its title and the words for each highlighted step to lanes and rows."""

SEQUENCES: Final[Mapping[str, Steps]] = {
    CLASSIC.name: classic_steps,
    CONNECT.name: consumer_steps,
    MIGRATION.name: migration_steps,
    SHARE.name: share_steps,
    CONSUMER.name: consumer_steps,
    **parts("sequence"),
}
"""By the name of the kind."""
