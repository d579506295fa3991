"""What a replay has tested: actions, branches, error codes, and distinct inputs in distinct states.

Only steps that call the target say something about it, so only those count as coverage.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, field

from harness.replay.decode import Step
from harness.replay.steps import HANDLERS
from harness.targets.base import Json


@dataclass
class Coverage:
    """Counts of judged steps. `distinct` has the keys of `Step`, all of one decoder."""

    actions: Counter[str] = field(default_factory=Counter)
    branches: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    other_actions: Counter[str] = field(default_factory=Counter)
    distinct: set[int] = field(default_factory=set)
    handlers: set[str] = field(default_factory=set)

    def add(self, steps: list[Step], other_actions: Counter[str], handlers: Set[str] = frozenset()) -> None:
        """Count the judged steps of a trace, and its steps that do not call the target; `handlers` are the
        actions that such a trace may have."""
        self.handlers |= handlers
        self.actions.update(step.action for step in steps)
        self.branches.update(f"{step.action}/{step.branch}" for step in steps if step.branch)
        self.errors.update(step.error for step in steps if step.error)
        self.distinct.update(step.key for step in steps)
        self.other_actions.update(other_actions)

    def never_reached(self) -> list[str]:
        """The actions that call a target and that no judged step had."""
        return sorted((self.handlers or set(HANDLERS)) - set(self.actions))

    def to_json(self) -> Json:
        """For `--json`."""
        return {
            "actions": dict(sorted(self.actions.items())),
            "branches": dict(sorted(self.branches.items())),
            "errors": dict(sorted(self.errors.items())),
            "other_actions": dict(sorted(self.other_actions.items())),
            "distinct_target_steps": len(self.distinct),
            "never_reached": self.never_reached(),
        }
