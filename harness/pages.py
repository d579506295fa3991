"""Templates of pages and pictures: HTML and SVG, in which texts are escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template


def template(folder: Path, name: str) -> Template:
    """The template of this name in a folder; each is compiled once in a process, which takes longer than
    filling in most of them."""
    return _environment(folder).get_template(name)


@cache
def _environment(folder: Path) -> Environment:
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
