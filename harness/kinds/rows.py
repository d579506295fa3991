"""Records of the specification as Python dataclasses: one row for each field.

A row is a field of a dataclass. Its type decides how the specification holds the value. A `Row` in its
annotation has its name in the specification, if that is not the Python name in camelCase, and its name in
JSON, if `describe` shows the field. The rows give: reading a state, the TLA+ literal, the JSON that a target
must show, and reading the JSON of a target.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from harness.kinds.fields import (
    BadField,
    Fields,
    Partition,
    counts_in,
    names_in,
    partition_in,
    partitions_in,
    read_function,
    typed,
)
from harness.kinds.literals import tla_partitions, tla_text
from harness.targets.base import Json

T = TypeVar("T")
REQUIRED: Final = object()
"""The mark of a field that every trace has."""
Forms: TypeAlias = Mapping[str, Callable[[Any], Any]]
"""By the name of a form: from values to JSON, or from JSON to values, where the two are not the same."""
Seen: TypeAlias = Mapping[str, Any]
"""The fields that a target has shown, by their names in Python."""
_NOTHING: Final[Mapping[str, str]] = {}


@dataclass(frozen=True)
class Form:
    """A form of values in the specification: `read` checks a value of a state, which has a path for errors,
    and `literal` writes TLA+. In JSON, null is a value of a form with `null`; in other forms it means
    absent."""

    name: str
    read: Callable[[Any, str], Any]
    literal: Callable[[Any], str]
    null: bool = False


@dataclass(frozen=True)
class Row:
    """The names of a field beside its Python name: `spec` if that is not its camelCase, `json` if `describe`
    shows the field. `absent` is the value in traces that are older than the field."""

    spec: str = ""
    json: str = ""
    absent: Any = REQUIRED


def _scalar(name: str, kind: type, literal: Callable[[Any], str]) -> Form:
    return Form(name, lambda raw, path: typed(raw, kind, path), literal)


def _set(literals: list[str]) -> str:
    return f"{{{', '.join(sorted(literals))}}}"


def _read_names(raw: Any, path: str) -> frozenset[str]:
    return names_in(typed(raw, frozenset, path), path)


def _read_partitions(raw: Any, path: str) -> frozenset[Partition]:
    return partitions_in(typed(raw, frozenset, path), path)


def _read_owners(raw: Any, path: str) -> dict[str, frozenset[Partition]]:
    """A function from partitions to their owners, by owner; "" is no owner."""
    owned: dict[str, set[Partition]] = {}
    for partition, owner in read_function(raw, path).items():
        partition_in(partition, path)
        if name := typed(owner, str, f"{path}[{partition}]"):
            owned.setdefault(name, set()).add(partition)
    return {owner: frozenset(owned[owner]) for owner in sorted(owned)}


def _read_sizes(raw: Any, path: str) -> dict[str, int]:
    return {name: count for name, count in counts_in(raw, path).items() if count > 0}


def no_literal(value: Any) -> str:
    """TypeError: modules write such a value in another way."""
    raise TypeError(f"a function has no literal of its own: {value!r}")


NUMBER: Final = _scalar("number", int, str)
TEXT: Final = replace(_scalar("text", str, tla_text), null=True)
TRUTH: Final = _scalar("truth", bool, lambda value: "TRUE" if value else "FALSE")
TEXTS: Final = Form("texts", _read_names, lambda texts: _set([tla_text(text) for text in texts]))
LIST: Final = Form(
    "list",
    lambda raw, path: tuple(typed(raw, tuple, path)),
    lambda texts: f"<<{', '.join(map(tla_text, texts))}>>",
)
PARTITION: Final = Form("partition", partition_in, lambda one: f"<<{tla_text(one[0])}, {one[1]}>>")
PARTITIONS: Final = Form("partitions", _read_partitions, tla_partitions)
OWNERS: Final = Form("owners", _read_owners, no_literal)
COUNTS: Final = Form("counts", counts_in, no_literal)
SIZES: Final = Form("sizes", _read_sizes, no_literal)

Owners = Annotated[Mapping[str, frozenset[Partition]], OWNERS]
"""Partitions by their owner: in the specification a function from partitions to owners."""
Counts = Annotated[Mapping[str, int], COUNTS]
Sizes = Annotated[Mapping[str, int], SIZES]
"""The number of partitions of each topic that has some."""

_FORMS: Final[Mapping[Any, Form]] = {
    int: NUMBER,
    str: TEXT,
    bool: TRUTH,
    frozenset[str]: TEXTS,
    tuple[str, ...]: LIST,
    Partition: PARTITION,
    frozenset[Partition]: PARTITIONS,
}


def option_of(form: Form) -> Form:
    """A set of at most one element: {} is None."""

    def read(raw: Any, path: str) -> Any:
        elements = typed(raw, frozenset, path)
        if len(elements) > 1:
            raise BadField(f"{path} must have at most one element, not {len(elements)}")
        for element in elements:
            return form.read(element, path)
        return None

    return Form(
        f"{form.name} or none",
        read,
        lambda value: "{}" if value is None else f"{{{form.literal(value)}}}",
    )


def _form_of(hint: Any) -> Form:
    """The form that follows from a type. TypeError for a type that has none."""
    if get_origin(hint) is Annotated:
        inner, *notes = get_args(hint)
        return next((note for note in notes if isinstance(note, Form)), None) or _form_of(inner)
    if hint in _FORMS:
        return _FORMS[hint]
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (one for one in get_args(hint) if one is not NoneType)
        return option_of(_form_of(inner))
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        record: Record[Any] = record_of(hint)
        return Form("record", lambda raw, path: record.read(Fields(raw, path)), record.literal)
    if get_origin(hint) is frozenset:
        one = _form_of(get_args(hint)[0])
        return Form(
            f"set of {one.name}",
            lambda raw, path: frozenset(one.read(item, path) for item in typed(raw, frozenset, path)),
            lambda values: _set([one.literal(value) for value in values]),
        )
    raise TypeError(f"there is no form of {hint!r} in the specification")


@dataclass(frozen=True)
class Field:
    """A row in the form of its use. `plain` is the type of a value that needs no reading, if there is one."""

    attribute: str
    spec: str
    json: str
    form: Form
    absent: Any
    plain: type | None


BESIDE: Final = "beside"
"""The annotation of a field that the specification has in another variable, and that is read apart."""


class Record(Generic[T]):
    """The rows of a dataclass."""

    def __init__(self, made: Callable[..., T], rows: tuple[Field, ...]) -> None:
        self._made = made
        self.rows = rows
        self.shown = tuple(row for row in rows if row.json)

    def read(self, record: Fields) -> T:
        """The record of a state. BadField for a field that is missing or of another type."""
        raw = record.raw
        return self._made(
            *[
                value if type(value := raw.get(row.spec)) is row.plain else _value(record, row)
                for row in self.rows
            ]
        )

    def values(self, record: Fields) -> dict[str, Any]:
        """The values by their names, for a dataclass with fields that are read apart."""
        return {row.attribute: _value(record, row) for row in self.rows}

    def literal(self, value: T) -> str:
        """The record as TLA+ writes it."""
        return written({row.spec: row.form.literal(getattr(value, row.attribute)) for row in self.rows})

    def only(self, *attributes: str) -> Record[T]:
        """This record, with these fields alone."""
        return Record(self._made, tuple(row for row in self.rows if row.attribute in attributes))

    def described(self, value: T, forms: Forms) -> Json:
        """The fields that `describe` shows."""
        return {
            row.json: forms.get(row.form.name, _same)(getattr(value, row.attribute)) for row in self.shown
        }

    def seen(self, described: Json, hidden: Container[str], forms: Forms) -> Seen:
        """The fields that a target has shown; `forms` read those with another form in JSON."""
        return {
            row.attribute: forms.get(row.form.name, _same)(described.get(row.json))
            for row in self.shown
            if row.json in described and row.json not in hidden
            if row.form.null or described.get(row.json) is not None
        }

    def seen_literal(self, seen: Seen, plain: Mapping[str, str] = _NOTHING) -> str:
        """Values that a target has shown, in TLA+: each field is an option, except the `plain` ones, by their
        names in the specification."""
        options = {
            row.spec: f"{{{row.form.literal(seen[row.attribute])}}}" if row.attribute in seen else "{}"
            for row in self.rows
        }
        return written({**options, **plain})


def written(fields_: Mapping[str, str]) -> str:
    """A record in TLA+, of its fields' literals."""
    return f"[{', '.join(f'{name} |-> {literal}' for name, literal in fields_.items())}]"


