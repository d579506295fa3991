"""The documents: README.md and the pages in docs/, in the order in which people read them."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def all_text() -> str:
    """The text of all documents, one after the other."""
    return "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
