"""`conform check --json`: models, their expected results and the engines' answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from harness.engines.base import Failure
from harness.report.readers.fields import Fields

_FACTS: Final = ("outcome", "property", "length", "distinct_states", "depth")


@dataclass(frozen=True)
class ModelResult:
    """One model. `facts` are those of `harness.engines.base.Result`, `counterexample` is the file of one,
    `recorded` the date of a recorded result; `undecided` tells that the time ran out."""

    name: str
    purpose: str
    bounds: str
    engine: str
    version: str
    facts: Mapping[str, Any]
    seconds: float
    as_expected: bool
    differences: Sequence[Mapping[str, Any]]
    evidence: str
    reasons: Sequence[str]
    error: str
    spec_hash: str
    counterexample: str = ""
    recorded: str = ""
    undecided: bool = False

    @property
    def outcome(self) -> str:
        """The engine's verdict: "holds", "violated NeverBoth", "" for no answer."""
        return f"{self.facts['outcome'] or ''} {self.facts['property'] or ''}".strip()

    @property
    def from_evidence(self) -> bool:
        """Tell if the result was recorded earlier and is still valid."""
        return self.evidence == "accepted"

    @property
    def without_record(self) -> bool:
        """Tell if there is neither a check nor a valid record."""
        return self.evidence not in ("", "accepted")


def models(data: Fields) -> list[ModelResult]:
    """The models of a file."""
    return [model(one) for one in data.items("models")]


def model(one: Fields) -> ModelResult:
    """Read the result of one model."""
    evidence = one.part("evidence")
    return ModelResult(
        name=one.get("name", str),
        purpose=one.text("purpose"),
        bounds=one.text("bounds"),
        engine=one.get("engine", str),
        version=one.text("version"),
        facts=one.some(_FACTS),
        seconds=one.number("seconds"),
        as_expected=one.get("as_expected", bool),
        differences=one.get("differences", list),
        evidence=evidence.get("status", str) if evidence else "",
        reasons=evidence.get("reasons", list) if evidence else [],
        error=one.text("error"),
        spec_hash=one.text("spec_hash"),
        counterexample=one.text("counterexample"),
        recorded=evidence.text("recorded") if evidence else "",
        undecided=one.text("failure") == Failure.TIME_OUT,
    )
