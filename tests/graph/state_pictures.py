"""The pictures of the states of groups and members in docs/, drawn from the tables `TRANSITIONS`.

`python tests/graph/state_pictures.py` writes docs/pictures/*-states.dot, and with Graphviz their SVG files.
"""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Final

from coordinator.classic import model as classic
from coordinator.consumer import model as consumer
from coordinator.members.classic import types as classic_member
from coordinator.members.classic.types import Phase
from coordinator.members.consumer import types as consumer_member

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
TABLES: Final[dict[str, tuple[str, Sequence[tuple[Sequence[Any], Any, str]]]]] = {
    "group": ("a consumer group", consumer.TRANSITIONS),
    "classic-group": ("a classic group", classic.TRANSITIONS),
    "member": ("a consumer", consumer_member.TRANSITIONS),
    "classic-member": ("a member of a classic group", classic_member.TRANSITIONS),
}
"""Name of a picture -> its subject and table."""
_FRAMES: Final[dict[str, tuple[str, Sequence[Enum]]]] = {
    "member": ("in the group", sorted(consumer_member.IN_GROUP, key=lambda state: state.value)),
    "classic-member": ("subscribed", [Phase.JOIN, Phase.SYNC, Phase.STABLE]),
}
"""Name of a picture -> states with a frame around them. A change from all of them is one edge, which starts
at the frame."""
_WIDTH: Final = 26
"""Characters in a line of a label."""
_HEAD: Final = """// States of {subject}, drawn by `python tests/graph/state_pictures.py`.
digraph states {{
  rankdir={direction}; nodesep=0.35; ranksep={distance}; bgcolor="white"; compound=true;
  graph [fontname="Helvetica", fontsize=13, color="#9db2c8", style=rounded, labeljust=l];
  node [shape=box, style="rounded,filled", fillcolor="{colour}", color="#3b4a5a"];
  node [fontname="Helvetica", fontsize=13];
  edge [fontname="Helvetica", fontsize=11, color="#3b4a5a", fontcolor="#34495e"];
"""


def drawn(name: str) -> str:
    """The text of a picture for Graphviz. The first edge of each row has the reason as its label."""
    subject, table = TABLES[name]
    direction, distance = ("TB", 0.45) if name == "member" else ("LR", 0.7)
    colour = "#e8f1fb" if name.endswith("group") else "#eaf7ee"
    lines = [_HEAD.format(subject=subject, direction=direction, distance=distance, colour=colour)]
    title, framed = _FRAMES.get(name, ("", ()))
    if framed:
        inside = " ".join(f"{_name(state)};" for state in framed)
        lines.append(f'  subgraph cluster_framed {{ label="{title}"; {inside} }}\n')
    for before, after, reason in table:
        label = r"\n".join(textwrap.wrap(reason, _WIDTH, break_on_hyphens=False))
        tails = [(_name(state), "") for state in before]
        if framed and {*framed} <= {*before}:
            rest = [(_name(state), "") for state in before if state not in framed]
            tails = [(_name(framed[-1]), "ltail=cluster_framed"), *rest]
        for place, (tail, frame) in enumerate(tails):
            attributes = ", ".join(filter(None, ["" if place else f'label="{label}"', frame]))
            lines.append(f"  {tail} -> {_name(after)}{f' [{attributes}]' if attributes else ''};\n")
    return "".join([*lines, "}\n"])


def _name(state: str | Enum) -> str:
    return state if isinstance(state, str) else str(state.value)


def main() -> None:
    """Write all pictures."""
    for name in TABLES:
        file = FOLDER / f"{name}-states.dot"
        file.write_text(drawn(name), encoding="utf-8")
        subprocess.run(["dot", "-Tsvg", str(file), "-o", str(file.with_suffix(".svg"))], check=True)


if __name__ == "__main__":
    main()
