"""Reading scenario files of classic and Connect groups; every mistake is an error that names its line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import yaml

from harness.kinds.scenarios import LANGUAGES
from harness.scenario.fields import Field, verb_of
from harness.scenario.scripts.model import Erratum, Expected, Language, Script, Step, Universe

_NAMED: Final = ("member", "worker")
"""Fields with the id of a member, and below those with a mapping from such ids."""
_BY_MEMBER: Final = ("members", "workers", "target", "assignments")


def load_script(whole: Field) -> Script:
    """The scenario in a file. ConformError (exit 2) for the first mistake."""
    protocol = whole.mapping()["protocol"]
    kind = LANGUAGES.get(protocol.text())
    if kind is None:
        raise protocol.wrong(
            f"{protocol.text()!r} is none of {', '.join(LANGUAGES)}; leave it out for KIP-848"
        )
    needed = ("protocol", "name", "source", "shows", kind.topics, "steps")
    fields = whole.fields(needed, ("link", "requirements", "caught", "first", "errata"))
    topics = {name: field.number(0) + kind.whole for name, field in fields[kind.topics].mapping().items()}
    steps = fields["steps"].items()
    if not steps:
        raise fields["steps"].wrong("a scenario has at least one step")
    errata = fields["errata"].items() if "errata" in fields else []
    return Script(
        file=whole.file,
        name=fields["name"].prose(),
        source=fields["source"].prose(),
        shows=fields["shows"].prose(),
        requirements=fields["requirements"].names() if "requirements" in fields else (),
        kind=kind,
        universe=_universe(whole, kind, topics),
        first=kind.first(fields.get("first"), topics),
        steps=tuple(_step(step, kind) for step in steps),
        errata=tuple(_erratum(erratum, len(steps)) for erratum in errata),
        link=fields["link"].text() if "link" in fields else "",
        caught=fields["caught"].names() if "caught" in fields else (),
    )


def _step(step: Field, kind: Language) -> Step:
    fields = step.mapping()
    verb = verb_of(step, kind.verbs, ("says", "expect"))
    does, expect = fields[verb], fields.get("expect")
    if "says" in fields:
        fields["says"].prose()
    return Step(
        action=kind.verbs[verb](does),
        words=f"{verb}: {_written(does)}".removesuffix(": "),
        expect=None if expect is None else Expected(_facts(expect), expect.first_line, expect.last_line),
        first_line=step.first_line,
        last_line=step.last_line,
        column=step.column,
    )


def _erratum(field: Field, steps: int) -> Erratum:
    given = field.fields(("step", "where", "says", "holds", "uncorrected"), ())
    number = given["step"].number(1)
    if number > steps:
        raise given["step"].wrong(f"there is no step {number}: the scenario has {steps}")
    where, says, holds = (given[name].prose() for name in ("where", "says", "holds"))
    return Erratum(number, where, says, holds, _facts(given["uncorrected"]), field.first_line)


def _facts(field: Field) -> dict[str, Any]:
    return {name: _fact(value) for name, value in field.mapping().items()}


def _fact(field: Field) -> Any:
    if isinstance(field.node, yaml.MappingNode):
        return _facts(field)
    return tuple(one.text() for one in field.items()) if _is_list(field) else field.text()


def _is_list(field: Field) -> bool:
    return isinstance(field.node, yaml.SequenceNode)


def _written(field: Field) -> str:
    """A value as written in the file, on one line."""
    start, end = field.node.start_mark.index, field.node.end_mark.index
    return " ".join(field.source[start:end].split())


def _universe(whole: Field, kind: Language, topics: Mapping[str, int]) -> Universe:
    """All names in the file."""
    members: set[str] = set()
    most = dict(topics)
    for name, field in _everything(whole):
        if name in _NAMED:
            members.add(field.text())
        elif name in _BY_MEMBER:
            members.update(field.mapping())
        elif name in ("add connector", "add tasks"):
            fields = field.mapping()
            topic, count = fields["connector"].text(), fields["tasks"].number(0) + kind.whole
            most[topic] = max(most.get(topic, 0), count)
    return Universe(frozenset(members - {""}), most)


def _everything(field: Field) -> Iterator[tuple[str, Field]]:
    """Every value below, with its name, except for the printed states."""
    if isinstance(field.node, yaml.MappingNode):
        for name, value in field.mapping().items():
            if name not in ("expect", "uncorrected"):
                yield name, value
                yield from _everything(value)
    elif _is_list(field):
        for value in field.items():
            yield from _everything(value)
