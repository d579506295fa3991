"""`conform exhaust --json`: every step of a state graph, and tours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.replay.compare import Difference
from harness.report.readers.fields import Fields


@dataclass(frozen=True)
class ExhaustFinding:
    """Steps with equal differences: their number, and the shortest trace to one, of `steps` steps."""

    name: str
    requirement: str
    action: str
    branch: str
    error: str
    count: int
    steps: int
    differences: Sequence[Difference]


@dataclass(frozen=True)
class Exhaust:
    """One run: `steps` of the model's state graph, `trace_steps` of tours and traces, tables in `output`.

    `loaded_wrongly` counts states that the target did not have after their load, `left_out` steps that need
    features which the target lacks; `exercised` has for each requirement the number of steps.
    """

    model: str
    target: str
    dialect: str
    spec_hash: str
    states: int
    steps: int
    trace_steps: int
    failed: int
    not_judged: int
    quarantined: int
    loaded_wrongly: int = 0
    left_out: int = 0
    output: str = ""
    exercised: Mapping[str, int] | None = None
    findings: Sequence[ExhaustFinding] = ()

    @property
    def holds(self) -> bool:
        """Tell if everything was judged, nothing differs, and no state was loaded wrongly."""
        wrong = self.failed + self.not_judged + self.quarantined + self.loaded_wrongly
        return not wrong and self.steps + self.trace_steps > 0


def exhaust(data: Fields) -> Exhaust:
    """The run of a file."""
    counts = ("states", "steps", "trace_steps", "failed", "not_judged", "quarantined")
    exercised: dict[str, int] = {}
    for row in data.items_or_none("coverage"):
        name = row.get("requirement", str)
        exercised[name] = exercised.get(name, 0) + row.get("tested", int)
    wrong = data.object_or_none("loads").get("wrong", {})
    return Exhaust(
        model=data.text("model") or "traces",
        target=data.get("target", str),
        dialect=data.get("dialect", str),
        spec_hash=data.text("spec_hash"),
        loaded_wrongly=int(wrong.get("states", 0)),
        left_out=sum(map(int, data.object_or_none("left_out").values())),
        output=data.text("output"),
        exercised=exercised,
        findings=[_finding(one) for one in data.items_or_none("findings")],
        **{name: data.get(name, int) for name in counts},
    )


def _finding(one: Fields) -> ExhaustFinding:
    words = ("requirement", "action", "branch", "error")
    return ExhaustFinding(
        name=one.get("finding", str),
        count=one.get("count", int),
        steps=one.get("steps", int),
        differences=[
            Difference(difference.get("path", str), difference.decoded("expected"), difference.decoded("got"))
            for difference in one.items_or_none("differences")
        ],
        **{name: one.text(name) for name in words},
    )
