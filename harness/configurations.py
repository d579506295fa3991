"""Configurations of models; a configuration that differs little from another one is written as the
differences.

`spec/configurations.toml` has for each of these its base and its differences. `python -m
harness.configurations` writes their files, which TLC, Apalache and the TLA+ tools read as any other. A change
of a base reaches all configurations that are like it.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from harness.errors import ConformError
from harness.files import read_text

TABLE: Final = Path("spec/configurations.toml")
LIKE: Final = "like"
SECTIONS: Final = (
    *("SPECIFICATION", "INIT", "NEXT", "CONSTRAINT", "VIEW", "CHECK_DEADLOCK"),
    *("INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES"),
)
"""Sections behind the constants, in the order in which they are written."""
_LISTS: Final = SECTIONS[-4:]
_CONSTANT: Final = re.compile(r"  (\w+) ((?:<-|=) .+)")
_SECTION: Final = re.compile(f"({'|'.join(SECTIONS)}) (.+)")


class Parts(NamedTuple):
    """A configuration in the form of its file: text behind each constant and each section, in their order."""

    constants: Mapping[str, str]
    sections: Mapping[str, str]

    def text(self) -> str:
        """The text of the file."""
        constants = "".join(f"  {name} {value}\n" for name, value in self.constants.items())
        return f"CONSTANTS\n{constants}" + "".join(f"{key} {text}\n" for key, text in self.sections.items())


def parts(text: str, place: str) -> Parts:
    """Read a configuration. ConformError for a line that is neither one constant nor one section."""
    constants, sections = dict[str, str](), dict[str, str]()
    for line in text.splitlines():
        if constant := _CONSTANT.fullmatch(line):
            constants[constant[1]] = constant[2]
        elif section := _SECTION.fullmatch(line):
            sections[section[1]] = section[2]
        elif line != "CONSTANTS":
            raise ConformError(f"{place}: the line {line!r} is neither a constant nor a section.")
    return Parts(constants, sections)


def different(base: Parts, changes: Mapping[str, str], name: str) -> Parts:
    """A configuration with changes: by the name of a constant or section its new text, "" to leave it out.

    The text of a list of properties has the removed names and the added ones, as "-TypeOK +StateIsExact". A
    constant or a property that the base does not have comes last. ConformError that names the configuration
    where a change changes nothing.
    """
    constants, sections = dict(base.constants), dict(base.sections)
    for key, text in changes.items():
        changed = sections if key in SECTIONS else constants
        now = _edited(changed.get(key, "").split(), text.split(), f"{name}, {key}") if key in _LISTS else text
        if now == changed.get(key, ""):
            raise ConformError(f"{TABLE}: {name}, {key}: the text is that of the configuration it is like.")
        changed[key] = now
        if not now:
            del changed[key]
    return Parts(constants, {key: sections[key] for key in SECTIONS if key in sections})


def _edited(names: list[str], edits: list[str], place: str) -> str:
    """A list of names without the names with a minus, and with the names with a plus."""
    for edit in edits:
        sign, name = edit[0], edit[1:]
        if sign not in "+-" or (name in names) == (sign == "+"):
            raise ConformError(
                f"{TABLE}: {place}: {edit!r} changes nothing. Write -Name to leave out a name "
                "of the list, +Name to add another."
            )
        names = [*names, name] if sign == "+" else [one for one in names if one != name]
    return " ".join(names)


def written(root: Path) -> Iterator[tuple[Path, str]]:
    """Path and text of each configuration of the table in the repository's folder `root`.

    ConformError if the table is not TOML, or, with the name of the row, if the base of a row has no file or
    is in the table, too; and as of `parts` and `different`.
    """
    try:
        table = tomllib.loads(read_text(root / TABLE, "The table"))
    except tomllib.TOMLDecodeError as error:
        raise ConformError(f"{TABLE} is not TOML: {error}.") from None
    folder = (root / TABLE).parent
    for name, row in table.items():
        base = row.get(LIKE)
        if base in table or not (folder / f"{base}.cfg").is_file():
            raise ConformError(
                f"{TABLE}: {name} must be like a configuration that is written whole, not {base}."
            )
        whole = folder / f"{base}.cfg"
        changes = {key: str(text) for key, text in row.items() if key != LIKE}
        text = different(parts(read_text(whole, "The configuration"), str(whole)), changes, name).text()
        parts(text, f"{TABLE}: {name}")
        yield folder / f"{name}.cfg", text


def main() -> None:
    """Write the files of all configurations of the table, or none where a row is wrong."""
    try:
        files = list(written(Path()))
    except ConformError as error:
        sys.exit(error.message)
    for path, text in files:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
