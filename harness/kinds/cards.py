"""The cards of the states of each kind of group in pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from harness.graph.card import Describer
from harness.kinds.classic.card import CLASSIC_STATES, ClassicDescriber
from harness.kinds.classic.description import CLASSIC
from harness.kinds.consumer.card import GROUP_STATES, GroupDescriber
from harness.kinds.consumer.description import CONSUMER
from harness.kinds.features.closed_card import ClosedDescriber
from harness.kinds.migration.card import MigrationDescriber
from harness.kinds.migration.description import MIGRATION
from harness.kinds.registry import KINDS
from harness.kinds.share.description import SHARE
from harness.kinds.share.pictures import ShareDescriber
from harness.plugins import parts
from harness.values import State

_BROUGHT: Final = parts("describer")
DESCRIBERS: Final[Sequence[tuple[Sequence[str], Callable[[Sequence[State]], Describer]]]] = (
    *((kind.variables, _BROUGHT[kind.name]) for kind in KINDS if kind.name in _BROUGHT),
    (SHARE.variables, ShareDescriber),
    (CONSUMER.variables, GroupDescriber),
    (MIGRATION.variables, MigrationDescriber),
    (CLASSIC.variables, ClassicDescriber),
    (("mixed", "processes"), ClosedDescriber),
    (("group", "computation", "health"), ClosedDescriber),
)
"""The variables of states -> their describer, which raises ConformError for other specifications."""
TITLES: Final = (*GROUP_STATES[:-1], *CLASSIC_STATES[2:])
"""The states of groups, in the order of a legend."""
SHOWN: Final = frozenset(CONSUMER.variables)
"""The variables that cards show."""
