"""`conform exhaust --json`: every step of a state graph, and tours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import field

from harness.replay.compare import Difference
from harness.report.readers.form import Different, OfFile, Result


class ExhaustFinding(Result, frozen=True, kw_only=True):
    """Steps with equal differences: their number, and the shortest trace to one, of `steps` steps."""

    name: str = field(name="finding")
    count: int
    steps: int
    requirement: str = ""
    action: str = ""
    branch: str = ""
    error: str = ""
    different: Sequence[Different] = field(name="differences", default=())

    @property
    def differences(self) -> Sequence[Difference]:
        """The differences, with decoded values."""
        return [one.difference for one in self.different]


class Covered(Result, frozen=True, kw_only=True):
    """A number of tested steps of a requirement."""

    requirement: str
    tested: int


class WrongLoads(Result, frozen=True, kw_only=True):
    """The number of states that the target did not have after their load."""

    states: int = 0


class Loads(Result, frozen=True, kw_only=True):
    """The loads of a run."""

    wrong: WrongLoads = WrongLoads()


class Exhaust(OfFile, frozen=True, kw_only=True):
    """One run: `steps` of the model's state graph, `trace_steps` of tours and traces, tables in `output`.
    `skipped` counts, by reason, steps that need features which the target lacks. `own_verdict` is the one of
    the run itself; `waiver_problems` has a sentence for each waiver that has expired or covers nothing."""

    model: str = "traces"
    target: str
    dialect: str
    spec_hash: str = ""
    states: int
    steps: int
    trace_steps: int
    failed: int
    not_judged: int
    quarantined: int
    loads: Loads = Loads()
    skipped: Mapping[str, int] = field(name="left_out", default_factory=dict)
    output: str = ""
    coverage: Sequence[Covered] = ()
    findings: Sequence[ExhaustFinding] = ()
    waiver_problems: Sequence[str] = ()
    own_verdict: bool = field(name="holds", default=True)

    @property
    def loaded_wrongly(self) -> int:
        """The number of states that the target did not have after their load."""
        return self.loads.wrong.states

    @property
    def left_out(self) -> int:
        """The number of steps that need features which the target lacks."""
        return sum(self.skipped.values())

    @property
    def exercised(self) -> Mapping[str, int]:
        """Requirement -> number of steps."""
        counts = Counter[str]()
        for one in self.coverage:
            counts[one.requirement] += one.tested
        return counts

    @property
    def holds(self) -> bool:
        """Tell if everything was judged, nothing differs, no state was loaded wrongly, every waiver is
        needed, and the run itself has the same verdict."""
        wrong = self.failed + self.not_judged + self.quarantined + self.loaded_wrongly
        held = self.own_verdict and not self.waiver_problems
        return held and not wrong and self.steps + self.trace_steps > 0
