"""The page for the reviewer of a change, as one file that fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from harness.diff.compare import Kind
from harness.diff.kinds import Came, Example, Group
from harness.diff.report import TITLES, states, totals, trace_lines, verdict
from harness.diff.run import Compared, Diff
from harness.kinds.registry import is_known
from harness.pages import template
from harness.report.trace_sequence import sequence_of_trace

_TEMPLATE: Final = "page.html.j2"
_MOST: Final = 60
"""The number of kinds of differences of a model on the page; the JSON has all."""
_WIDE: Final = 110
"""The number of letters of the words under a diagram; longer texts are cut."""
_CSS: Final = Path(__file__).parents[1] / "report" / "sequence.css"


def page(result: Diff, written: dict[int, str]) -> str:
    """The page. `written` names the file of each trace, by its `id`."""
    return template(Path(__file__).parent, _TEMPLATE).render(
        a=result.a,
        b=result.b,
        engine=result.engine,
        edits=result.edits,
        models=[_model(one) for one in result.models],
        verdict=verdict(result),
        broken=bool(result.broken),
        kinds=list(Kind),
        titles=TITLES,
        diagram_style=Markup(_CSS.read_text(encoding="utf-8")),
        file=lambda trace: written[id(trace)],
        trace_lines=trace_lines,
    )


def _model(one: Compared) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": one.wanted.name,
        "bounds": one.bounds,
        "properties": one.properties,
        "holding": [prop for prop in one.properties if prop.words == "still holds"],
        "others": [prop for prop in one.properties if prop.words != "still holds"],
        "distinct": one.states,
        "compared": one.comparison is not None,
    }
    if one.comparison:
        shown |= {
            "same": one.comparison.same,
            "states": states(one),
            "inputs": totals(one),
            "actions": sorted(
                one.comparison.counts.items(),
                key=lambda item: (item[1][Kind.SAME] - item[1].total(), item[0]),
            ),
            "groups": [_group(number, group) for number, group in enumerate(one.groups[:_MOST], start=1)],
            "not_compared": one.comparison.space.left_out,
            "left_out": max(len(one.groups) - _MOST, 0),
        }
    return shown


def _group(number: int, group: Group) -> dict[str, Any]:
    a, b = (", ".join(filter(None, ways)) for ways in (group.a, group.b))
    return {
        "number": number,
        "kind": group.kind.value,
        "title": TITLES[group.kind],
        "action": group.action,
        "way": a if a == b else f"{a or 'done'} → {b or 'done'}" if group.kind is Kind.CHANGED else a or b,
        "about": ", ".join(group.about),
        "count": group.count,
        "states": group.states,
        "requirements": group.requirements,
        "example": group.example,
        "diagram": Markup(_diagram(group.example)),
    }


def _diagram(example: Example) -> str:
    """A sequence diagram of the way and the outcome in A, or in B alone; "" for other protocols."""
    trace = (example.a or example.b)[0].trace
    if not is_known(trace):
        return ""
    words = [_words("A", example.a), _words("B", example.b)]
    return sequence_of_trace(trace, "", {len(trace.states) - 1: words}, inline=True)


def _words(letter: str, came: Sequence[Came]) -> str:
    text = f"{letter}: {came[0].words() if came else 'no such step'}"
    return text if len(text) <= _WIDE else f"{text[: _WIDE - 1]}…"
