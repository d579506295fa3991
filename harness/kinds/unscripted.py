"""The judges of steps on a target whose assignor cannot be scripted, by the kind of group.

They are apart from the decoders, since a change of how steps are judged leaves decoded steps as they are.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from harness.kinds.consumer.description import CONSUMER
from harness.kinds.consumer.unscripted import Unscripted
from harness.kinds.migration.description import MIGRATION

UnscriptedJudge: TypeAlias = Unscripted
"""A judge of one trace after another."""

UNSCRIPTED: Final = {CONSUMER.name: Unscripted, MIGRATION.name: Unscripted}
"""No assignor computes the target assignments of the other kinds."""
