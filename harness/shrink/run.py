"""The shortest part of a trace after which a target still differs in the same way.

A part is a behaviour of the specification, computed by TLC (spec/Shortened.tla), and is replayed on the
target like any trace.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from harness.engines.base import Limits
from harness.engines.tlc import VERSION
from harness.errors import USAGE, ConformError
from harness.itf import Trace
from harness.replay.classic.state import is_classic
from harness.replay.connect.state import is_connect
from harness.replay.decode import Decoder
from harness.replay.migration.state import is_migration
from harness.replay.run import Failure, Replayed, Replayer
from harness.shrink.ask import shrink_together
from harness.shrink.behaviours import behaviours, trace_of
from harness.shrink.kept import Kept, kept_steps, simpler
from harness.shrink.loops import without_loops
from harness.spechash import spec_hash
from harness.targets.base import Target
from harness.values import State

AT_ONCE: Final = 800
"""Steps that one run of TLC is given: it takes about as long to start as to do them."""
MANY: Final = 1_000_000
NOT_DONE_AGAIN: Final = frozenset(
    {"PrepareAssignment", "InstallAssignment", "ComputationTimeout"}
    | {"ListGroups", "DeleteGroups", "AlterConfigs", "DescribeConfigs"}
)
"""The actions of groups with members that compute, and of administrators: spec/Shortened.tla has no steps for
them."""


@dataclass(frozen=True, slots=True)
class Shrunk:
    """`trace` is the shortest behaviour that fails so; `steps` are those of the trace before, `failing` of
    them up to the first that does. `failure` is that of the shortest one. `runs` of TLC judged `tried`
    parts; none, where the trace was cut after the step that fails and only loops were left out."""

    trace: Trace
    signature: str
    steps: int
    failing: int
    failure: Failure
    engine: str
    spec: str
    runs: int
    tried: int

    @property
    def kept(self) -> int:
        """How many steps are left."""
        return len(self.trace.states) - 1


def signatures(failures: Sequence[Failure]) -> list[str]:
    """In how many ways a target failed, the first one first."""
    return list(dict.fromkeys(failure.signature(one) for failure in failures for one in failure.differences))


class Oracle:
    """Replays traces on a target, one after another."""

    def __init__(self, target: Target) -> None:
        self.name = target.name
        self._replayer = Replayer(target, MANY)

    def failures(self, trace: Trace, name: str) -> list[Failure]:
        """Where the target differs. ConformError as of a replay."""
        self._replayer.result = Replayed()
        self._replayer.replay(Decoder().decode(trace, name))
        return self._replayer.result.failures


def shrink_trace(
    trace: Trace,
    name: str,
    oracle: Oracle,
    spec: Path,
    limits: Limits,
    signature: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> Shrunk:
    """Shrink the trace in the file `name` to the steps after which the target differs as `signature` says,
    or as it differs first.

    ConformError: exit 2 for a trace after which the target does not differ so, or that cannot be done again;
    3 if TLC or the target fails.
    """
    told: list[Any] = [state.get("step") for state in trace.states]
    actions = {step.get("action") for step in told if isinstance(step, Mapping)}
    if is_classic(trace) or is_connect(trace) or is_migration(trace) or actions & NOT_DONE_AGAIN:
        return _cut(trace, name, oracle, signature)
    steps = kept_steps(trace, name)
    failures = oracle.failures(trace, name)
    chosen, index = _first(failures, signature, name, oracle.name)
    prefix = [step for at, step in steps.items() if at <= index]
    work = _Work(trace, name, oracle, spec, limits, chosen, progress)
    if not work.answer([prefix])[0]:
        raise ConformError(_done_otherwise(trace, work.last, prefix, name), USAGE)
    found = shrink_together(prefix, work.answer, AT_ONCE, simpler=simpler)
    shortest, failure = work.trace(found, f"Shrunk from {len(steps)} steps of {Path(name).name}: {chosen}")
    return Shrunk(
        shortest,
        chosen,
        len(steps),
        len(prefix),
        failure,
        f"TLC {VERSION}",
        spec_hash(spec / "Shortened.tla", None),
        work.runs,
        work.tried,
    )


def _cut(trace: Trace, name: str, oracle: Oracle, signature: str) -> Shrunk:
    """Up to the step that fails, without loops before it. Other steps stay: spec/Shortened.tla does steps of
    consumer groups again in another state, and no others."""
    failures = oracle.failures(trace, name)
    chosen, index = _first(failures, signature, name, oracle.name)
    meta = {**trace.meta, "description": f"Cut from {Path(name).name}: {chosen}"}
    cut = replace(trace, meta=meta, states=trace.states[: index + 1], actions=trace.actions[: index + 1])

    def fails(shorter: Trace) -> bool:
        return chosen in signatures(oracle.failures(shorter, name))

    short, tried = without_loops(cut, fails)
    failure = next(one for one in oracle.failures(short, name) if chosen in signatures([one]))
    return Shrunk(short, chosen, len(trace.states) - 1, index, failure, "", "", 0, tried)


def _first(failures: Sequence[Failure], signature: str, name: str, target: str) -> tuple[str, int]:
    """Which difference it is about, and the index of the state after the first step that has it."""
    known = signatures(failures)
    if not known:
        raise ConformError(f"The trace {name} does not fail on {target}: there is nothing to shrink.", USAGE)
    if signature and signature not in known:
        raise ConformError(
            f"The trace {name} does not fail on {target} with {signature!r}, but with: {'; '.join(known)}.",
            USAGE,
        )
    chosen = signature or known[0]
    index = next(failure.index for failure in failures if chosen in signatures([failure]))
    if index == 0:
        raise ConformError(
            f"{target} cannot be brought into the state that the trace {name} begins with: no step of it can "
            "be left out for that.",
            USAGE,
        )
    return chosen, index


def _done_otherwise(trace: Trace, states: Sequence[State], steps: Sequence[Kept], name: str) -> str:
    """Why the steps of a trace, done once more, do not fail as they did."""
    done = len(states) - 1
    if done < len(steps):
        return (
            f"The open instance has no step {done + 1} of the trace {name} ({steps[done].does} of "
            f"{steps[done].member or 'nobody'}), so no part of it is a behaviour: it cannot be shrunk."
        )
    return f"The steps of the trace {name}, done once more, do not fail in the same way: it cannot be shrunk."


class _Work:
    """Answers which parts of a trace fail in the chosen way."""

    def __init__(
        self,
        trace: Trace,
        name: str,
        oracle: Oracle,
        spec: Path,
        limits: Limits,
        signature: str,
        progress: Callable[[str], None],
    ) -> None:
        self._trace, self._name, self._oracle = trace, name, oracle
        self._spec, self._limits = spec, limits
        self._signature = signature
        self._progress = progress
        self._found: dict[tuple[Kept, ...], tuple[Trace, Failure]] = {}
        self.last: list[State] = []
        self.runs = self.tried = 0

    def answer(self, parts: Sequence[Sequence[Kept]]) -> list[bool]:
        """By one run of TLC."""
        self.runs += 1
        self.tried += len(parts)
        made = behaviours(self._trace, parts, self._spec, self._limits)
        self.last = made[-1]
        fails = [self._fails(part, states) for part, states in zip(parts, made, strict=True)]
        shortest = min(map(len, self._found), default=0)
        self._progress(f"{shortest} steps are left, {self.tried} parts tried")
        return fails

    def _fails(self, part: Sequence[Kept], states: list[State]) -> bool:
        if len(states) <= len(part):
            return False
        trace = trace_of(states, self._trace, "")
        for failure in self._oracle.failures(trace, self._name):
            if self._signature in signatures([failure]):
                self._found[tuple(part)] = trace, failure
                return True
        return False

    def trace(self, part: Sequence[Kept], description: str) -> tuple[Trace, Failure]:
        """A part that fails, and how."""
        trace, failure = self._found[tuple(part)]
        return replace(trace, meta={**trace.meta, "description": description}), failure
