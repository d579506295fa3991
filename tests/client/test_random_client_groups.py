"""A group whose members compute, under random events (A5, A6, A7, A9, R7, R8, P2, P3).

`make test` always draws the same examples; CONFORM_EXAMPLES=10000 draws so many random ones.
"""

from __future__ import annotations

import os

from client_machine import ClientMachine
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

EXAMPLES = int(os.environ.get("CONFORM_EXAMPLES", "0"))


def test_group_is_as_it_should_be_after_every_step() -> None:
    profile = settings(
        max_examples=EXAMPLES or 30,
        stateful_step_count=30,
        derandomize=not EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    run_state_machine_as_test(ClientMachine, settings=profile)
