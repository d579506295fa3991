"""Recorded runs as a TLA+ module over spec/Recorded.tla, with its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import jinja2

from harness.replay.dialects import FORMS
from harness.replay.state import Partition
from harness.replay.wire import topic_name
from harness.scenario.render import matching, tla_partitions, tla_text
from harness.validate.read import Line, Run, SeenMember

MODULE: Final = "RecordedRuns"


def render(runs: Sequence[Run], dialect: str, folder: Path) -> tuple[Path, Path]:
    """Write the modules and their configuration into a folder. The runs have one configuration.

    `dialect` is a name of FORMS' values, as --dialect has it.
    """
    module, config = folder / f"{MODULE}.tla", folder / f"{MODULE}.cfg"
    named = next(operator for operator, forms in FORMS.items() if forms.name == dialect)
    partitions = {partition for run in runs for partition in _partitions(run)}
    topics = {topic for topic, _ in partitions} | {topic for run in runs for topic in run.topics}
    names = {topic_name(topic) for topic in topics}
    lines = [line for run in runs for line in run.lines]
    asked = {line.request.regex for line in lines if line.request and line.request.regex}
    regexes = {regex: matching(regex, names) for regex in sorted(asked)}
    values = {
        "module": MODULE,
        "kafka": named.startswith("Kafka"),
        "members": {member for line in lines for member in _members(line)},
        "topics": topics,
        "partitions": partitions,
        "regexes": {regex: found for regex, found in regexes.items() if found is not None},
        "runs": runs,
        "absent": SeenMember(),
    }
    log = folder / f"{MODULE}Log.tla"
    log.write_text(_templates().get_template("log.tla.j2").render(values), encoding="utf-8")
    module.write_text(_templates().get_template("recorded.tla.j2").render(values), encoding="utf-8")
    settings = {"dialect": named, "max_size": runs[0].max_size}
    config.write_text(_templates().get_template("recorded.cfg.j2").render(settings), encoding="utf-8")
    return module, config


def assignments(run: Run) -> int:
    """How many target assignments there could be of what a run names."""
    members = {member for line in run.lines for member in _members(line)}
    return int((len(members) + 1) ** len(set(_partitions(run))))


def _members(line: Line) -> Iterator[str]:
    yield from [line.member] if line.member else []
    yield from line.seen.members if line.seen else ()
    yield from line.script or ()


def _partitions(run: Run) -> Iterator[Partition]:
    """Every partition that a run names."""
    yield from ((topic, index) for topic, count in run.topics.items() for index in range(count))
    for line in run.lines:
        yield from ((line.topic, index) for index in range(line.partitions))
        yield from (line.request.owned or ()) if line.request else ()
        if line.response:
            yield from (line.response.assigned or frozenset()) | (line.response.pending or frozenset())
        yield from (partition for owned in (line.script or {}).values() for partition in owned)
        if line.seen:
            yield from (partition for owned in (line.seen.targets or {}).values() for partition in owned)
            for member in line.seen.members.values():
                yield from (member.assigned or frozenset()) | (member.revoking or frozenset())


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("harness.validate", "."), undefined=jinja2.StrictUndefined
    )
    forms: dict[str, Callable[[Any], str]] = {
        "number": str,
        "text": tla_text,
        "texts": lambda texts: f"{{{', '.join(tla_text(text) for text in sorted(texts))}}}",
        "partitions": tla_partitions,
    }
    environment.filters |= forms
    environment.filters |= {"form": lambda value, name: forms[name](value), "topic_name": topic_name}
    return environment
