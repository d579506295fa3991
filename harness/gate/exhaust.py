"""The exhaustive small model as a step of the gate: every request in every state, by Spark."""

from __future__ import annotations

import shutil

from harness.engines.base import Limits, Progress
from harness.errors import ENGINE_FAILED, HOLDS, NOT_CONFORMANT
from harness.files import output_folder
from harness.gate.steps import Done, GateOptions, Step
from harness.pipeline import need_spark
from harness.replay.signature import way
from harness.waivers import Waivers
from harness.words import counted

_SHOWN = 5


def exhausted(
    options: GateOptions, step: Step, accepted: Waivers, limits: Limits, progress: Progress
) -> Done:
    """Judge every transition of the model's state graph. ConformError (exit 3) where there is no Spark."""
    need_spark(f"To exhaust {step.name}")
    from harness.pipeline.exhaust import Job, exhaust
    from harness.pipeline.report import left_out, load_problems

    entry = options.manifest.entry(step.name)
    place = options.out / "exhaust" / step.name
    # Results of an earlier run would be taken for those of this run, although the target may have changed
    # since.
    shutil.rmtree(place, ignore_errors=True)
    job = Job(options.target, options.dialect, str(output_folder(place)), entry.model(), waivers=accepted)
    result = exhaust(job, limits, place, progress)
    message = f"{result.steps:,} steps over {result.states:,} states on {options.target}"
    message = f"{message}, {result.failed:,} differ"
    lines = [
        f"{one['requirement']}: {one['count']:,} x {way(one['action'], one['branch'], one['error'])}: "
        f"{', '.join(one['paths'])} ({place}/examples/{one['finding']}.itf.json)"
        for one in result.findings[:_SHOWN]
    ]
    exit_code = NOT_CONFORMANT if result.failed else HOLDS
    if result.not_judged or result.quarantined or not result.steps:
        exit_code = ENGINE_FAILED
        lines.append(f"{result.not_judged:,} not judged, {counted(result.quarantined, 'input')} not read")
    if "wrong" in result.loads:
        exit_code = exit_code or ENGINE_FAILED
    lines += [*left_out(result), *load_problems(result)]
    if result.unobserved:
        lines.append(f"not compared, because the target does not show it: {', '.join(result.unobserved)}")
    details = {**result.to_json(), "name": step.name, "model": step.name, "output": str(place)}
    message = "\n".join([message, *accepted.lines(), *lines])
    return Done(step, exit_code, message, 0, details, place=entry.module)
