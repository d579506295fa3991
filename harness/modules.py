"""Facts about TLA+ sources without parsing them: dependencies, variables."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from harness.errors import ConformError
from harness.files import read_text

_NOISE = re.compile(r'"(?:[^"\\\n]|\\.)*"|\\\*[^\n]*|\(\*|\*\)')
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_EXTENDS = re.compile(r"\bEXTENDS\s+(\w+(?:\s*,\s*\w+)*)")
_INSTANCE = re.compile(r"\bINSTANCE\s+(\w+)")
_VARIABLES = re.compile(r"\bVARIABLES?\s+(\w+(?:\s*,\s*\w+)*)")


def strip_comments(text: str) -> str:
    """Return TLA+ text (or a TLC configuration) without comments, which may be nested. Strings and the ends
    of lines are kept."""
    kept: list[str] = []
    depth = end = 0
    for match in _NOISE.finditer(text):
        token = match[0]
        if depth == 0:
            kept.append(text[end : match.start()])
            if token[0] == '"':
                kept.append(token)
        else:
            kept.append("\n" * text.count("\n", end, match.start()))
        if token == "(*":
            depth += 1
        elif token == "*)":
            depth = max(depth - 1, 0)
        end = match.end()
    return "".join([*kept, text[end:]]) if depth == 0 else "".join(kept)


def dependencies(module: Path) -> list[Path]:
    """The module's file and, by name, the modules that it extends or instantiates and that lie in the same
    folder."""
    return _closure(module, _needed)


def declared_variables(module: Path) -> list[str]:
    """The variables of a module, sorted: its own and those of the modules that it extends."""
    sources = [_plain(_text(path)) for path in _closure(module, _extended)]
    return sorted(
        {name for source in sources for names in _VARIABLES.findall(source) for name in _split(names)}
    )


def _closure(module: Path, mentioned: Callable[[str], frozenset[str]]) -> list[Path]:
    files: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        path = waiting.pop()
        if path.name not in files:
            files[path.name] = path
            others = {f"{name}.tla" for name in mentioned(_text(path))} - files.keys()
            waiting += [near for name in others if (near := path.parent / name).is_file()]
    return [module, *(files[name] for name in sorted(files) if name != module.name)]


def _text(path: Path) -> str:
    return read_text(path, "The module")


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    """The text without comments and without the contents of strings."""
    return _STRING.sub('""', strip_comments(text))


@lru_cache(maxsize=512)
def _extended(text: str) -> frozenset[str]:
    return frozenset(name for names in _EXTENDS.findall(_plain(text)) for name in _split(names))


@lru_cache(maxsize=512)
def _needed(text: str) -> frozenset[str]:
    return _extended(text).union(_INSTANCE.findall(_plain(text)))


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",")]


def config_beside(module: Path) -> Path:
    """The configuration with the module's name in the module's folder."""
    config = module.with_suffix(".cfg")
    if not config.is_file():
        raise ConformError(f"There is no {config.name} beside {module}; name a configuration with --config.")
    return config
