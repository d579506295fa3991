"""`conform replay --json`: traces on a target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.errors import ConformError
from harness.replay.causes import Cause, from_json
from harness.replay.compare import Difference
from harness.replay.rules import Rule
from harness.replay.run import Failure
from harness.report.readers.fields import Fields, source

DERIVED: Final = frozenset({"requirements"})
"""Fields of a failure in the JSON that follow from the other fields."""


@dataclass(frozen=True)
class Replay:
    """One replay; `source` is the name of its file, `not_loaded` the number of states that the target did not
    load, `wait_s` the seconds that a live broker might wait for timers. `stopped` is the reason why it ended
    before its end."""

    source: str
    target: str
    dialect: str
    traces: int
    steps: int
    target_steps: int
    not_judged: int
    differences: int
    left_out: Sequence[str]
    coverage: Mapping[str, Any]
    failures: Sequence[Failure]
    not_loaded: int
    causes: Sequence[Cause]
    wait_s: float = 0
    stopped: str = ""

    @property
    def exercised(self) -> Mapping[str, Mapping[str, int]]:
        """Requirement -> numbers of steps and traces; {} where they were not counted."""
        counts: Mapping[str, Mapping[str, int]] = self.coverage.get("requirements", {})
        return counts

    @property
    def growth(self) -> Sequence[tuple[int, int, int]]:
        """After each number of traces, the numbers of distinct steps and branches."""
        return [(point[0], point[1], point[2]) for point in self.coverage.get("growth", [])]


def replay(data: Fields) -> Replay:
    """The replay of a file."""
    coverage, waited = data.get("coverage", dict), data.part("waited")
    for name in ("actions", "branches", "errors"):
        if not isinstance(coverage.get(name), dict):
            raise ConformError(f'The result {data.stem}.json has no "{name}" in its "coverage".')
    return Replay(
        source=source(data.stem, "replay"),
        target=data.get("target", str),
        dialect=data.get("dialect", str),
        traces=data.get("traces", int),
        steps=data.get("steps", int),
        target_steps=data.get("target_steps", int),
        not_judged=data.get("not_judged", int),
        differences=data.get("differences", int),
        left_out=data.get("left_out", list),
        coverage=coverage,
        failures=[_failure(raw, data.stem) for raw in data.get("failures", list)],
        not_loaded=len(data.list_or_none("not_loaded")),
        causes=_causes(data.list_or_none("causes"), data.stem),
        stopped=data.text("stopped"),
        wait_s=waited.number("budget_s") if waited else 0,
    )


def _causes(raw: Any, stem: str) -> list[Cause]:
    try:
        return from_json(raw)
    except (KeyError, TypeError):
        raise ConformError(f"The result {stem}.json has a cause of another form: {raw!r:.80}.") from None


def _failure(raw: Any, stem: str) -> Failure:
    """A failure in the form of `harness.replay.report`. ConformError if the result has another form."""
    try:
        differences = [Difference(one["path"], one["expected"], one["got"]) for one in raw["differences"]]
        rules = [Rule(**one) for one in raw.get("rules", ())]
        fields = {name: value for name, value in raw.items() if name not in DERIVED}
        return Failure(**{**fields, "differences": differences, "rules": rules})
    except (KeyError, TypeError):
        raise ConformError(f"The result {stem}.json has a failure of another form: {raw!r:.80}.") from None
