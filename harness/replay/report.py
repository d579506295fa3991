"""The findings of a replay, as JSON and in words."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from harness.replay import causes
from harness.replay.causes import Cause
from harness.replay.compare import SCRIPTED, Difference
from harness.replay.dialects import TEXT
from harness.replay.judge import OPERATION
from harness.replay.run import ANOTHER, DIFFERENCE, LOAD, NOT_LOADED, STOPPED, Failure, Replayed
from harness.replay.wire import ERROR_NAMES, TOPIC_NAMES
from harness.requirements import requirements, sentences
from harness.targets.base import Json
from harness.targets.waiting import REASONS, Waited
from harness.waivers import Waivers
from harness.words import counted

_ITF: Final = ".itf.json"
_PICTURE: Final = ("conform", "graph", "--trace")
_ERROR: Final = re.compile(r'"errorCode": (-?\d+)')


def to_json(
    result: Replayed,
    target: str,
    dialect: str,
    waivers: Waivers | None = None,
    by_cause: Sequence[Cause] | None = None,
    stopped: str = "",
) -> Json:
    """The result for `--json`: `steps` are all of the traces, `target_steps` those that were judged on the
    target, and `member_steps` those of client processes that were judged on a member. `skipped` has for each
    reason the number of traces that ended early for it and the number of steps that this cost, `ended_early`
    the traces and their places, and `left_out` all of that in words. `causes` has the differences by their
    causes, those of `by_cause`, or by their roots alone. `waited` is null where the target does not wait
    for timers. `not_loaded` has the states that the target did not load, in the form of failures. `stopped`
    is the reason why the replay ended before its end; then no waiver is blamed for covering nothing."""
    return {
        "target": target,
        "dialect": dialect,
        "stopped": stopped,
        "traces": result.traces,
        "steps": result.steps,
        "target_steps": result.judged,
        "not_judged": result.not_judged,
        "member_steps": result.member_steps,
        "waited": asdict(result.waited) if result.waited else None,
        "unobserved": list(result.unobserved),
        "skipped": skipped(result),
        "ended_early": [asdict(one) for one in result.ended_early],
        "left_out": list(left_out(result, waivers)),
        "differences": result.differences,
        "not_loaded": [_failure(failure) for failure in result.not_loaded],
        "waived": waivers.to_json("differences") if waivers else [],
        "waiver_problems": list(waivers.problems()) if waivers and not stopped else [],
        "coverage": result.coverage.to_json(),
        "causes": causes.to_json(causes.causes(result.failures) if by_cause is None else by_cause),
        "failures": [_failure(failure) for failure in result.failures],
    }


def _failure(failure: Failure) -> Json:
    entries = [
        {**asdict(one), "requirement": failure.requirement(one), "signature": failure.signature(one)}
        for one in failure.differences
    ]
    of = requirements(failure.action, failure.branch, failure.error)
    return {**asdict(failure), "requirements": list(of), "differences": entries}


def skipped(result: Replayed) -> dict[str, dict[str, int]]:
    """Steps that were not judged, by reason: {"fire": {"traces": 2, "steps": 9}}."""
    counts: dict[str, dict[str, int]] = {}
    for one in sorted(result.ended_early, key=lambda one: one.reason):
        count = counts.setdefault(one.reason, {"traces": 0, "steps": 0})
        count["traces"] += 1
        count["steps"] += one.skipped
    return counts


def reason(name: str) -> str:
    """The reason why steps were skipped, in words; a target lacks operations, APIs or features, by name."""
    return name if name in (ANOTHER, DIFFERENCE, NOT_LOADED, STOPPED) else f"needs {name}"


def summary(result: Replayed, target: str, waivers: Waivers | None = None) -> Iterator[str]:
    """A few lines: the replayed traces, the differences, the parts that were left out and the reasons, the
    actions that were never tested."""
    coverage = result.coverage
    yield (
        f"{counted(result.traces, 'trace')}, {counted(result.steps, 'step')}, "
        f"{result.judged} of them on {target}, "
        f"{len(coverage.distinct)} distinct"
    )
    if result.member_steps:
        yield f"{counted(result.member_steps, 'step')} of client processes on the member of {target}"
    yield differing(result)
    if sentence := not_loaded(result, target):
        yield sentence
    yield from left_out(result, waivers)
    if result.not_judged:
        was, them = ("was", "it") if result.not_judged == 1 else ("were", "them")
        steps = counted(result.not_judged, "step")
        yield f"{steps} {was} not judged, because enough differences were found before {them}"
    yield f"actions: {_counts(coverage.actions)}"
    yield f"errors: {_counts(coverage.errors)}"
    if coverage.never_reached():
        yield f"not reached by these traces: {', '.join(coverage.never_reached())}"


def judged(result: Replayed, files: int) -> str:
    """The progress of a replay of so many files."""
    return (
        f"{result.traces} of {counted(files, 'trace')} begun, {counted(result.judged, 'step')} judged, "
        f"{differing(result)}"
    )


def differing(result: Replayed) -> str:
    """The number of differences: "7 differences in 1 step"."""
    return f"{counted(result.differences, 'difference')} in {counted(len(result.failures), 'step')}"


def not_loaded(result: Replayed, target: str) -> str:
    """A sentence about the states that the target did not load, with the first of them; "" for none."""
    if not result.not_loaded:
        return ""
    first = result.not_loaded[0]
    place = f"{first.trace}, state {first.index}"
    return loaded_otherwise(target, len(result.not_loaded), place, first.differences)


def loaded_otherwise(target: str, states: int, place: str, different: Sequence[Difference]) -> str:
    """The sentence about states that were not loaded; the one at `place` has the differences `different`."""
    count = "a state" if states == 1 else f"{states:,} states"
    return (
        f"The target {target} did not load {count}; the first is {place}: {difference_of_state(different)}. "
        "The adapter is to blame, its load or its describe: conform doctor tests both."
    )


def difference_of_state(different: Sequence[Difference]) -> str:
    """The first part that differs from the loaded state, and the number of further ones."""
    one, more = different[0], len(different) - 1
    if isinstance(one.got, str) and one.path.startswith(OPERATION):
        return f"{one.path.removeprefix(OPERATION)} was {one.got}"
    sentence = f"{one.path} is {shown(one.got)} instead of {shown(one.expected)}"
    return sentence + (f" (and {more} more)" if more else "")


def left_out(result: Replayed, waivers: Waivers | None = None) -> Iterator[str]:
    """Lines about the parts that were not compared, not judged or not counted as a difference, with the
    reasons."""
    if waivers:
        yield from waivers.lines()
    if result.unobserved:
        yield f"not compared, because the target does not show it: {', '.join(result.unobserved)}"
    if result.excused:
        yield f"not compared, because the target's configuration is its own: {', '.join(result.excused)}"
    if result.waited:
        yield from _waited(result, result.waited)
    yield from not_replayed(result)


def _waited(result: Replayed, waited: Waited) -> Iterator[str]:
    """The time that was waited, and the number of timers that the time did not suffice for."""
    why = Counter(one.reason for one in result.ended_early if one.reason in REASONS)
    left = why.total()
    end = f"{counted(left, 'trace')} {'ends' if left == 1 else 'end'} before a timer that was not waited for"
    end += "".join(f"; {count} of them {_needs(count)} {reason}" for reason, count in why.most_common())
    if waited.timers or left:
        yield f"{time_waited(waited)}; {end}"
    else:
        yield f"{time_waited(waited)}: no trace came to a step at which one runs out"
    if waited.note:
        yield f"sessions are as long as the broker has them: {waited.note}"


def _needs(count: int) -> str:
    return "needs" if count == 1 else "need"


def time_waited(waited: Waited) -> str:
    """The seconds that were waited, and the number of timers; no seconds where there was none."""
    if waited.timers:
        return f"waited {waited.spent_s:.0f} s of {waited.budget_s:g} s for {counted(waited.timers, 'timer')}"
    return "no timer was waited for"


def not_replayed(result: Replayed) -> Iterator[str]:
    """The steps that were not judged, with the reasons."""
    for name, counts in skipped(result).items():
        steps, traces = counted(counts["steps"], "step"), counted(counts["traces"], "trace")
        yield f"skipped, {reason(name)}: {steps} at the end of {traces}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in sorted(counts.items())) or "none"


def explain(failure: Failure, target: str, dialect: str, wait_s: float = 0) -> Iterator[str]:
    """One failure in full: its place, the request, every difference, and the command that repeats it, with
    the seconds that the replay might wait for timers."""
    branch = f" ({failure.branch})" if failure.branch else ""
    yield f"{failure.trace}, step {failure.index}: {failure.action}{branch}"
    if failure.script is not None:
        yield f"  target assignment to install: {shown(failure.script['target'])}"
    if failure.action == LOAD:
        [one] = failure.differences
        yield (
            f"  The target describes the group as {one.got} where the specification has {one.expected}. All "
            "from which that follows is as it was loaded: this is the coordinator's."
        )
    elif "waitedS" in failure.operation:
        yield f"  nothing was sent: {_waiting(failure.operation)}"
    else:
        yield f"  sent: {shown(failure.operation)}"
    if of := requirements(failure.action, failure.branch, failure.error):
        yield f"  the step is of {', '.join(of)}"
    for rule in failure.rules:
        yield f"  {rule.requirement}, {rule.property}: {rule.says}"
    for difference in failure.differences:
        yield from _difference(difference, failure.requirement(difference))
    yield "  what these requirements say:"
    named_here = [*of, *(rule.requirement for rule in failure.rules)]
    named_here += [failure.requirement(difference) for difference in failure.differences]
    for name in dict.fromkeys(named_here):
        if name in sentences():
            yield f"    {name}: {sentences()[name]}"
    yield f"  again: {again(failure.trace, target, dialect, wait_s)}"


def _waiting(operation: Json) -> str:
    """The time-out that a live broker was given, and the time that was waited for it."""
    waited, time_out = operation["waitedS"], operation["timeOutS"]
    return (
        f"{waited:g} s passed after the {operation['timer']} timer of {operation['member']} was armed, and "
        f"its time-out is {time_out:g} s"
    )


def explain_causes(
    by_cause: Sequence[Cause], failures: Sequence[Failure], target: str, dialect: str, wait_s: float = 0
) -> Iterator[str]:
    """The most serious cause in full, with its shortest schedule, and the cause of most steps, if it is
    another: in the order of the traces the first difference may be of any. A cause that the target's dialect
    has is shown if there is no other."""
    most = max(by_cause, key=lambda one: (not one.of_dialect, one.steps), default=None)
    for number, one in enumerate(by_cause, start=1):
        if number > 1 and one is not most:
            continue
        why = "the most serious" if number == 1 else f"that of most steps ({one.steps})"
        yield f"cause {number}, {why}: {causes.title(one)}; its shortest trace:"
        failure = causes.shortest(one, failures)
        yield from explain(failure, target, dialect, wait_s)
        if failure.trace.endswith(_ITF):
            yield f"  picture of the trace: {shlex.join([*_PICTURE, failure.trace, '--sequence'])}"


def again(trace: str, target: str, dialect: str, wait_s: float = 0) -> str:
    """The command that replays a trace in the same way."""
    words = ["conform", "replay", trace, "--target", target]
    words += [] if dialect == TEXT.name else ["--dialect", dialect]
    words += ["--wait", f"{wait_s:g}"] if wait_s else []
    return shlex.join(words)


def budget_s(result: Replayed) -> float:
    """The seconds that a replay might wait for timers."""
    return result.waited.budget_s if result.waited else 0


def _difference(difference: Difference, requirement: str) -> Iterator[str]:
    of = f" ({requirement})" if requirement else ""
    if difference.path == SCRIPTED:
        did = ("did not use", "computes one") if difference.expected else ("used", "computes none")
        yield f"  {SCRIPTED}{of}: the target {did[0]} the assignment given, where the specification {did[1]}"
        return
    yield f"  {difference.path}{of}"
    yield f"    expected {shown_at(difference.path, difference.expected)}"
    yield f"    got      {shown_at(difference.path, difference.got)}"


def shown(value: Any) -> str:
    """A value in one line; partitions by the names of their topics, an error code with its own name."""
    return _ERROR.sub(_with_name, json.dumps(named(value, TOPIC_NAMES), ensure_ascii=False))


def _with_name(code: re.Match[str]) -> str:
    """`"errorCode": 113 (STALE_MEMBER_EPOCH)`; 0 stays unchanged."""
    name = ERROR_NAMES.get(int(code[1]), "") if int(code[1]) else ""
    return f"{code[0]} ({name})" if name else code[0]


def shown_at(path: str, value: Any) -> str:
    """The value at a path of an answer in one line; an error code has its name beside it."""
    name = ERROR_NAMES.get(value, "") if path.endswith("errorCode") and isinstance(value, int) else ""
    return f"{value} ({name})" if name else shown(value)


def named(value: Any, names: Mapping[str, str]) -> Any:
    """Partitions by the names of their topics, of which `names` has the ids: [{"topicId": …, "partitions":
    [0]}] becomes ["foo-0"]."""
    if isinstance(value, dict):
        return {key: named(item, names) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    if value and all(_is_topic(item) for item in value):
        return [
            f"{names.get(item['topicId'], item['topicId'])}-{index}"
            for item in value
            for index in item["partitions"]
        ]
    return [named(item, names) for item in value]


def _is_topic(value: Any) -> bool:
    """Tell if a value has partitions of a topic."""
    if not isinstance(value, dict) or value.keys() != {"topicId", "partitions"}:
        return False
    return isinstance(value["topicId"], str) and isinstance(value["partitions"], list)
