"""Replaying decoded traces on a target and judging every step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from harness.dialect_name import base_of
from harness.errors import ENGINE_FAILED, ConformError
from harness.kinds.derived import calls_it_otherwise
from harness.kinds.unscripted import UNSCRIPTED, UnscriptedJudge
from harness.replay import wire
from harness.replay.ahead import StepsAhead
from harness.replay.compare import STATE, Difference, differences, is_of_state, may_go_on
from harness.replay.coverage import Called, Coverage
from harness.replay.dialects import TEXT
from harness.replay.features import offered, used_in
from harness.replay.fields import of_difference, rules_of_process
from harness.replay.judge import Judged, NotFired, act, refused
from harness.replay.members import MemberReplayer
from harness.replay.prepared import DecodedTrace, Loadable, Step
from harness.replay.rules import Rule, broken_rules
from harness.replay.signature import place, signature
from harness.replay.view import RECORDS, View
from harness.replay.waits import due
from harness.targets.base import Answer, Capabilities, Json, Refused, Target, as_sent
from harness.targets.members import StartProcess
from harness.targets.waiting import NotWaited, Waited, expect

ALL: Final = 2**31 - 1
"""A number larger than any count of differences: every step is judged."""
LOAD: Final = "load"
FULL: Final = "enough differences"
DIFFERENCE: Final = "after a difference"
ANOTHER: Final = "another target assignment"
NOT_LOADED: Final = "after a load that failed"
STOPPED: Final = "when the replay was stopped"
"""The reasons why the rest of a trace was not judged, apart from a missing operation, API or feature."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A step after which the target differed; `index` is that of the state after it, `error` the expected
    response's. The action of a state that was not loaded is `LOAD`."""

    trace: str
    index: int
    action: str
    branch: str
    error: str
    script: Json | None
    operation: Json
    differences: list[Difference]
    rules: list[Rule] = field(default_factory=list)
    """The properties of the specification that the target's state, or the client process, breaks."""

    def requirement(self, one: Difference) -> str:
        """The requirement of the field of this difference; "" if there is none."""
        return of_difference(one, self.action, self.branch, self.error, self.operation)

    def signature(self, one: Difference) -> str:
        """The signature by which a waiver names this difference."""
        where = place(one.path, one.expected, one.got)
        return signature(self.action, self.branch, self.error, where)


@dataclass(frozen=True, slots=True)
class EndedEarly:
    """A trace of which only the first `judged` steps that call the target were judged, with the reason: the
    operation, API or feature that the target lacks for the next one, `DIFFERENCE`, `ANOTHER` or
    `NOT_LOADED`."""

    trace: str
    judged: int
    skipped: int
    reason: str


@dataclass(slots=True)
class Outcome:
    """The result of replaying one trace, which is added to `Replayed`.

    `steps` are all of its steps, `called` those that call the target, the first `judged` of which were
    judged; `reason` is the reason why the others were not. `not_loaded` has the state that the target should
    have loaded and did not, after which no step is judged. `waived` has the signatures of waived differences,
    `requirements` those that the client processes exercise.
    """

    trace: str
    steps: int
    called: list[Called]
    other_actions: Counter[str]
    handlers: frozenset[str]
    judged: int = 0
    reason: str = FULL
    failures: list[Failure] = field(default_factory=list)
    not_loaded: list[Failure] = field(default_factory=list)
    waived: list[str] = field(default_factory=list)
    member_steps: int = 0
    requirements: Counter[str] = field(default_factory=Counter)

    @staticmethod
    def unjudged(trace: DecodedTrace) -> Outcome:
        """The outcome of a trace without any judged step: enough differences were found before it."""
        called = [Called(step.action, step.branch, step.error, step.key) for step in trace.steps]
        return Outcome(trace.name, trace.length, called, trace.other_actions, trace.handlers)

    def without_judgement(self) -> Outcome:
        """This outcome as if enough differences had been found before the trace."""
        return Outcome(self.trace, self.steps, self.called, self.other_actions, self.handlers)

    @property
    def differences(self) -> int:
        """The number of differences that no waiver covers."""
        return sum(len(failure.differences) for failure in self.failures)


