"""The shortest part of a trace after which a target still differs in the same way.

A part is a behaviour of the specification, computed by TLC (spec/Shortened.tla, or the trace's own model),
and is replayed on the target like any trace.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from harness.engines.base import Limits
from harness.engines.tlc import VERSION
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.itf import Trace
from harness.kinds.registry import kind_of
from harness.kinds.shortenings import SHORTENINGS, Shortening
from harness.replay.causes import root_signature, what
from harness.replay.decode import Decoder
from harness.replay.report import not_loaded, reason
from harness.replay.run import DIFFERENCE, Failure, Replayed, Replayer
from harness.replay.signature import way
from harness.shrink.again import Doing, model_of
from harness.shrink.ask import shrink_together
from harness.shrink.loops import without_loops
from harness.spechash import spec_hash
from harness.targets.base import Target
from harness.targets.waiting import NO_TIME, Waited
from harness.values import State
from harness.words import counted

AT_ONCE: Final = 800
"""The number of steps in one run of TLC, which takes about as long to start as to do them."""
MANY: Final = 1_000_000
NOT_DONE_AGAIN: Final = frozenset(
    {"PrepareAssignment", "InstallAssignment", "ComputationTimeout"}
    | {"ListGroups", "DeleteGroups", "AlterConfigs", "DescribeConfigs"}
)
"""The actions of groups with members that compute, and of administrators: spec/Shortened.tla has no steps for
them; the models of such traces have."""

Step = TypeVar("Step", bound=Hashable)
Anew = TypeVar("Anew", bound=Hashable, contravariant=True)


class Doer(Protocol[Anew]):
    """A class that does parts of a trace again."""

    def behaviours(self, parts: Sequence[Sequence[Anew]]) -> list[list[State]]:
        """The states of each part's behaviour, the first one included: fewer than steps + 1 where a step is
        not possible. ConformError: exit 2 without a specification, 3 if TLC fails."""

    def trace_of(self, states: Sequence[State], description: str) -> Trace:
        """The behaviour as a trace, with the facts about the model of the first trace."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """The result of shrinking. `trace` is the shortest behaviour that fails; `steps` are those of the trace
    before, `failing` of them up to the first that fails. `failure` is that of the shortest one. `runs` of TLC
    judged `tried` parts; none, where the trace was cut after the step that fails and only loops were left
    out."""

    trace: Trace
    signature: str
    steps: int
    failing: int
    failure: Failure
    engine: str
    spec: str
    runs: int
    tried: int
    scenario: bool
    """Tell if its steps can be written as a scenario of a consumer group."""

    @property
    def kept(self) -> int:
        """The number of remaining steps."""
        return len(self.trace.states) - 1


def signatures(failures: Sequence[Failure]) -> list[str]:
    """The ways in which a target failed, the first one first, of each step the root first."""
    names: dict[str, None] = {}
    for failure in failures:
        names[root_signature(failure)] = None
        names |= dict.fromkeys(failure.signature(one) for one in failure.differences)
    return list(names)


@dataclass(frozen=True, slots=True)
class Way:
    """The way in which a target fails: a difference with a signature, in a step whose differences have the
    root that a replay names. Another root is another defect, though it appears in the same place."""

    signature: str
    step: str
    root: str

    @staticmethod
    def of(failure: Failure, signature: str) -> Way:
        """The way of a failure that has a difference with that signature."""
        return Way(signature, way(failure.action, failure.branch, failure.error), what(failure))

    def has(self, failure: Failure) -> bool:
        """Tell if a step fails in this way."""
        return self.signature in signatures([failure]) and Way.of(failure, self.signature) == self


class Oracle:
    """A judge that replays traces on a target, one after another. `unjudged` is the reason why the last one
    was not judged to its end, None if it was; `waited` is as of a replay, `out_of_time` tells if its seconds
    were too few."""

    def __init__(self, target: Target) -> None:
        self.name = target.name
        self.unjudged: ConformError | None = None
        self.waited: Waited | None = None
        self.out_of_time = False
        self._replayer = Replayer(target, MANY)

    def failures(self, trace: Trace, name: str) -> list[Failure]:
        """Places where the target differs. ConformError as of a replay; a state that the target does not load
        is no such place: later steps are not judged, and the results before it stay."""
        self._replayer.result = result = Replayed()
        self._replayer.replay(Decoder().decode(trace, name))
        self.waited = result.waited
        self.out_of_time |= any(one.reason == NO_TIME for one in result.ended_early)
        self.unjudged = self._why_not_judged(result)
        return result.failures

    def _why_not_judged(self, result: Replayed) -> ConformError | None:
        if sentence := not_loaded(result, self.name):
            return ConformError(sentence, ENGINE_FAILED)
        ended = [one for one in result.ended_early if one.reason != DIFFERENCE]
        if not ended:
            return None
        one = ended[0]
        waits = one.reason == NO_TIME or (one.reason == "fire" and self.name.startswith("broker:"))
        way_out = ": give --wait SECONDS, or more of them" if waits else ""
        return ConformError(
            f"The trace {one.trace} is judged on {self.name} only up to its step {one.judged}, and "
            f"the next one {reason(one.reason)}{way_out}.",
            USAGE,
        )


def shrink_trace(
    trace: Trace,
    name: str,
    oracle: Oracle,
    spec: Path,
    limits: Limits,
    signature: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> Shrunk:
    """Shrink the trace in the file `name` to the steps after which the target differs with `signature`, or
    with the root of the first step that differs. The root of the differences stays the same.

    ConformError: exit 2 for a trace without such a difference, or one that cannot be done again; 3 if TLC or
    the target fails.
    """
    steps: list[Any] = [state.get("step") for state in trace.states]
    actions = {step.get("action") for step in steps if isinstance(step, Mapping)}
    known = SHORTENINGS.get(kind_of(trace, f"The trace {name}").name)
    if known is None or actions & NOT_DONE_AGAIN:
        model = model_of(trace, spec)
        shrunk = model and _by_model(Doing(trace, model, limits), name, oracle, signature, progress)
        return shrunk or _cut(trace, name, oracle, signature)
    doer = known.shortening(trace, name, spec, limits)
    chosen, index = _first(oracle, trace, signature, name)
    prefix = [step for at, step in doer.steps.items() if at <= index]
    work = _Work(doer, name, oracle, chosen, progress)
    if not work.answer([prefix])[0]:
        raise ConformError(_done_otherwise(doer, work.last, prefix, name), USAGE)
    left = shrink_together(prefix, work.answer, AT_ONCE, simpler=doer.simpler)
    digest = spec_hash(spec / doer.module, None)
    return work.shrunk(left, steps=len(doer.steps), failing=len(prefix), spec=digest, scenario=True)


def _by_model(
    doing: Doing, name: str, oracle: Oracle, signature: str, progress: Callable[[str], None]
) -> Shrunk | None:
    """Leave out steps as far as the trace's own model can do the others; None where the model does not have
    the whole trace, or the target does not fail after it."""
    chosen, index = _first(oracle, doing.trace, signature, name)
    prefix = doing.steps[:index]
    work = _Work(doing, name, oracle, chosen, progress)
    if not work.answer([prefix])[0]:
        return None
    left = shrink_together(prefix, work.answer, AT_ONCE)
    model = doing.model
    digest = spec_hash(model.module, model.configuration)
    return work.shrunk(left, steps=len(doing.steps), failing=index, spec=digest, scenario=False)


def _cut(trace: Trace, name: str, oracle: Oracle, signature: str) -> Shrunk:
    """Cut the trace after the step that fails, and remove loops before it. Other steps stay: no model does
    them again."""
    chosen, index = _first(oracle, trace, signature, name)
    meta = {**trace.meta, "description": f"Cut from {Path(name).name}: {chosen.signature}"}
    cut = replace(trace, meta=meta, states=trace.states[: index + 1], actions=trace.actions[: index + 1])

    failing: list[Failure] = []

    def fails(shorter: Trace) -> bool:
        alike = [one for one in oracle.failures(shorter, name) if chosen.has(one)]
        failing.extend(alike[:1])
        return bool(alike)

    if not fails(cut):
        raise ConformError(
            f"The trace {name} was cut after step {index}, and did not fail again: it cannot be shrunk.",
            USAGE,
        )
    short, tried = without_loops(cut, fails)
    steps = len(trace.states) - 1
    return Shrunk(short, chosen.signature, steps, index, failing[-1], "", "", 0, tried, False)


def _first(oracle: Oracle, trace: Trace, signature: str, name: str) -> tuple[Way, int]:
    """The way to fail that stays, and the index of the state after the first step that fails in this way: if
    possible, one whose root has the signature."""
    failures, target = oracle.failures(trace, name), oracle.name
    known = signatures(failures)
    if not known and oracle.unjudged:
        raise oracle.unjudged
    if not known:
        raise ConformError(f"The trace {name} does not fail on {target}: there is nothing to shrink.", USAGE)
    if signature and signature not in known:
        also = f" {oracle.unjudged.message}" if oracle.unjudged else ""
        raise ConformError(
            f"The trace {name} does not fail on {target} with {signature!r}, but with: "
            f"{'; '.join(known)}.{also}",
            oracle.unjudged.exit_code if oracle.unjudged else USAGE,
        )
    chosen = signature or known[0]
    rooted = [failure for failure in failures if root_signature(failure) == chosen]
    first = (rooted or [failure for failure in failures if chosen in signatures([failure])])[0]
    if first.index == 0:
        raise ConformError(
            f"{target} cannot be brought into the state that the trace {name} begins with: no step of it can "
            "be left out for that.",
            USAGE,
        )
    return Way.of(first, chosen), first.index


def _done_otherwise(doer: Shortening[Any], states: Sequence[State], steps: Sequence[Any], name: str) -> str:
    """The reason why the steps of a trace, done once more, do not fail as before."""
    done = len(states) - 1
    if done < len(steps):
        return (
            f"The open instance has no step {done + 1} of the trace {name} ({doer.words(steps[done])}), "
            "so no part of it is a behaviour: it cannot be shrunk."
        )
    return f"The steps of the trace {name}, done once more, do not fail in the same way: it cannot be shrunk."


class _Work(Generic[Step]):
    """A class that answers which parts of a trace fail in the chosen way."""

    def __init__(
        self,
        doer: Doer[Step],
        name: str,
        oracle: Oracle,
        chosen: Way,
        progress: Callable[[str], None],
    ) -> None:
        self._doer, self._name, self._oracle = doer, name, oracle
        self._chosen = chosen
        self._progress = progress
        self._found: dict[tuple[Step, ...], tuple[Trace, Failure]] = {}
        self.last: list[State] = []
        self.runs = self.tried = 0

    def answer(self, parts: Sequence[Sequence[Step]]) -> list[bool]:
        """By one run of TLC."""
        self.runs += 1
        self.tried += len(parts)
        made = self._doer.behaviours(parts)
        self.last = made[-1]
        fails = [self._fails(part, states) for part, states in zip(parts, made, strict=True)]
        shortest = min(map(len, self._found), default=0)
        self._progress(f"steps that are left: {shortest}; {counted(self.tried, 'part')} tried")
        return fails

    def _fails(self, part: Sequence[Step], states: list[State]) -> bool:
        if len(states) <= len(part):
            return False
        trace = self._doer.trace_of(states, "")
        for failure in self._oracle.failures(trace, self._name):
            if self._chosen.has(failure):
                self._found[tuple(part)] = trace, failure
                return True
        return False

    def shrunk(self, part: Sequence[Step], *, steps: int, failing: int, spec: str, scenario: bool) -> Shrunk:
        """A part that fails, and its way to fail."""
        trace, failure = self._found[tuple(part)]
        sentence = (
            f"Shrunk from {counted(steps, 'step')} of {Path(self._name).name}: {self._chosen.signature}"
        )
        return Shrunk(
            replace(trace, meta={**trace.meta, "description": sentence}),
            self._chosen.signature,
            steps,
            failing,
            failure,
            f"TLC {VERSION}",
            spec,
            self.runs,
            self.tried,
            scenario,
        )
