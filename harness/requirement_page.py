"""The requirements that a wheel carries, and their page in docs/, both made from REQUIREMENTS.md.

`python -m harness.requirement_page` writes harness/requirements.json and docs/requirements.md.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from harness.report.citations import ROW, TABLE

SENTENCES: Final = Path("harness/requirements.json")
PAGE: Final = Path("docs/requirements.md")
_NOT_SHOWN: Final = "## Where each is\n"
_SHOWN_AGAIN: Final = "## Errata and decisions\n"
_HEAD: Final = """# Requirements

A finding names the requirement that it breaks, as R4. This page says what each one requires.
The authority is the text of the proposals; "Errata and decisions" says what the kit does where a text
contradicts itself or is silent. `python -m harness.requirement_page` makes this page of REQUIREMENTS.md,
which also names the code and the tests of each.
"""


def sentences(text: str) -> str:
    """The sentence of each requirement in the text of REQUIREMENTS.md, as the JSON of the package."""
    by_name = {name: sentence for name, sentence, *_ in ROW.findall(text)}
    return json.dumps(by_name, indent=1, ensure_ascii=False) + "\n"


def page(text: str) -> str:
    """The tables, each row with an anchor of its ID, and the decisions, without the places in the code."""
    shown, _, places = text.partition(_NOT_SHOWN)
    _, title, decisions = places.partition(_SHOWN_AGAIN)
    tables = shown[shown.index("## ") :]
    anchored = re.sub(r"^\| ([A-Z]\d{1,2}) \|", r'| <a id="\1"></a>\1 |', tables, flags=re.MULTILINE)
    return f"{_HEAD}\n{anchored}{title}{decisions}"


def main() -> None:
    """Write both files."""
    text = Path(TABLE).read_text(encoding="utf-8")
    SENTENCES.write_text(sentences(text), encoding="utf-8")
    PAGE.write_text(page(text), encoding="utf-8")


if __name__ == "__main__":
    main()
