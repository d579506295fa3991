"""Findings of the gate, as one page of HTML that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from harness.errors import HOLDS
from harness.gate.output import first_line, title, verdict
from harness.gate.steps import Done, GateOptions, Outcome
from harness.pages import template


def page(options: GateOptions, finished: Sequence[Done]) -> str:
    """The page."""
    exit_code, sentence = verdict(finished)
    done = [one for one in finished if one.outcome is Outcome.DONE]
    return template(Path(__file__).parent, "page.html.j2").render(
        options=options,
        exit_code=exit_code,
        verdict=sentence + (options.waivers.excepted("differences") if exit_code == HOLDS else ""),
        failed=[one for one in finished if one.failed],
        done=done,
        accepted=[one for one in done if _recorded(one) and not one.failed],
        waived=list(options.waivers.listed()),
        cut=[one for one in finished if one.outcome is Outcome.CUT],
        left_out=[one for one in finished if one.outcome is Outcome.LEFT_OUT],
        seconds=sum(one.seconds for one in finished),
        title=title,
        recorded=_recorded,
        first_line=first_line,
    )


def _recorded(done: Done) -> bool:
    """Tell if this is the recorded result of a model."""
    return done.step.kind == "evidence" or bool(done.details.get("evidence"))
