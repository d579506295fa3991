"""Recorded runs as TLA+ modules, with their configuration: the common part of all kinds of groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import jinja2

from harness.kinds.fields import Partition
from harness.kinds.literals import tla_partitions, tla_text
from harness.kinds.rows import record_of
from harness.replay.dialects import mix, operator_of
from harness.replay.wire import topic_name
from harness.tla_templates import tla_templates

MODULE: Final = "RecordedRuns"


def write(folder: Path, over: str, templates: str, values: Mapping[str, Any]) -> tuple[Path, Path]:
    """Write a log as a module over the named one, and its configuration, into a folder: the paths of both.

    `templates` is the beginning of the names of the kind's own templates: kinds/connect/ has log.tla.j2 and
    model.cfg.j2 there. The dialect under "spoken", where a kind has one, becomes the operator that its model
    names.
    """
    spoken = values.get("spoken", "")
    mixed = mix(spoken)
    named = {"dialect": "RecordedDialect" if mixed else operator_of(spoken)} if spoken else {}
    values = {"dialect_text": mixed, **named, **values}
    module, log, config = (folder / f"{MODULE}{end}" for end in (".tla", "Log.tla", ".cfg"))
    texts = {
        module: "validate/recorded.tla.j2",
        log: f"{templates}log.tla.j2",
        config: f"{templates}model.cfg.j2",
    }
    for path, template in texts.items():
        text = _templates().get_template(template).render(values, module=MODULE, over=over)
        path.write_text(text, encoding="utf-8")
    return module, config


@lru_cache(maxsize=1)
def _templates() -> jinja2.Environment:
    forms: dict[str, Callable[[Any], str]] = {
        "number": str,
        "truth": lambda value: "TRUE" if value else "FALSE",
        "text": tla_text,
        "texts": lambda texts: f"{{{', '.join(tla_text(text) for text in sorted(texts))}}}",
        "list_of": lambda texts: f"<<{', '.join(tla_text(text) for text in texts)}>>",
        "partitions": tla_partitions,
        "assignment": _option,
        "maybe": lambda shown: _option(shown[0]),
    }
    others: dict[str, Callable[..., Any]] = {
        "form": lambda value, name: forms[name](value),
        "topic_name": topic_name,
        "several": _several,
        "literal": _literal,
        "literals": lambda values: f"{{{', '.join(sorted(map(_literal, values)))}}}",
        "protocol_of": protocol_of,
        "numbers": lambda numbers: f"{{{', '.join(map(str, sorted(numbers)))}}}",
    }
    return tla_templates("harness", {**forms, **others})


def _literal(value: Any) -> str:
    return record_of(type(value)).literal(value)


def _several(targets: Mapping[str, frozenset[Partition]]) -> set[Partition]:
    """The partitions with several owners."""
    owned = Counter(partition for partitions in targets.values() for partition in partitions)
    return {partition for partition, owners in owned.items() if owners > 1}


def _option(partitions: Any) -> str:
    return "{}" if partitions is None else f"{{{tla_partitions(partitions)}}}"


def protocol_of(text: str) -> str:
    """The protocol of a text in a classic member's subscription."""
    return text.rpartition(" ")[0]