@dataclass
class Replayed:
    """The sum of all traces. A judged step was compared as far as the target can be observed, without its
    `unobserved` parts, and without the `excused` ones, where the target has a configuration of its own. After
    a difference the target is loaded with the specification's state, so that later steps are judged on their
    own; of a target that cannot be loaded a group's state that stays wrong is one difference. `not_loaded`
    are states that the target did not load: no differences, as the adapter is to blame. Among the steps that
    were not judged, `not_judged` came after enough differences; all others are in `ended_early`. `waived`
    differences are neither failures nor in `differences`. `member_steps` are those of client processes that
    were compared; `waited` is the time that a target that waits for its timers took for that."""

    traces: int = 0
    steps: int = 0
    judged: int = 0
    not_judged: int = 0
    member_steps: int = 0
    differences: int = 0
    waived: int = 0
    waited: Waited | None = None
    unobserved: Sequence[str] = ()
    excused: Sequence[str] = ()
    failures: list[Failure] = field(default_factory=list)
    not_loaded: list[Failure] = field(default_factory=list)
    ended_early: list[EndedEarly] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)

    def add(self, one: Outcome) -> None:
        """Add the result of the next trace."""
        self.traces += 1
        self.steps += one.steps
        self.judged += one.judged
        self.failures += one.failures
        self.not_loaded += one.not_loaded
        self.differences += one.differences
        self.waived += len(one.waived)
        self.member_steps += one.member_steps
        if left := len(one.called) - one.judged:
            if one.reason == FULL:
                self.not_judged += left
            else:
                self.ended_early.append(EndedEarly(one.trace, one.judged, left, one.reason))
        self.coverage.exercise(one.requirements)
        others = one.other_actions if one.judged else Counter[str]()
        self.coverage.add(one.called[: one.judged], others, one.handlers)


