"""`conform replay --json`: traces on a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import field

from harness.replay.causes import Cause
from harness.replay.run import Failure
from harness.report.readers.form import OfFile, Result


class Exercised(Result, frozen=True, kw_only=True):
    """The numbers of steps and of traces that exercise a requirement."""

    steps: int
    traces: int


class Coverage(Result, frozen=True, kw_only=True):
    """Numbers of steps by action, by branch and by error; `requirements` are {} where they were not counted;
    `growth` has, after each number of traces, the numbers of distinct steps and branches."""

    actions: Mapping[str, int]
    branches: Mapping[str, int]
    errors: Mapping[str, int]
    requirements: Mapping[str, Exercised] = field(default_factory=dict)
    growth: Sequence[tuple[int, int, int]] = ()
    distinct_target_steps: int = 0


class Waited(Result, frozen=True, kw_only=True):
    """The seconds that a live broker might wait for timers."""

    budget_s: float


class Replay(OfFile, frozen=True, kw_only=True):
    """One replay. `not_loaded` are the states that the target did not load; `waiver_problems` has a sentence
    for each waiver that has expired or covers nothing; `stopped` is the reason why the replay ended before
    its end."""

    target: str
    dialect: str
    traces: int
    steps: int
    target_steps: int
    not_judged: int
    differences: int
    left_out: Sequence[str]
    coverage: Coverage
    failures: Sequence[Failure]
    not_loaded: Sequence[Any] = ()
    causes: Sequence[Cause] = ()
    waiver_problems: Sequence[str] = ()
    waited: Waited | None = None
    stopped: str = ""

    def __post_init__(self) -> None:
        if not all(one.differences for one in self.failures):
            raise ValueError("a failure has differences")

    @property
    def conforms(self) -> bool:
        """Tell if a step was judged, nothing differs, and every waiver is needed."""
        return self.target_steps > 0 and not self.differences and not self.waiver_problems

    @property
    def wait_s(self) -> float:
        """The seconds that a live broker might wait for timers."""
        return self.waited.budget_s if self.waited else 0
