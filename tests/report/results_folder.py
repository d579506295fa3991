"""Folders of results, written by the code that writes them for `make`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from frozendict import frozendict

from harness.check import Checked, Difference
from harness.engines.base import EngineError, Failure
from harness.evidence import Evidence, Status
from harness.itf import read_trace, write_trace
from harness.replay.files import replay_files
from harness.replay.report import to_json

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "traces" / "golden" / "basic.itf.json"
SVG = (
    '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">\n'
    '<svg width="9pt" xmlns="http://www.w3.org/2000/svg"><!-- n0 --><g id="node1" class="node">'
    '<title>n0</title><text font-size="9" x="1">drawn</text></g></svg>\n'
)


def holds(name: str, states: int = 520_199) -> Checked:
    facts = {"outcome": "holds", "property": None, "length": None, "distinct_states": states, "depth": 20}
    return Checked(name, "tlc", "2.18", facts, 12.5)


def fails_as_expected(name: str, violated: str) -> Checked:
    facts = {"outcome": "violated", "property": violated, "length": 5, "distinct_states": 800, "depth": 6}
    return Checked(name, "tlc", "2.18", facts, 3.0)


def wrong_count(name: str) -> Checked:
    differences = (Difference("distinct_states", 7, 12),)
    return Checked(name, "tlc", "2.18", holds(name, 12).facts, 1.0, differences)


def crashed(name: str) -> Checked:
    return Checked(name, "tlc", error=EngineError(Failure.MEMORY, "TLC ran out of memory <b>.\nmore"))


def by_evidence(name: str, status: Status = Status.ACCEPTED, *reasons: str) -> Checked:
    evidence = Evidence(status, reasons, "apalache", "0.61.0", dict(holds(name).facts or {}), 108.0)
    return Checked(name, "apalache", "0.61.0", evidence.facts, 108.0, evidence=evidence)


def wrong_trace(folder: Path) -> Path:
    """The case study Basic with a state in which member A has another epoch than the coordinator gives it."""
    trace = read_trace(GOLDEN)
    state: Any = trace.states[1]
    response = state["step"]["response"].set("epoch", 3)
    trace.states[1] = frozendict({**state, "step": state["step"].set("response", response)})
    path = folder / "wrong.itf.json"
    write_trace(path, trace)
    return path


def replayed(trace: Path) -> dict[str, Any]:
    return to_json(replay_files([trace], "python"), "python", "kip-848")


def write(path: Path, data: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data))


def good_build(folder: Path, checked: Sequence[Checked] = (), trace: Path = GOLDEN) -> Path:
    """A build folder: models, one replay, one generation, one picture."""
    build = folder / "build"
    models = [one.to_json() for one in checked or [holds("MCSmall"), fails_as_expected("MCNoR9", "Never")]]
    write(build / "results" / "check.json", {"command": "check", "exit_code": 0, "models": models})
    write(build / "results" / "replay-golden.json", replayed(trace))
    exhausted = {
        "command": "exhaust",
        "model": "MCTour",
        "target": "python",
        "dialect": "kip-848",
        "spec_hash": "0" * 64,
        **{"states": 312, "steps": 7285, "trace_steps": 0, "failed": 0, "not_judged": 0, "quarantined": 0},
    }
    write(build / "results" / "exhaust-MCTour.json", exhausted)
    generated = {"command": "generate", "model": "MCOpen", "traces": 3, "steps": 30, "unreached": []}
    write(build / "results" / "generate-goals.json", generated)
    (build / "graphs").mkdir()
    (build / "graphs" / "MCOpen.svg").write_text(SVG)
    return build