class Replayer:
    """A replay of traces one after another on one target.

    On a target that lacks operations each trace is replayed as far as possible; a target that cannot be
    loaded takes only traces that begin without a group, and those only until a difference. Traces of
    KIP-848's text are for every target, those of another dialect only for one that speaks it. `unscripted`
    has the rule for target assignments. The client processes of closed models are replayed, too, if one can
    be started. The replay stops judging when `max_differences` are found that no waiver covers. ConformError
    (exit 3) if the target fails, or has no heartbeat.
    """

    def __init__(
        self,
        target: Target,
        max_differences: int,
        start_process: StartProcess | None = None,
        waives: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._target = target
        self._members = start_process and MemberReplayer(start_process)
        self._max_differences = max_differences
        self._waives = waives
        known = target.hello()
        self._dialect = base_of(known.dialect)
        self._view = View(known)
        self._unscripted: UnscriptedJudge | None = None
        self._has, self._lacks = _has(known, self._view), known.lacks
        self._ahead = StepsAhead(target, self._view, self._has)
        self.result = Replayed(unobserved=self._view.hidden, excused=self._view.excused)
        self._differences = 0
        """The differences of the present trace, which are not in `result` yet."""
        self._underway: Outcome | None = None
        self._configuration: Json = wire.DEFAULTS
        if not self._has.intersection(wire.JOINS):
            joins = ", ".join(f"{api} {wire.VERSIONS[api]}" for api in wire.JOINS)
            raise ConformError(
                f"The target {target.name} has none of the requests with which a member joins ({joins}), "
                "so that nothing can be replayed.",
                ENGINE_FAILED,
            )
        if "configure" in self._has:
            target.configure(wire.CONFIGURATION)

    @property
    def full(self) -> bool:
        """Tell if the requested number of differences was found."""
        return self.result.differences + self._differences >= self._max_differences

    def would_fill(self, outcome: Outcome) -> bool:
        """Tell if that number would be reached with the differences of a trace that was replayed
        elsewhere."""
        return self.result.differences + outcome.differences >= self._max_differences

    def replay(self, trace: DecodedTrace, following: DecodedTrace | None = None) -> None:
        """Replay one trace and add it to `result`. `following` is the next trace, if it is known already: the
        target may be working on its beginning then."""
        try:
            outcome = self.outcome(trace, following)
        except BaseException:  # the target fails, or the user stops it: steps that were judged before count
            if stopped := self.stopped():
                self.result.add(stopped)
            raise
        self._differences = 0
        self.result.add(outcome)

    def stopped(self) -> Outcome | None:
        """The outcome of the trace that was begun last, up to the stop of its replay."""
        return self._underway and replace(self._underway, reason=STOPPED)

    def outcome(self, trace: DecodedTrace, following: DecodedTrace | None = None) -> Outcome:
        """Replay one trace, without adding it to a result."""
        self._differences = 0
        self._underway = made = Outcome.unjudged(trace)
        if not self.full:
            makes = None if self._view.scripts else UNSCRIPTED.get(trace.kind)
            self._unscripted = makes and makes(self._target, self._view)
            self._ahead.begin(trace)
            made.judged, made.reason = self._judge(trace, made, following)
            self._replay_members(trace, made)
        return made

    def _replay_members(self, trace: DecodedTrace, made: Outcome) -> None:
        """K1, K2, H7: the requests and the partitions of the client processes."""
        if self._members is None:
            return
        judged, known = self._members.judged, self._members.requirements.copy()
        for step, different in self._members.replay(trace.members):
            sent = step.operation()
            broken = rules_of_process(sent, different)
            failure = Failure(trace.name, step.index, step.action, "", "", None, sent, different, broken)
            self._fail(failure, made)
            if self.full:
                break
        made.member_steps = self._members.judged - judged
        made.requirements = self._members.requirements - known

    def _judge(self, trace: DecodedTrace, made: Outcome, following: DecodedTrace | None) -> tuple[int, str]:
        """Replay the steps until the end, or until one cannot be judged: the number of judged ones, and the
        reason."""
        try:
            judged, reason = 0, self._begin(trace, made)
        except ConformError as error:
            raise _at(error, trace.name, 0, "the start") from None
        if not reason:
            loads = following is not None and self._may_load(following)
            judged, reason = self._follow(trace, made, following if loads else None)
        if reason:
            self._ahead.discard()
        return judged, reason

    def _may_load(self, trace: DecodedTrace) -> bool:
        """Tell if the next trace begins with only a load of its start."""
        alike = trace.configuration == self._configuration
        scripted = self._view.scripts or trace.kind not in UNSCRIPTED
        return alike and scripted and LOAD in self._has and not self._lacking(trace)

    def _follow(self, trace: DecodedTrace, made: Outcome, following: DecodedTrace | None) -> tuple[int, str]:
        """Follow a trace from its start."""
        everything = trace.needs <= self._has
        shift, before = 0, trace.start.state.group
        described: Json | None = trace.initial
        wrong: set[str] = set()
        for count, step in enumerate(trace.steps):
            if not everything and (lacking := step.needs() - self._has):
                return count, max(lacking)
            made.judged = count
            try:
                self._ahead.write(trace.steps, count, shift, following)
                if self._unscripted is None:
                    judged: Judged | None = act(self._target, step, shift, self._view)
                else:
                    judged = self._unscripted.judge(step, before, shift)
                    before = step.load.state.group
                if judged is None:
                    return count, ANOTHER
                answer, seen = judged
                new = [one for one in seen if one.path not in wrong]
                wrong = {one.path for one in seen if one.path == STATE}
                if new:
                    sent = as_sent(self._target, step.call.operation())
                    left = self._fail(_failure(trace.name, step, sent, described, answer, new), made)
                    if self.full:
                        return count + 1, FULL
                    if LOAD in self._has:
                        self._ahead.discard()
                        wrong.clear()
                        if not self._loaded(trace, step.index, step.load, step.expected.group, made):
                            return count + 1, NOT_LOADED
                        shift = len(step.load.records) - step.end
                    elif not all(map(may_go_on, left)) or any(is_of_state(one) for one in new):
                        return count + 1, DIFFERENCE
                described = step.expected.group
            except (NotWaited, NotFired) as one:
                return count, one.reason
            except ConformError as error:
                raise _at(error, trace.name, step.index, step.action) from None
        return len(trace.steps), ""

    def _begin(self, trace: DecodedTrace, made: Outcome) -> str:
        """Bring the target into the state at the start of the trace, or return the reason why that is
        impossible."""
        if reason := self._lacking(trace):
            return reason
        self._configure(trace.configuration)
        self.result.waited = expect(self._target, due(trace))
        return "" if self._loaded(trace, 0, trace.start, trace.initial, made) else NOT_LOADED

    def _loaded(
        self, trace: DecodedTrace, index: int, load: Loadable, wanted: Json | None, made: Outcome
    ) -> bool:
        """Load a state, and check: False, with the differences noted, if the target is in another state.
        Where only the name of the group's state differs, the replay goes on, and that is a difference."""
        different: list[Difference] = []
        try:
            self._load(load)
            if self._view.observe is not None:
                described = Answer(group=self._target.describe(self._view.observe))
                expected = self._view.of(Answer(group=wanted), load.there)
                different = differences(expected, self._view.of(described, load.there))
        except Refused as refusal:
            self._ahead.discard()  # steps that were written behind the load began elsewhere
            different = [refused(refusal)]
        operation = {"op": LOAD, "records": load.records, "topics": load.topics, "volatile": load.volatile}
        failure = Failure(trace.name, index, LOAD, "", "", None, operation, different)
        if calls_it_otherwise(trace.kind, different, self._view):
            known = [one for failed in made.failures for one in failed.differences]
            if different[0] not in known:
                self._fail(failure, made)
            return True
        if left := self._without_waived(failure, made):
            made.not_loaded.append(replace(failure, differences=left))
        return not left

    def _lacking(self, trace: DecodedTrace) -> str:
        """The reason why the target cannot be brought into the state at the start of a trace, or ""."""
        if trace.start.forms.name not in (TEXT.name, self._dialect):
            return f"dialect {trace.start.forms.name}"
        if trace.api and trace.api not in self._has:
            return trace.api
        if LOAD not in self._has and trace.start.records:
            return LOAD
        if self._lacks and (lacking := self._lacks & used_in(trace.start.records)):
            return max(lacking)
        if not self._has & {"load", "fresh"}:
            return "fresh"
        if not self._has & {"load", "topics"} and trace.start.topics:
            return "topics"
        if trace.start.state.configs and wire.ALTER not in self._has:
            return wire.ALTER
        if "configure" not in self._has and self._seen(trace.configuration) != self._seen(
            self._configuration
        ):
            return "configure"
        return ""

    def _seen(self, configuration: Json) -> Json:
        """A configuration without its invisible parts: a delay may be the target's own where neither a
        description nor a clock shows its length."""
        return {name: value for name, value in configuration.items() if name not in self._view.unshown}

    def _configure(self, configuration: Json) -> None:
        """Configure the target as the trace's model assumes; the target is made new, so that it had no
        request yet."""
        if configuration != self._configuration and "configure" in self._has:
            self._target.load([], [], {"clockMs": 0})
            self._target.configure({**wire.CONFIGURATION, **configuration})
            self._configuration = configuration

    def _load(self, load: Loadable) -> None:
        """Tell the target to be in a state."""
        self._target.load(load.records, load.topics, load.volatile if LOAD in self._has else {"clockMs": 0})
        if self._unscripted is not None:
            self._unscripted.begin()

    def _fail(self, failure: Failure, made: Outcome) -> list[Difference]:
        """Note a failure, without its waived differences; the remaining ones."""
        kept = self._without_waived(failure, made)
        self._differences += len(kept)
        if kept:
            made.failures.append(replace(failure, differences=kept))
        return kept

    def _without_waived(self, failure: Failure, made: Outcome) -> list[Difference]:
        kept = []
        for one in failure.differences:
            if self._waives(named := failure.signature(one)):
                made.waived.append(named)
            else:
                kept.append(one)
        return kept


def _has(known: Capabilities, view: View) -> frozenset[str]:
    """The APIs of `wire` that the target has, the features, and the operations; records only if they are
    shown."""
    controls = known.controls if view.reads else known.controls - {RECORDS}
    return wire.served(known) | offered(known) | controls


def _failure(
    trace: str, step: Step, sent: Json, before: Json | None, answer: Answer, different: list[Difference]
) -> Failure:
    """The failure of a step that was `sent`, with the group's description `before`."""
    script = None
    if step.script is not None:
        script = {"op": "assign", "group": wire.GROUP, "target": dict(step.script)}
    broken = broken_rules(step.action, sent, before, step.expected, answer)
    return Failure(trace, step.index, step.action, step.branch, step.error, script, sent, different, broken)


def _at(error: ConformError, trace: str, index: int, action: str) -> ConformError:
    return ConformError(f"The trace {trace}, state {index} ({action}): {error.message}", error.exit_code)