def _value(record: Fields, row: Field) -> Any:
    if row.spec in record.raw:
        return row.form.read(record.raw[row.spec], f"{record.path}.{row.spec}")
    if row.absent is not REQUIRED:
        return row.absent
    raise BadField(f'{record.path} has no field "{row.spec}"')


def _same(value: Any) -> Any:
    return value


def camel_case(name: str) -> str:
    """The specification's name for a Python name: previous_epoch is previousEpoch."""
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


_RECORDS: Final[dict[type, Record[Any]]] = {}


def record_of(made: type[T]) -> Record[T]:
    """The rows of a dataclass, or of a NamedTuple. TypeError for a field without a form."""
    record = _RECORDS.get(made)
    if record is None:
        hints = get_type_hints(made, include_extras=True)
        named = getattr(made, "_fields", None) or [one.name for one in fields(made)]  # type: ignore[arg-type]
        rows = (_row(name, hints[name]) for name in named)
        record = _RECORDS[made] = Record(made, tuple(row for row in rows if row))
    return record


def _row(name: str, hint: Any) -> Field | None:
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    if BESIDE in notes:
        return None
    row = next((note for note in notes if isinstance(note, Row)), Row())
    form = _form_of(hint)
    plain = {NUMBER: int, TEXT: str, TRUTH: bool}.get(form)
    return Field(name, row.spec or camel_case(name), row.json, form, row.absent, plain)
