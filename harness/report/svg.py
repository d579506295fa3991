"""Graphviz's SVG as a part of a page."""

from __future__ import annotations

import re
from pathlib import Path

from harness.errors import ConformError
from harness.files import read_text

_BEFORE = re.compile(r"^.*?(?=<svg\b)", re.DOTALL)
_NOISE = re.compile(r"<!--.*?-->\s*|<title>.*?</title>\s*", re.DOTALL)
_ID = re.compile(r'(<[^>]*?)\s+id="[^"]*"')


def inline_svg(path: Path) -> str:
    """The picture without prolog, comments, ids (they would clash with another's) and graphviz's tooltips."""
    text = read_text(path, "The picture")
    if "<svg" not in text or "</svg>" not in text:
        raise ConformError(f"The picture {path} is not SVG or is cut off.")
    return _ID.sub(r"\1", _NOISE.sub("", _BEFORE.sub("", text, count=1))).strip()
