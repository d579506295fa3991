"""Steps of the gate for a target over the wire: a live broker, or librdkafka's mock cluster."""

from __future__ import annotations

from harness.doctor.examine import Doctor
from harness.doctor.report import to_json
from harness.engines.base import Progress
from harness.errors import ENGINE_FAILED, HOLDS, NOT_CONFORMANT
from harness.gate.steps import Done, GateOptions, Step
from harness.targets import start_target


def examined(options: GateOptions, step: Step, progress: Progress) -> Done:
    """Tell if the target does everything that it declares."""
    doctor = Doctor(options.target, options.dialect, lambda: start_target(options.target, options.dialect))
    result = doctor.examine(progress)
    message, exit_code = f"level: {result.level}", HOLDS
    if result.wrong:
        message += f"; it does not do what it declares: {', '.join(result.wrong)}"
        exit_code = ENGINE_FAILED if result.died else NOT_CONFORMANT
    return Done(step, exit_code, message, 0, {"name": step.name, **to_json(result)})


def announced(options: GateOptions, step: Step) -> Done:
    """Name the dialect that was identified before the first step."""
    identification = options.identified
    assert identification is not None  # `steps_of` lists the step only then
    message = identification.dialect
    if identification.not_told_apart:
        alike = ", ".join(identification.not_told_apart)
        message += f"; not told apart from {alike}: give --dialect if it is another"
    return Done(step, HOLDS, message, 0, {"name": step.name, **identification.to_json()})
