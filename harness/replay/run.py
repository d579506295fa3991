"""Replaying decoded traces on a target and judging every step."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from harness.errors import ENGINE_FAILED, ConformError
from harness.replay import wire
from harness.replay.compare import Difference, differences
from harness.replay.coverage import Coverage
from harness.replay.decode import DecodedTrace, Load, Step
from harness.replay.judge import judge, refused
from harness.replay.members import MemberReplayer
from harness.targets.base import Answer, Json, Refused, Target
from harness.targets.members import StartProcess

NEEDED_CONTROLS = ("topics", "advance", "fire", "assign", "load", "ids")
"""What a target must have, so that every step of a spec can be replayed and judged on it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A step after which the target was not as expected; `index` is that of the state after it."""

    trace: str
    index: int
    action: str
    branch: str
    script: Json | None
    operation: Json
    differences: list[Difference]


@dataclass
class Replayed:
    """The sum of all traces. A judged step was compared in full; after a difference the target is loaded with
    the state that the spec has there, so that what follows is judged by itself. `member_steps` are those of
    client processes that were compared."""

    traces: int = 0
    steps: int = 0
    judged: int = 0
    not_judged: int = 0
    member_steps: int = 0
    differences: int = 0
    failures: list[Failure] = field(default_factory=list)
    coverage: Coverage = field(default_factory=Coverage)


class Replayer:
    """Replays traces one after another on one target.

    The client processes of closed models are replayed, too, if one can be started. Stops judging when
    `max_differences` are found. ConformError (exit 3) if the target fails, or lacks an
    operation that replaying needs.
    """

    def __init__(
        self, target: Target, max_differences: int, start_process: StartProcess | None = None
    ) -> None:
        self._target = target
        self._members = start_process and MemberReplayer(start_process)
        self._max_differences = max_differences
        self.result = Replayed()
        self._capabilities = target.hello()
        self._configuration: Json = wire.DEFAULTS
        self._needs({wire.HEARTBEAT, *NEEDED_CONTROLS})
        if "configure" in self._capabilities.controls:
            target.configure(wire.CONFIGURATION)

    @property
    def full(self) -> bool:
        """Whether as many differences were found as were asked for."""
        return self.result.differences >= self._max_differences

    def replay(self, trace: DecodedTrace) -> None:
        """Replay one trace and add it to `result`."""
        result = self.result
        result.traces += 1
        result.steps += trace.length
        judged = 0
        if not self.full:
            self._needs(trace.needs)
            judged = self._steps(trace) if self._starts(trace) else 0
            self._replay_members(trace)
        result.judged += judged
        result.not_judged += len(trace.steps) - judged
        result.coverage.add(trace.steps[:judged], trace.other_actions if judged else Counter())

    def _replay_members(self, trace: DecodedTrace) -> None:
        """K1, K2, H7: what the client processes send and own."""
        if self._members is None:
            return
        for step, found in self._members.replay(trace.members):
            self._fail(Failure(trace.name, step.index, step.action, "", None, step.operation(), found))
            if self.full:
                break
        self.result.member_steps = self._members.judged

    def _starts(self, trace: DecodedTrace) -> bool:
        """Load the state that the trace starts from."""
        try:
            self._configure(trace.configuration)
            self._load(trace.start)
            found = differences(Answer(group=trace.initial), Answer(group=self._target.describe(wire.GROUP)))
        except Refused as refusal:
            found = [refused(refusal)]
        except ConformError as error:
            raise _at(error, trace.name, 0, "the start") from None
        if found:
            operation = {"op": "load", "records": trace.start.records, "topics": trace.start.topics}
            self._fail(Failure(trace.name, 0, "Init", "", None, operation, found))
        return not found

    def _needs(self, names: set[str]) -> None:
        """ConformError (exit 3) if the target lacks an API or an operation."""
        known = self._capabilities
        for api in sorted(names & wire.VERSIONS.keys()):
            first, last = known.apis.get(api, (0, -1))
            if not first <= wire.VERSIONS[api] <= last:
                raise ConformError(
                    f"The target {self._target.name} does not have version {wire.VERSIONS[api]} of {api}.",
                    ENGINE_FAILED,
                )
        if missing := sorted(names - wire.VERSIONS.keys() - known.controls):
            raise ConformError(
                f"The target {self._target.name} cannot be replayed on: "
                f"it has no operation {', '.join(missing)}.",
                ENGINE_FAILED,
            )

    def _configure(self, configuration: Json) -> None:
        """Configure the target as the trace's model assumes: made new, so that it had no request yet."""
        if configuration != self._configuration:
            self._needs({"configure"})
            self._target.load([], [], {"clockMs": 0})
            self._target.configure({**wire.CONFIGURATION, **configuration})
            self._configuration = configuration

    def _steps(self, trace: DecodedTrace) -> int:
        """Replay the steps until the end or until enough differences are found; how many were judged."""
        shift = 0
        for count, step in enumerate(trace.steps, start=1):
            try:
                found = judge(self._target, step, shift)
                if found:
                    self._fail(_failure(trace.name, step, found))
                    if self.full:
                        return count
                    shift = self._load(step.load) - step.end
            except ConformError as error:
                raise _at(error, trace.name, step.index, step.action) from None
        return len(trace.steps)

    def _load(self, load: Load) -> int:
        """Make the target be in a state; how long its log is then."""
        records = load.records
        self._target.load(records, load.topics, load.volatile)
        return len(records)

    def _fail(self, failure: Failure) -> None:
        self.result.failures.append(failure)
        self.result.differences += len(failure.differences)


def _failure(trace: str, step: Step, found: list[Difference]) -> Failure:
    script = None
    if step.script is not None:
        script = {"op": "assign", "group": wire.GROUP, "target": dict(step.script)}
    return Failure(trace, step.index, step.action, step.branch, script, step.call.operation(), found)


def _at(error: ConformError, trace: str, index: int, action: str) -> ConformError:
    return ConformError(f"The trace {trace}, state {index} ({action}): {error.message}", error.exit_code)
