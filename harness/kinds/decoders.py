"""The decoder of each kind of group's traces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
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
from harness.kinds.share.decode import HANDLERS as SHARE_HANDLERS
from harness.kinds.share.decode import share_decoder
from harness.kinds.share.description import SHARE
from harness.plugins import parts
from harness.replay.contents import Contents

_ACTIONS: Final = parts("actions")
_KINDS: Final[Mapping[str, tuple[Callable[[Contents], KindDecoder[Any]], Collection[str]]]] = {
    **{name: (decoder, _ACTIONS[name]) for name, decoder in parts("decoder").items()},
    CLASSIC.name: (classic_decoder, CLASSIC_HANDLERS),
    CONNECT.name: (connect_decoder, CONNECT_HANDLERS),
    MIGRATION.name: (migration_decoder, MIGRATION_ACTIONS),
    SHARE.name: (share_decoder, SHARE_HANDLERS),
    CONSUMER.name: (consumer_decoder, HANDLERS),
}
"""By the name of the kind: a function that makes a decoder, which numbers inputs with the given numbering,
and the actions that call the target."""
COUNTED: Final = frozenset(HANDLERS)
"""The actions of the kind of group that every target has."""
CALLING: Final = frozenset(action for _, actions in _KINDS.values() for action in actions)
"""The actions of all kinds that call the target."""
DECODERS: Final = {name: decoder for name, (decoder, _) in _KINDS.items()}
"""By the name of the kind."""
