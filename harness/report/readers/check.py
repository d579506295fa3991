"""`conform check --json`: models, their expected results and the engines' answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import field

from harness.engines.base import Failure
from harness.report.readers.form import OfFile, Result


class Evidence(Result, frozen=True, kw_only=True):
    """A recorded result: its status, its date, and the reasons why it does not count."""

    status: str
    recorded: str = ""
    reasons: Sequence[str] = ()


class Unexpected(Result, frozen=True, kw_only=True):
    """A fact that is not as expected."""

    what: str
    expected: Any = None
    got: Any = None


class ModelResult(Result, frozen=True, kw_only=True):
    """One model, with the facts of `harness.engines.base.Result`. `counterexample` is the file of one,
    `record` the recorded result that was looked for, None where the model was checked."""

    name: str
    engine: str
    seconds: float
    as_expected: bool
    differences: Sequence[Unexpected]
    purpose: str = ""
    bounds: str = ""
    version: str = ""
    error: str = ""
    spec_hash: str = ""
    counterexample: str = ""
    failure: str = ""
    answer: str = field(name="outcome", default="")
    violated: str = field(name="property", default="")
    length: int | None = None
    distinct_states: int | None = None
    depth: int | None = None
    record: Evidence | None = field(name="evidence", default=None)

    @property
    def outcome(self) -> str:
        """The engine's verdict: "holds", "violated NeverBoth", "" for no answer."""
        return f"{self.answer} {self.violated}".strip()

    @property
    def undecided(self) -> bool:
        """Tell if the time ran out."""
        return self.failure == Failure.TIME_OUT

    @property
    def evidence(self) -> str:
        """The status of the record: "accepted", "missing", "stale"; "" where the model was checked."""
        return self.record.status if self.record else ""

    @property
    def from_evidence(self) -> bool:
        """Tell if the result was recorded earlier and is still valid."""
        return self.evidence == "accepted"

    @property
    def without_record(self) -> bool:
        """Tell if there is neither a check nor a valid record."""
        return self.evidence not in ("", "accepted")

    @property
    def recorded(self) -> str:
        """The date of a recorded result."""
        return self.record.recorded if self.record else ""

    @property
    def reasons(self) -> Sequence[str]:
        """The reasons why a record does not count."""
        return self.record.reasons if self.record else ()


class Models(OfFile, frozen=True, kw_only=True):
    """The models of a file."""

    models: Sequence[ModelResult]
