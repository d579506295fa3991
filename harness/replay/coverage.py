"""Coverage of a replay: actions, branches, error codes, requirements, distinct inputs in distinct states.

Only steps that call the target count as coverage: other steps show nothing about it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from harness.requirements import requirements
from harness.targets.base import Json

_POINTS: Final = 100
"""The most points of a curve, besides the last."""


class Called(NamedTuple):
    """The parts of a step that coverage counts (see `harness.replay.prepared.Step`)."""

    action: str
    branch: str
    error: str
    key: int


@dataclass
class Coverage:
    """Counts of judged steps.

    `distinct` has the keys of `Step`; `requirements` are those that steps exercise, `traces` the number of
    traces that exercise each, and `growth` has, after each trace, the number of distinct steps and branches.
    """

    actions: Counter[str] = field(default_factory=Counter)
    branches: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    other_actions: Counter[str] = field(default_factory=Counter)
    distinct: set[int] = field(default_factory=set)
    requirements: Counter[str] = field(default_factory=Counter)
    traces: Counter[str] = field(default_factory=Counter)
    growth: list[tuple[int, int]] = field(default_factory=list)
    handlers: set[str] = field(default_factory=set)

    def add(
        self, steps: Sequence[Called], other_actions: Counter[str], handlers: Set[str] = frozenset()
    ) -> None:
        """Count the judged steps of a trace, and its steps that do not call the target; `handlers` are the
        actions that such a trace may have."""
        self.handlers |= handlers
        ways = Counter((step.action, step.branch, step.error) for step in steps)
        exercised: Counter[str] = Counter()
        for (action, branch, error), count in ways.items():
            self.actions[action] += count
            if branch:
                self.branches[f"{action}/{branch}"] += count
            if error:
                self.errors[error] += count
            exercised.update(dict.fromkeys(requirements(action, branch, error), count))
        self.exercise(exercised)
        self.distinct.update(step.key for step in steps)
        self.other_actions.update(other_actions)
        self.growth.append((len(self.distinct), len(self.branches)))

    def exercise(self, counts: Counter[str]) -> None:
        """Count the times that the steps of one trace, or of its client processes, exercise requirements."""
        self.requirements.update(counts)
        self.traces.update(counts.keys())

    def never_reached(self) -> list[str]:
        """The actions that call a target and that no judged step had."""
        return sorted(self.handlers - set(self.actions))

    def to_json(self) -> Json:
        """For `--json`; `growth` has the numbers of traces, distinct steps and branches at some points."""
        return {
            "actions": dict(sorted(self.actions.items())),
            "branches": dict(sorted(self.branches.items())),
            "errors": dict(sorted(self.errors.items())),
            "other_actions": dict(sorted(self.other_actions.items())),
            "distinct_target_steps": len(self.distinct),
            "never_reached": self.never_reached(),
            "requirements": {
                name: {"steps": count, "traces": self.traces[name]}
                for name, count in sorted(self.requirements.items())
            },
            "growth": [[number + 1, *self.growth[number]] for number in _some(len(self.growth))],
        }


def _some(count: int) -> Iterable[int]:
    """Numbers below `count` at even distances, the last among them."""
    return sorted({round((count - 1) * part / _POINTS) for part in range(_POINTS + 1)}) if count else ()
