"""Reading YAML strictly: every value is read by its form, and every mistake names its line.

Values are taken as written, without YAML's guesses: a topic called `no` is called no.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import yaml

from harness.errors import ConformError
from harness.files import read_text
from harness.kinds.fields import Partition
from harness.scenario.partitions import parse_partition, parse_partitions

_INTEGER = re.compile(r"-?\d{1,9}")


class Field:
    """A value in a file, called `name` there. `source` is the text of the whole file."""

    def __init__(
        self, node: yaml.Node, name: str, file: str, source: str, key: yaml.Node | None = None
    ) -> None:
        self.node = node
        self.name = name
        self.file = file
        self.source = source
        self.first_line: int = (key or node).start_mark.line
        self.column: int = (key or node).start_mark.column

    @property
    def last_line(self) -> int:
        """The last line of the value, without empty lines and comments behind it."""
        return _last_line(self.node, self.source)

    def wrong(self, sentence: str) -> ConformError:
        """The error that names the file and the line."""
        return ConformError(f"{self.file}, line {self.first_line + 1}: {sentence}.")

    def fields(self, required: Sequence[str], optional: Sequence[str]) -> dict[str, Field]:
        """The fields of a mapping: all required ones, and no unknown one."""
        given = self.mapping()
        known = [*required, *optional]
        for name, field in given.items():
            if name not in known:
                raise field.wrong(f"{self.name} has no field {name!r}; known are {', '.join(known)}")
        for name in required:
            if name not in given:
                raise self.wrong(f"{self.name} must have the field {name!r}")
        return given

    def mapping(self) -> dict[str, Field]:
        """A mapping from names; empty where the file has nothing."""
        if isinstance(self.node, yaml.ScalarNode) and self.node.value == "":
            return {}
        if not isinstance(self.node, yaml.MappingNode):
            raise self.wrong(f"{self.name} must be a mapping, as in {{member: A}}")
        fields: dict[str, Field] = {}
        for key, value in self.node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.wrong(f"{self.name} must have names before its colons")
            field = Field(value, key.value, self.file, self.source, key)
            if key.value in fields:
                raise field.wrong(f"{key.value!r} is there twice")
            fields[key.value] = field
        return fields

    def items(self) -> list[Field]:
        """A list, as [a, b] or with a dash before each item; empty where the file has nothing."""
        if isinstance(self.node, yaml.ScalarNode) and self.node.value == "":
            return []
        if not isinstance(self.node, yaml.SequenceNode):
            raise self.wrong(f"{self.name} must be a list")
        items = enumerate(self.node.value, 1)
        return [Field(item, f"{self.name}, {n}", self.file, self.source) for n, item in items]

    def text(self) -> str:
        """A text, exactly as written."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.wrong(f"{self.name} must be a text")
        return str(self.node.value)

    def prose(self) -> str:
        """Sentences: not empty; line ends count as blanks."""
        return " ".join(self.name_text().split())

    def name_text(self) -> str:
        """A text that must not be empty."""
        text = self.text()
        if not text.strip():
            raise self.wrong(f"{self.name} must not be empty")
        return text

    def number(self, least: int = -(10**9)) -> int:
        """A whole number, at least `least`."""
        text = self.text()
        if not _INTEGER.fullmatch(text) or int(text) < least:
            above = f" of at least {least}" if least > -(10**9) else ""
            raise self.wrong(f"{self.name} must be a whole number{above}, not {text!r}")
        return int(text)

    def flag(self) -> bool:
        """`true` or `false`."""
        text = self.text()
        if text not in ("true", "false"):
            raise self.wrong(f"{self.name} must be true or false, not {text!r}")
        return text == "true"

    def names(self) -> tuple[str, ...]:
        """One text, or a list of texts."""
        if isinstance(self.node, yaml.ScalarNode) and self.node.value != "":
            return (self.text(),)
        return tuple(item.text() for item in self.items())

    def partition(self) -> Partition:
        """One partition, as in foo-0."""
        try:
            return parse_partition(self.text())
        except ValueError as error:
            raise self.wrong(f"{self.name}: {error}") from None

    def partitions(self) -> frozenset[Partition]:
        """Partitions, as in foo-0..2 or [foo-0, bar-1]."""
        try:
            return parse_partitions(self.names())
        except ValueError as error:
            raise self.wrong(f"{self.name}: {error}") from None


def _last_line(node: yaml.Node, source: str) -> int:
    block = not getattr(node, "flow_style", True) and isinstance(node, yaml.CollectionNode) and node.value
    if block:
        last = node.value[-1]
        return max(_last_line(part, source) for part in (last if isinstance(last, tuple) else (last,)))
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        # The end of a node is the beginning of the next one.
        written = source[node.start_mark.index : node.end_mark.index]
        return int(node.start_mark.line) + written.rstrip().count("\n")
    return int(node.end_mark.line)


def read_fields(path: Path, text: str | None = None) -> Field:
    """The whole file, or `text` as if that were the file. ConformError (exit 2) if it is not one YAML
    document."""
    source = read_text(path, "The scenario") if text is None else text
    try:
        node = _composed(source)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConformError(f"{path}, line {line}: this is not YAML: {error.problem}.") from None
    except yaml.YAMLError as error:
        raise ConformError(f"{path} is not YAML: {error}.") from None
    except RecursionError:
        raise ConformError(f"{path} has values that are nested too deeply to be read.") from None
    if node is None:
        raise ConformError(f"{path} is empty: a scenario has name, source, shows, topics and steps.")
    return Field(node, "the scenario", str(path), source)


def _composed(source: str) -> yaml.Node | None:
    """The nodes of a document by libyaml, which is fast; by Python where libyaml is missing or refuses the
    text, as Python's sentences name the fault."""
    if yaml.__with_libyaml__:
        try:
            return yaml.compose(source, yaml.CSafeLoader)
        except yaml.YAMLError:
            pass
    return yaml.compose(source, yaml.SafeLoader)


def verb_of(step: Field, verbs: Collection[str], notes: Collection[str]) -> str:
    """The verb of a step, which may have notes beside it. ConformError for a step without one, or with
    several."""
    fields = step.mapping()
    named = [name for name in fields if name not in notes]
    if len(named) == 1 and named[0] in verbs:
        return named[0]
    wrong = next((fields[name] for name in named if name not in verbs), step)
    known = f"{wrong.name!r} is none" if wrong is not step else f"this has {named or 'none'}"
    raise wrong.wrong(f"a step does exactly one of {', '.join(verbs)}; {known}")
