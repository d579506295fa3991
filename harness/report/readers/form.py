"""Results of the verbs, read from JSON: msgspec compares each file with a class."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, TypedDict, TypeVar

import msgspec
from msgspec import inspect

from harness.files import read_json
from harness.forms import formed
from harness.replay.compare import Difference

T = TypeVar("T")


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """An object of a result: null and absent are the default of a field; fields that no reader needs may be
    there, too."""


class OfFile(Result, frozen=True, kw_only=True):
    """The object of a whole file; `stem` is the file's name without its ending."""

    stem: str

    @property
    def source(self) -> str:
        """The words that follow the verb in the file's name: the source of its traces."""
        return re.sub("^(replay|generate|diff)", "", self.stem).strip("-_.") or "all"


class Different(Result, frozen=True, kw_only=True):
    """A difference; in tables the values are texts with JSON."""

    path: str
    expected: Any = None
    got: Any = None

    @property
    def difference(self) -> Difference:
        """The difference with decoded values."""
        return Difference(self.path, decoded(self.expected), decoded(self.got))


Message = TypedDict("Message", {"from": str, "to": str, "label": str, "kind": str})
"""A message of a sequence diagram, or a note."""


def result_of(path: Path, form: type[T]) -> T:
    """The result in a file. ConformError (exit 2) with file and field for one of another form."""
    data = read_json(path, "The result")
    return read({**data, "stem": path.stem} if isinstance(data, dict) else data, form, f"The result {path}:")


def read(data: Any, form: type[T], place: str) -> T:
    """The data of JSON as a form; `place` are the words for the data in an error."""
    return formed(_without_null(data, inspect.type_info(form)), form, place)


def decoded(value: Any) -> Any:
    """Any JSON; a text that is JSON, as tables have it, is decoded."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except json.JSONDecodeError:
        return value


def _without_null(data: Any, kind: inspect.Type) -> Any:
    """The data without the fields of forms that are null; data that is in no form stays as it is."""
    if isinstance(kind, inspect.UnionType):
        kind = next((one for one in kind.types if not isinstance(one, inspect.NoneType)), kind)
    if isinstance(kind, inspect.ListType) and isinstance(data, list):
        return [_without_null(one, kind.item_type) for one in data]
    if isinstance(kind, inspect.StructType) and isinstance(data, dict):
        types = {field.encode_name: field.type for field in kind.fields}
        return {
            name: _without_null(part, types[name])
            for name, part in data.items()
            if name in types and part is not None
        }
    return data
