"""Values as TLA+ writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.kinds.fields import Partition


def tla_text(text: str) -> str:
    """A text as TLA+ writes it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def tla_partitions(partitions: Iterable[Partition]) -> str:
    """A set of partitions as TLA+ writes it."""
    return f"{{{', '.join(f'<<{tla_text(topic)}, {index}>>' for topic, index in sorted(partitions))}}}"


def tla_texts(texts: Iterable[str]) -> str:
    """A set of texts, in their order."""
    return f"{{{', '.join(map(tla_text, texts))}}}"


def tla_list(texts: Iterable[str]) -> str:
    """A sequence of texts."""
    return f"<<{', '.join(map(tla_text, texts))}>>"


def tla_cases(variable: str, values: Mapping[str, str]) -> str:
    """The values of a function at some texts, as literals; its value at others follows."""
    return "".join(f"IF {variable} = {tla_text(text)} THEN {value} ELSE " for text, value in values.items())


def tla_ranks(variable: str, texts: Iterable[str]) -> str:
    """The places of texts, from 1."""
    return tla_cases(variable, {text: str(place) for place, text in enumerate(texts, start=1)})
