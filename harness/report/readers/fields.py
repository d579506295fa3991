"""A JSON file whose fields are read by name and type; a wrong one is named with its file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from harness.errors import ConformError
from harness.files import read_text

T = TypeVar("T")


class Fields:
    """An object in a file; reading a missing field, or one of another type, raises an error with file and
    field."""

    def __init__(self, data: Any, place: str, stem: str) -> None:
        if not isinstance(data, dict):
            raise ConformError(f"{place} must be an object.")
        self._data: dict[str, Any] = data
        self._place = place
        self.stem = stem

    @classmethod
    def of(cls, path: Path) -> Fields:
        """The object in a file."""
        return cls(_load(path), f"The result {path}", path.stem)

    @classmethod
    def list_of(cls, path: Path) -> list[Fields]:
        """The objects of the list in a file."""
        items = _load(path)
        if not isinstance(items, list):
            raise ConformError(f"The result {path} must be a list.")
        return [cls(item, f"The result {path}, {index}", path.stem) for index, item in enumerate(items)]

    def get(self, name: str, kind: type[T]) -> T:
        """A field."""
        value = self._data.get(name)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise ConformError(f'{self._place}: the field "{name}" is missing or of a wrong type.')
        return value

    def number(self, name: str) -> float:
        """A number, whole or not."""
        value = self._data.get(name)
        return float(value) if isinstance(value, int) else self.get(name, float)

    def text(self, name: str) -> str:
        """A text; null and absent are empty."""
        return "" if self._data.get(name) is None else self.get(name, str)

    def whole(self, name: str) -> int | None:
        """A whole number, or null."""
        return None if self._data.get(name) is None else self.get(name, int)

    def items(self, name: str) -> list[Fields]:
        """A list of objects."""
        return [Fields(item, f"{self._place}, {name}", self.stem) for item in self.get(name, list)]

    def items_or_none(self, name: str) -> list[Fields]:
        """A list of objects; null and absent are empty."""
        return [] if self._data.get(name) is None else self.items(name)

    def numbers(self, name: str) -> list[int]:
        """A list of whole numbers; absent is empty."""
        values = self.get(name, list) if name in self._data else []
        if not all(type(item) is int for item in values):
            raise ConformError(f'{self._place}: the field "{name}" must have whole numbers.')
        return values

    def decoded(self, name: str) -> Any:
        """Any JSON; a text that is JSON, as tables have it, is decoded."""
        value = self._data.get(name)
        try:
            return json.loads(value) if isinstance(value, str) else value
        except json.JSONDecodeError:
            return value

    def list_or_none(self, name: str) -> list[Any]:
        """A list as it is; null and absent are empty."""
        return [] if self._data.get(name) is None else self.get(name, list)

    def object_or_none(self, name: str) -> dict[str, Any]:
        """An object as it is; null and absent are empty."""
        return {} if self._data.get(name) is None else self.get(name, dict)

    def part(self, name: str) -> Fields | None:
        """An object, or null."""
        data = self._data.get(name)
        return None if data is None else Fields(data, f"{self._place}, {name}", self.stem)

    def some(self, names: Sequence[str]) -> dict[str, Any]:
        """The fields with these names, None for each missing one."""
        return {name: self._data.get(name) for name in names}


def _load(path: Path) -> Any:
    try:
        return json.loads(read_text(path, "The result"))
    except json.JSONDecodeError as error:
        raise ConformError(f"The result {path} is not JSON or is cut off: line {error.lineno}.") from None


def source(stem: str, verb: str) -> str:
    """The source of the traces, which follows the verb in a file's name."""
    return stem.removeprefix(verb).strip("-_.") or "all"
