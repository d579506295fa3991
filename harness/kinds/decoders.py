"""The decoder of each kind of group's traces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from harness.kinds.classic.decode import classic_decoder
from harness.kinds.classic.description import CLASSIC
from harness.kinds.classic.steps import CLASSIC_HANDLERS
from harness.kinds.connect.decode import connect_decoder
from harness.kinds.connect.description import CONNECT
from harness.kinds.connect.steps import CONNECT_HANDLERS
from harness.kinds.consumer.decode import consumer_decoder
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.steps import HANDLERS
from harness.kinds.decoding import KindDecoder
from harness.kinds.migration.decode import migration_decoder
from harness.kinds.migration.description import MIGRATION
from harness.kinds.migration.steps import MIGRATION_ACTIONS
from harness.replay.contents import Contents

CALLING: Final = frozenset({*HANDLERS, *CLASSIC_HANDLERS, *CONNECT_HANDLERS, *MIGRATION_ACTIONS})
"""The actions of all kinds that call the target."""
DECODERS: Final[Mapping[str, Callable[[Contents], KindDecoder[Any]]]] = {
    CLASSIC.name: classic_decoder,
    CONNECT.name: connect_decoder,
    MIGRATION.name: migration_decoder,
    CONSUMER.name: consumer_decoder,
}
"""By the name of the kind: a function that makes a decoder which numbers inputs as given."""
