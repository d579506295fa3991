"""Parts of a trace as a TLA+ module over spec/Shortened.tla, with its configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import jinja2

from harness.itf import Trace
from harness.kinds.consumer.scenario.render import matching
from harness.kinds.consumer.shortening.kept import Kept, first_group
from harness.kinds.literals import tla_value
from harness.replay.dialects import FORMS
from harness.replay.wire import topic_name
from harness.tla_templates import tla_templates
from harness.values import as_function

MODULE: Final = "PartsOfATrace"
OFFSETS: Final = ("OffsetCommit", "OffsetFetch")
UNBOUNDED: Final = 1_000_000
"""MaxGroupSize of a trace that has none."""


def render(trace: Trace, parts: Sequence[Sequence[Kept]], folder: Path) -> tuple[Path, Path]:
    """Write the module and its configuration into a folder: parts that begin as the trace does."""
    constants = trace.meta.get("constants", {})
    dialect = constants.get("Dialect", "KIP848")
    group = first_group(trace)
    counts = as_function(trace.states[0]["topics"])
    different = dict.fromkeys(step for part in parts for step in part)
    steps = {step: number for number, step in enumerate(different)}
    names = {topic: topic_name(topic) for topic in counts}
    members: Mapping[str, Any] = as_function(group["members"])
    requested: list[Any] = [step.request["regex"] for step in steps]
    regexes: set[str] = {member["regex"] for member in members.values() if member["regex"]}.union(*requested)
    matched = {regex: matching(regex, names.values()) for regex in sorted(regexes)}
    values = {
        "module": MODULE,
        "kafka": FORMS[dialect].name.startswith("kafka"),
        "members": frozenset(members),
        "topics": frozenset(counts),
        "names": names,
        "regexes": {regex: known for regex, known in matched.items() if known is not None},
        "partitions": frozenset(as_function(group["target"])),
        "offsets": frozenset(step.offset for step in steps if step.does == "OffsetCommit"),
        "epochs": frozenset(_epochs(trace)) if any(step.does in OFFSETS for step in steps) else frozenset(),
        "steps": steps,
        "group": group,
        "counts": counts,
        "parts": [[steps[step] for step in part] for part in parts],
    }
    module, config = folder / f"{MODULE}.tla", folder / f"{MODULE}.cfg"
    module.write_text(_templates().get_template("shortened.tla.j2").render(values), encoding="utf-8")
    settings = {"dialect": dialect, "max_size": constants.get("MaxGroupSize", UNBOUNDED)}
    config.write_text(_templates().get_template("shortened.cfg.j2").render(settings), encoding="utf-8")
    return module, config


def _epochs(trace: Trace) -> Iterator[int]:
    """Every epoch that a member of a part may have, or that a commit of it has."""
    states: Any = trace.states
    epochs = [state["step"]["request"]["epoch"] for state in states]
    yield from range(max(max(state["group"]["epoch"] for state in states), *epochs) + 1)
    yield from epochs


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    return tla_templates("harness.kinds.consumer.shortening", {"value": tla_value})
