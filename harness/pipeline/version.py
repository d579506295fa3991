"""Versions on which results depend besides their inputs: this code's, and the target's."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import os
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Final

import harness
from harness.pipeline.tables import key


@cache
def package_key(package: str) -> str:
    """The key of all sources of a package."""
    spec = importlib.util.find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    digest = hashlib.sha256()
    for folder in spec.submodule_search_locations:
        for path in sorted(Path(folder).rglob("*.py")):
            digest.update(
                f"{path.relative_to(folder)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode()
            )
    return digest.hexdigest()[:32]


HARNESS: Final = Path(harness.__file__).parent


def code_key(root: Path = HARNESS) -> str:
    """The key of the code that makes rows of sources."""
    return _key_of("harness.pipeline.inputs", root)


def judging_key(root: Path = HARNESS) -> str:
    """The key of the code that makes verdicts of rows, with the targets that are the harness's own."""
    return _key_of("harness.pipeline.verdicts", root)


@cache
def _key_of(module: str, root: Path) -> str:
    files = modules_of(module, root)
    return key(*(f"{name} {hashlib.sha256(file.read_bytes()).hexdigest()}" for name, file in files.items()))


def modules_of(module: str, root: Path = HARNESS) -> dict[str, Path]:
    """A module of the harness and the others that its code may run: those that it imports, in functions too,
    and so on; by name, with their files.

    A package that is imported only because a module is in it is run, but its functions are not called: their
    imports do not count.
    """
    files: dict[str, Path] = {}
    tried = set[tuple[str, bool]]()
    waiting = [(module, True)]
    while waiting:
        if (one := waiting.pop()) in tried:
            continue
        tried.add(one)
        name, called = one
        if (file := _file_of(name, root)) is not None:
            files[name] = file
            waiting += [(other, True) for other in _imports(file, called)]
            waiting += [(name.rpartition(".")[0], False)]
    return dict(sorted(files.items()))


def _file_of(name: str, root: Path) -> Path | None:
    """The file of a module; None if the harness has no such module."""
    if name.partition(".")[0] != root.name:
        return None
    place = root.joinpath(*name.split(".")[1:])
    files = (place / "__init__.py", place.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def _imports(file: Path, called: bool) -> Iterator[str]:
    """Names that a file imports, perhaps of things that are no modules; without imports for types, and
    without the imports of its functions, unless they are `called`."""
    waiting: list[ast.AST] = [ast.parse(file.read_bytes())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            waiting += node.orelse
        elif called or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)


KNOWN_WHOLE: Final = "python"
"""The one target whose program is in its key whole: an equal key means an equal program."""


def target_key(target: str) -> str:
    """The key of a target: its name, and its program as far as it can be found: every file that its command
    names, and the package of `python -m PACKAGE`. Another key means another program; an equal key means an
    equal program for KNOWN_WHOLE alone."""
    if target == KNOWN_WHOLE:
        return key(target, package_key("coordinator"))
    words = shlex.split(target.partition(":")[2])
    # os.path.isfile, as Path.is_file raises an error for a word that is longer than a name can be
    places = [shutil.which(word) or word for word in words]
    files = [Path(place) for place in places if os.path.isfile(place)]
    packages = [after.partition(".")[0] for word, after in pairwise(words) if word == "-m"]
    known = [package_key(name) for name in packages if _is_package(name)]
    return key(target, *(hashlib.sha256(path.read_bytes()).hexdigest() for path in files), *known)


def _is_package(name: str) -> bool:
    spec = importlib.util.find_spec(name) if name.isidentifier() else None
    return spec is not None and bool(spec.submodule_search_locations)
