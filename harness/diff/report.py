"""Findings, as JSON, on a terminal, and as traces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from harness.diff.behaviours import parted
from harness.diff.compare import Kind
from harness.diff.kinds import Came, Example, Group
from harness.diff.run import IN_BOTH, ONLY_IN_A, Compared, Diff, Property
from harness.diff.words import answer_of, effects, input_of
from harness.files import output_folder
from harness.itf import Trace, write_trace
from harness.words import counted

Json = dict[str, Any]
TITLES: Final = {Kind.CHANGED: "another outcome", Kind.FORBIDDEN: "forbidden", Kind.ADDED: "added"}
"""The names of the kinds."""
SHOWN: Final = 3
"""The number of kinds of differences of a model on the terminal; the page and the JSON have all."""


def write_traces(result: Diff, folder: Path) -> dict[int, str]:
    """Write every example and counterexample as ITF; the path of each trace (by its `id`), relative to the
    folder."""
    output_folder(folder)
    written: dict[int, str] = {}

    def write(name: str, trace: Trace) -> None:
        write_trace(folder / f"{name}.itf.json", trace)
        written[id(trace)] = f"{name}.itf.json"

    for one in result.models:
        for number, group in enumerate(one.groups, start=1):
            for side, came in (("a", group.example.a), ("b", group.example.b)):
                for index, each in enumerate(came, start=1):
                    more = f"-{index}" if index > 1 else ""
                    write(f"{_file(one)}-{number}-{side}{more}", each.trace)
        for prop in one.properties:
            for side, verdict in (("a", prop.a), ("b", prop.b)):
                if verdict and verdict.counterexample:
                    write(f"{_file(one)}-{prop.name.replace(' ', '-')}-{side}", verdict.counterexample)
    return written


def _file(one: Compared) -> str:
    return one.wanted.name.replace(" ", "-")


def to_json(result: Diff, exit_code: int, written: dict[int, str], folder: Path) -> Json:
    """For `--json`. The traces are named by their paths."""
    places = {key: str(folder / name) for key, name in written.items()}
    return {
        "command": "diff",
        "exit_code": exit_code,
        "a": result.a,
        "b": result.b,
        "engine": result.engine,
        "edits": [asdict(edit) for edit in result.edits.definitions],
        "constants": [asdict(constant) for constant in result.edits.constants],
        "configuration": list(result.edits.configuration),
        "models": [_model(one, places) for one in result.models],
        "page": str(folder / "index.html"),
    }


def _model(one: Compared, places: dict[int, str]) -> Json:
    row: Json = {
        "model": one.wanted.name,
        "bounds": one.bounds,
        "distinct_states": list(one.states),
        "properties": [_property(prop, places) for prop in one.properties],
    }
    if one.comparison:
        row |= {
            "states": states(one),
            "not_compared": one.comparison.space.left_out,
            "inputs": totals(one),
            "actions": {
                action: {kind.value: counts[kind] for kind in Kind}
                for action, counts in one.comparison.counts.items()
            },
            "kinds": [_group(group, places) for group in one.groups],
        }
    return row


def states(one: Compared) -> dict[str, int]:
    """Numbers of states that both versions reach and that only one reaches, and of the steps that leave
    them."""
    comparison = one.comparison
    assert comparison is not None
    return {
        "both": len(comparison.both),
        "only_a": len(comparison.only_a),
        "only_b": len(comparison.only_b),
        "steps_from_only_a": sum(len(s) for at in comparison.only_a for s in comparison.a.steps[at].values()),
        "steps_from_only_b": sum(len(s) for at in comparison.only_b for s in comparison.b.steps[at].values()),
        "initial_only_a": comparison.initial_a,
        "initial_only_b": comparison.initial_b,
        "steps_a": comparison.a.count(),
        "steps_b": comparison.b.count(),
    }


def totals(one: Compared) -> dict[str, int]:
    """The inputs of the states that both reach, by the kind of their difference."""
    assert one.comparison is not None
    counts = sum(one.comparison.counts.values(), Counter[Kind]())
    return {"all": counts.total(), **{kind.value: counts[kind] for kind in Kind}}


def _property(prop: Property, places: dict[int, str]) -> Json:
    row: Json = {"property": prop.name, "requirements": list(prop.requirements), "verdict": prop.words}
    for side, verdict in (("a", prop.a), ("b", prop.b)):
        row[side] = None if verdict is None else "holds" if verdict.holds else "violated"
        if verdict and verdict.counterexample:
            row[f"counterexample_{side}"] = {
                "trace": places[id(verdict.counterexample)],
                "steps": trace_lines(verdict.counterexample),
            }
    return row


def _group(group: Group, places: dict[int, str]) -> Json:
    example = group.example
    return {
        "kind": group.kind.value,
        "action": group.action,
        "ways_a": list(group.a),
        "ways_b": list(group.b),
        "about": list(group.about),
        "inputs": group.count,
        "states": group.states,
        "requirements": list(group.requirements),
        "example": {
            "way": list(example.way),
            "way_b": list(example.way_b),
            "input": example.input,
            "a": [_came(came, places) for came in example.a],
            "b": [_came(came, places) for came in example.b],
        },
    }


def _came(came: Came, places: dict[int, str]) -> Json:
    effects = [{"effect": text, "in_both": both} for text, both in came.effects]
    return {
        "answer": came.answer,
        "answer_in_both": came.answered,
        "effects": effects,
        "trace": places[id(came.trace)],
    }


def trace_lines(trace: Trace) -> list[str]:
    """The steps of a trace, in words; for a specification that does not record its steps, their changes."""
    lines = []
    for index in range(1, len(trace.states)):
        (before, _), (after, step) = parted(trace.states[index - 1]), parted(trace.states[index])
        if step != parted(trace.states[0])[1]:
            answer = answer_of(step)
            lines.append(input_of(step, before) + (f" → {answer}" if answer else ""))
        else:
            name = trace.actions[index] if trace.actions else "step"
            lines.append(f"{name}: {'; '.join(effects(before, after))}")
    if trace.loop is not None:
        again = "stays so" if trace.loop == len(trace.states) - 1 else f"goes on after step {trace.loop}"
        lines.append(f"and {again} for ever")
    return lines


def summary(result: Diff, written: dict[int, str], folder: Path) -> Iterator[str]:
    """The lines for a terminal."""
    yield f"A: {result.a}"
    yield f"B: {result.b}"
    yield from _edits(result)
    for one in result.models:
        yield ""
        yield f"{one.wanted.name}{f' ({one.bounds})' if one.bounds else ''}, {result.engine}"
        if one.comparison:
            yield from _behaviours(one, written, folder)
        yield from _properties(one, written, folder)


def _edits(result: Diff) -> Iterator[str]:
    for constant in result.edits.constants:
        yield f"edited: {constant.name}: {constant.a} → {constant.b} ({constant.sentence})"
    for edit in result.edits.definitions:
        yield f"edited: {edit.module}: {edit.definition} {edit.change}"
    for line in result.edits.configuration:
        yield f"edited: {line}"


def _behaviours(one: Compared, written: dict[int, str], folder: Path) -> Iterator[str]:
    reached, inputs = states(one), totals(one)
    yield (
        f"  states: {reached['both']:,} in both, {reached['only_a']:,} in A alone, "
        f"{reached['only_b']:,} in B alone"
    )
    if left_out := one.comparison and one.comparison.space.left_out:
        yield f"  not compared: {', '.join(left_out)}"
    kinds = ", ".join(f"{inputs[kind.value]:,} {title}" for kind, title in TITLES.items())
    yield f"  inputs in the states of both: {inputs['all']:,}; {kinds}"
    for number, group in enumerate(one.groups[:SHOWN], start=1):
        yield f"  {number}. {headline(group)}"
        yield from (f"     {line}" for line in _example(group.example, written, folder))
    if len(one.groups) > SHOWN:
        yield f"  and {len(one.groups) - SHOWN} more kinds, on the page"


def headline(group: Group) -> str:
    """One kind of differences in a line."""
    a, b = (", ".join(filter(None, ways)) for ways in (group.a, group.b))
    ways = a if a == b else f"{a or 'done'} → {b or 'done'}" if group.kind is Kind.CHANGED else a or b
    changes = ":" if group.kind is Kind.CHANGED else ", changes"
    about = f"{changes} {', '.join(group.about)}" if group.about else ""
    ids = f" [{', '.join(group.requirements)}]" if group.requirements else ""
    step = f"{group.action}{f' ({ways})' if ways else ''}"
    return f"{step}, {TITLES[group.kind]}{about}: {counted(group.count, 'input')}{ids}"


def _example(example: Example, written: dict[int, str], folder: Path) -> Iterator[str]:
    for index, line in enumerate(example.way, start=1):
        yield f"{index}. {line}"
    if example.ways_differ:
        yield "(in B that state is reached otherwise)"
    yield f"{len(example.way) + 1}. {example.input}"
    for side, came in (("A", example.a), ("B", example.b)):
        for each in came:
            yield f"   {side}: {each.words()}"
        if not came:
            yield f"   {side}: no such step"
    for came in (example.a, example.b):
        yield from (f"trace: {folder / written[id(each.trace)]}" for each in came[:1])


def _properties(one: Compared, written: dict[int, str], folder: Path) -> Iterator[str]:
    holding = [prop for prop in one.properties if prop.words == "still holds"]
    if holding:
        names = ", ".join(prop.title for prop in holding)
        yield f"  still hold{'s' * (len(holding) == 1)}: {names}"
    for prop in one.properties:
        if prop in holding:
            continue
        yield f"  {prop.title}: {prop.words}"
        shown = prop.b if prop.b and not prop.b.holds else prop.a
        if shown and shown.counterexample:
            steps = len(shown.counterexample.states) - 1
            yield f"    after {counted(steps, 'step')}: {folder / written[id(shown.counterexample)]}"


def verdict(result: Diff) -> str:
    """The whole result in a sentence."""
    if not result.edits.any:
        return "the two versions say the same, so nothing was run"
    if result.broken:
        names = ", ".join(f"{prop.title} of {model}" for model, prop in result.broken)
        return f"no longer holds: {names}"
    compared = [one.comparison for one in result.models if one.comparison]
    same = ["the same behaviours within the bounds"] if compared and all(c.same for c in compared) else []
    titles: dict[str, list[str]] = {}
    for one in result.models:
        for prop in one.properties:
            words = prop.words if prop.words in (ONLY_IN_A, IN_BOTH) else ""
            titles.setdefault(words, []).append(f"{prop.title} of {one.wanted.name}")
    if not titles:
        return "; ".join([*same, "no properties are checked"])
    held = titles.pop("", None)
    apart = [f"{words}: {', '.join(names)}" for words, names in titles.items()]
    rest = [f"every {'other ' * bool(apart)}property still holds"] if held else []
    return "; ".join([*same, *apart, *rest])
