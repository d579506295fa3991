"""A group under random operations, over the line protocol: R7, E4, A4, O2, P3 after every step.

`make test` always draws the same examples, within seconds. A soak draws so many random ones:

    CONFORM_EXAMPLES=10000 python -m pytest tests/properties/test_group_machine.py

A failure ends with the shortest schedule that was found, as a scenario file: put it into traces/golden/ and
let `conform scenario FILE --rewrite` write the answers of the specification. CONFORM_SHRINK=0 does not
look for a shorter schedule than the first.
"""

from __future__ import annotations

import os

from group_machine import GroupMachine
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from line_protocol import as_a_program

EXAMPLES = int(os.environ.get("CONFORM_EXAMPLES", "0"))
PHASES = [Phase.generate, Phase.shrink] if os.environ.get("CONFORM_SHRINK") != "0" else [Phase.generate]


class ProgramMachine(GroupMachine):
    """The group machine against `python -m coordinator --stdio`."""

    connect = staticmethod(as_a_program)


def profile(examples: int, steps: int) -> settings:
    """Settings for a number of examples, which are the same in every run; or the settings of a soak, if the
    environment asks for one."""
    return settings(
        max_examples=EXAMPLES or examples,
        stateful_step_count=steps,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=PHASES,
        print_blob=False,
        report_multiple_bugs=False,
    )


def test_group_is_as_it_should_be_after_every_step() -> None:
    run_state_machine_as_test(GroupMachine, settings=profile(300, 50))


def test_group_of_a_program_is_as_it_should_be_after_every_step() -> None:
    run_state_machine_as_test(ProgramMachine, settings=profile(5, 50))
