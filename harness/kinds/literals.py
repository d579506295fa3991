"""Values as TLA+ writes them."""

from __future__ import annotations

from collections.abc import Iterable

from harness.kinds.fields import Partition


def tla_text(text: str) -> str:
    """A text as TLA+ writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def tla_partitions(partitions: Iterable[Partition]) -> str:
    """A set of partitions as TLA+ writes it."""
    return f"{{{', '.join(f'<<{tla_text(topic)}, {index}>>' for topic, index in sorted(partitions))}}}"
