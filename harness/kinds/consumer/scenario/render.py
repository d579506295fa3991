"""Scenarios as a TLA+ module over spec/Golden.tla, with its configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

import jinja2
import re2

from harness.kinds.consumer.scenario.model import Printed, Scenario
from harness.kinds.fields import Partition
from harness.kinds.literals import tla_partitions, tla_text
from harness.replay.wire import topic_name
from harness.tla_templates import tla_templates

MODULE: Final = "GoldenScenarios"


@dataclass(frozen=True)
class Universe:
    """All names in scenarios. `regexes` has the valid expressions with the topic names that each matches as a
    whole (T1); `topics` are ids."""

    members: frozenset[str]
    topics: frozenset[str]
    partitions: frozenset[Partition]
    regexes: Mapping[str, frozenset[str]]


def universe(scenarios: Iterable[Scenario]) -> Universe:
    """The names of all scenarios together."""
    members: set[str] = set()
    partitions: set[Partition] = set()
    regexes: set[str] = set()
    for scenario in scenarios:
        members.update(_members(scenario))
        partitions.update(_partitions(scenario))
        regexes.update(step.request.regex for step in scenario.steps if step.request and step.request.regex)
    topics = frozenset(topic for topic, _ in partitions)
    names = {topic_name(topic) for topic in topics}
    matched = {regex: matching(regex, names) for regex in sorted(regexes)}
    known = {regex: names for regex, names in matched.items() if names is not None}
    return Universe(frozenset(members), topics, frozenset(partitions), known)


def _members(scenario: Scenario) -> Iterator[str]:
    if scenario.first:
        yield from scenario.first.members
        yield from scenario.first.targets
    for step in scenario.steps:
        yield from [step.member] if step.member else []
        yield from step.target or {}
        yield from _shown(step.states.values())
    yield from _shown(erratum.printed for erratum in scenario.errata if erratum.printed)


def _shown(states: Iterable[Printed]) -> Iterator[str]:
    for state in states:
        yield from state.members
        yield from state.target


def _partitions(scenario: Scenario) -> Iterator[Partition]:
    topics = [*scenario.topics.items(), *((step.topic, step.partitions) for step in scenario.steps)]
    for topic, count in topics:
        yield from ((topic, index) for index in range(count))
    if scenario.first:
        for name, member in scenario.first.members.items():
            yield from member.held | scenario.first.target(name)
    for step in scenario.steps:
        yield from step.request.owned or () if step.request else ()
        yield from [step.partition] if step.partition else []
        for owned in (step.target or {}).values():
            yield from owned


def matching(regex: str, names: Iterable[str]) -> frozenset[str] | None:
    """The names that an RE2 expression matches as a whole; None if it is not valid."""
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(regex, options)
    except re2.error:
        return None
    return frozenset(name for name in names if compiled.fullmatch(name))


def render(scenarios: Sequence[Scenario], folder: Path, invariant: str = "AsPrinted") -> tuple[Path, Path]:
    """Write module and configuration into a folder. Each scenario is followed by its uncorrected ones."""
    module, config = folder / f"{MODULE}.tla", folder / f"{MODULE}.cfg"
    known = universe(scenarios)
    files = [Path(scenario.file).name for scenario in scenarios]
    actions = sorted({step.does for scenario in scenarios for step in scenario.steps})
    text = _templates().get_template("golden.tla.j2")
    with_partition = [step for scenario in scenarios for step in scenario.steps if step.partition]
    values = {
        "module": MODULE,
        "files": files,
        "universe": known,
        "plays": scenarios,
        "actions": actions,
        "offsets": sorted({step.offset for step in with_partition}),
        "epochs": sorted({step.request.epoch for step in with_partition if step.request}),
    }
    module.write_text(text.render(values), encoding="utf-8")
    settings = _templates().get_template("golden.cfg.j2")
    config.write_text(settings.render(invariant=invariant), encoding="utf-8")
    return module, config


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    filters: dict[str, Callable[..., str]] = {
        "text": tla_text,
        "texts": lambda texts: f"{{{', '.join(tla_text(text) for text in sorted(texts))}}}",
        "option_text": lambda text: "{}" if text is None else f"{{{tla_text(text)}}}",
        "partitions": tla_partitions,
        "topic_name": topic_name,
    }
    return tla_templates("harness.kinds.consumer.scenario", filters)
