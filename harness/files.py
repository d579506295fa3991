"""Reading and writing files, with sentences for errors; no file is ever left half-written."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from harness.errors import ConformError

REPLACED: Final = "backslashreplace"
"""The form of characters that an output cannot have: "\\ud800"."""


def cache_folder() -> Path:
    """The folder for files that are made once on a machine and can be made again: XDG_CACHE_HOME or
    ~/.cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "conform"


def read_text(path: Path, what: str) -> str:
    """Return the text of a file; a ConformError that names the kind of file (`what`) and its path if that
    fails."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConformError(f"{what} {path} is not UTF-8 text (byte {error.start}).") from None
    except OSError as error:
        raise unreadable(path, what, error) from None


def read_json(path: Path, what: str) -> Any:
    """Return the value of a JSON file; a ConformError as from `read_text`, or one with the place at which the
    text is no JSON."""
    text = read_text(path, what)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ConformError(f"{what} {path} is not JSON or is cut off ({place}: {error.msg}).") from None
    except (ValueError, RecursionError) as error:  # thousands of digits, or of lists in lists
        raise ConformError(f"{what} {path} cannot be read: {error}.") from None


def read_lines(path: Path, what: str) -> list[tuple[int, str]]:
    """Return the lines of a file of JSON lines that are not empty, with their numbers; a ConformError as from
    `read_text`.

    A text in JSON may have U+2028, U+0085 and others, at which `str.splitlines` splits.
    """
    lines = read_text(path, what).split("\n")  # "\r\n" is one already
    return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]


def read_bytes(path: Path, what: str) -> bytes:
    """Return the content of a file; a ConformError as from `read_text`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, what, error) from None


def unreadable(path: Path, what: str, error: OSError) -> ConformError:
    """Return the error for a file that cannot be read; `what` is its kind."""
    if isinstance(error, FileNotFoundError):
        return ConformError(f"{what} {path} does not exist.")
    return ConformError(f"{what} {path} cannot be read: {error.strerror}.")


def is_stream(path: Path) -> bool:
    """Tell if the path is a device or a pipe, as /dev/stdout, which no file may replace."""
    return path.is_relative_to("/dev") or (path.exists() and not path.is_file() and not path.is_dir())


def write_text(path: Path, text: str) -> None:
    """Write a whole file or nothing: into a temporary file beside it, which is then renamed. A target that is
    no file, such as /dev/stdout or a pipe, is written to directly. Half of a pair of UTF-16, which a text in
    JSON may have and UTF-8 cannot, is written as JSON has it."""
    temporary = ""
    try:
        if is_stream(path):
            path.write_text(text, encoding="utf-8", errors=REPLACED, newline="\n")
            return
        path = path.resolve()  # a link stays a link
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", errors=REPLACED, newline="\n") as stream:
            stream.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError as error:
        raise ConformError(
            f"{path} cannot be written: {error.strerror}. Choose another place for it."
        ) from None
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)


def output_folder(path: Path) -> Path:
    """Create a folder for output, if it does not exist, and check that files can be written into it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise ConformError(
            f"The output folder {path} cannot be written to: {error.strerror}. Choose another folder."
        ) from None
