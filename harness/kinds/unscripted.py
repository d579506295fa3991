"""The judges of steps on a target whose assignor cannot be scripted, by the kind of group.

They are apart from the decoders, since a change of the judging leaves decoded steps as they are.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.unscripted import Unscripted
from harness.kinds.migration.description import MIGRATION

UnscriptedJudge: TypeAlias = Unscripted
"""A judge of one trace after another."""

UNSCRIPTED: Final = {CONSUMER.name: Unscripted, MIGRATION.name: Unscripted}
"""The judges by kind; in the other kinds no assignor computes target assignments."""
