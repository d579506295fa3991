"""A model that is not of the group protocol, and a trace of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from frozendict import frozendict

from harness.itf import Trace, write_trace

DATA = Path(__file__).parents[1] / "data"


def counter_with_a_trace(folder: Path) -> list[str]:
    """Counter without its view and one step of it, as `conform graph` takes them: module and options."""
    values: list[Any] = [
        frozendict(x=frozendict(p=0, q=0), step=frozendict(action="Init", by=frozenset())),
        frozendict(x=frozendict(p=1, q=0), step=frozendict(action="Inc", by=frozenset({"p"}))),
    ]
    (folder / "Counter.cfg").write_text((DATA / "Counter.cfg").read_text().replace("VIEW view", ""))
    write_trace(folder / "up.itf.json", Trace({}, ("x", "step"), values))
    config, trace = folder / "Counter.cfg", folder / "up.itf.json"
    return [str(DATA / "Counter.tla"), "--config", str(config), "--trace", str(trace)]
