"""All rules on a timeline."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from harness.clients import rules, rules_of_time
from harness.clients.rules import Rule
from harness.clients.timeline import ABILITIES, Event, Setup
from harness.clients.view import View

RULES: Final[tuple[type[Rule], ...]] = (
    rules.OwnsOnlyAssigned,
    rules.IsGivenOnlyAssigned,
    rules.AcknowledgesAfterCallback,
    rules.ReportsAfterAssigned,
    rules.LeavesAfterCallback,
    rules.JoinsWithAllFields,
    rules.RepeatsAllAfterError,
    rules.RejoinsWhenRemoved,
    rules.LosesAllWhenRemoved,
    rules.LeavesWhenClosed,
    rules.NewProcessHasNewId,
    rules.FindsCoordinatorAnew,
    rules.OneHeartbeatInFlight,
    rules_of_time.UsesExactlyAssigned,
    rules_of_time.AcknowledgesAtLast,
    rules_of_time.StaysInTheGroup,
    rules_of_time.ReportsItsSubscription,
    rules_of_time.HeartbeatsInTime,
    rules_of_time.BacksOff,
    rules_of_time.FatalErrorsAreShown,
    rules_of_time.CommitsWithItsEpoch,
    rules_of_time.FetchesOffsetsWithItsEpoch,
    rules_of_time.RetriesStaleCommitLater,
    rules_of_time.RepeatsStaleCommit,
    rules_of_time.CommitsEnd,
    rules_of_time.FetchesWhatItUses,
    rules_of_time.CommitsBeforeItAcknowledges,
)


@dataclass(frozen=True, slots=True)
class Breach:
    """A broken rule: its requirement, its name, the fault, and the time (ms)."""

    requirement: str
    rule: str
    message: str
    ms: int


@dataclass(frozen=True, slots=True)
class Judged:
    """The breaches of a timeline in their order, and the number of times that each rule had something to
    judge. `missing` are the abilities that the client does not have (`ABILITIES`): rules that need them are
    left out. `timeline` has the events where a rule is broken, and is empty where none is."""

    breaches: tuple[Breach, ...]
    counts: Mapping[str, int]
    missing: frozenset[str] = frozenset()
    timeline: tuple[Event, ...] = ()

    def broken(self) -> set[str]:
        """The names of the rules that are broken."""
        return {breach.rule for breach in self.breaches}


def judge(
    timeline: Iterable[Event],
    setup: Setup,
    names: Mapping[str, str],
    uses: Collection[str] = ABILITIES,
) -> Judged:
    """Judge a timeline; `names` is topic id -> topic name, `uses` are the abilities of the client."""
    view, breaches, seen = View(setup, names), [], []
    checks = [rule() for rule in RULES if rule.needs <= {*uses}]
    for event in timeline:
        seen.append(event)
        for rule in checks:
            for sentence in rule.see(event, view):
                breaches.append(Breach(rule.requirement, rule.name, sentence, event.ms))
        view.update(event)
    counts = {rule.name: rule.judged for rule in checks}
    return Judged(tuple(breaches), counts, ABILITIES - {*uses}, tuple(seen) if breaches else ())
