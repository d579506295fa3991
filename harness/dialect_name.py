"""Names of dialects: a name of its own, or one with departures, as "kafka-4.2,MetadataChange=at-once"."""

from __future__ import annotations


def base_of(dialect: str) -> str:
    """The dialect that has a name of its own: kafka-4.2 of "kafka-4.2,MetadataChange=at-once".

    Traces and models belong to such dialects. A target with departures is judged by the traces of its base.
    """
    return dialect.partition(",")[0].strip()


def changes_of(dialect: str) -> dict[str, str]:
    """The departures that follow the name, with their values as they are written."""
    changes = (part.partition("=") for part in dialect.split(",")[1:])
    return {name.strip(): value.strip() for name, _, value in changes}
