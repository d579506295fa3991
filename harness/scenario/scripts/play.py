"""Scripts of classic and Connect groups on the specification: one run of TLC for each kind of group."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from frozendict import frozendict

from harness.engines.base import Limits
from harness.engines.tlc import run_tlc
from harness.errors import ConformError
from harness.itf import Trace
from harness.scenario.chains import chains
from harness.scenario.scripts.model import PlayedScript, Script, Universe
from harness.stategraph import read_graph
from harness.values import State, Value, function

MODULE: Final = "GoldenScripts"
_OWN: Final = ("scenario", "at")


def play_scripts(
    scripts: Sequence[Script], spec: Path, limits: Limits, log: Path | None = None
) -> list[PlayedScript]:
    """Play scripts of one kind of group. ConformError: exit 2 for a wrong folder, 3 if TLC fails."""
    kind = scripts[0].kind
    if not (spec / f"{kind.module}.tla").is_file():
        raise ConformError(
            f"There is no {spec / kind.module}.tla: run in the repository's folder, or name "
            "its manifest.json with --manifest."
        )
    with tempfile.TemporaryDirectory(prefix="conform-golden-") as name:
        folder = Path(name)
        module, config = folder / f"{MODULE}.tla", folder / f"{MODULE}.cfg"
        module.write_text(rendered(scripts), encoding="utf-8")
        config.write_text(f"{kind.config}SPECIFICATION GoldenSpec\nCHECK_DEADLOCK FALSE\n", encoding="utf-8")
        dump = folder / "graph.dot"
        options = ["-deadlock", "-workers", "1", "-seed", "0", "-dump", "dot", str(dump)]
        brief, log = replace(limits, brief=True), log or folder / "tlc.log"
        run_tlc(module, config, options, log=log, limits=brief, libraries=[spec])
        behaviours = chains(read_graph(dump))
    together = universe(scripts)
    return [_played(script, behaviours[number], together) for number, script in enumerate(scripts, start=1)]


def universe(scripts: Sequence[Script]) -> Universe:
    """The names of all scripts together."""
    most: dict[str, int] = {}
    for script in scripts:
        for topic, count in script.universe.topics.items():
            most[topic] = max(most.get(topic, 0), count)
    return Universe(frozenset().union(*(script.universe.members for script in scripts)), most)


def rendered(scripts: Sequence[Script]) -> str:
    """The module: a script is its actions, one after the other."""
    kind = scripts[0].kind
    starts = [f"scenario = {n} /\\ {script.first}" for n, script in enumerate(scripts, start=1)]
    steps = [
        f"scenario = {n} /\\ at = {at} /\\ {step.action}"
        for n, script in enumerate(scripts, start=1)
        for at, step in enumerate(script.steps)
    ]
    return "\n".join(
        [
            f"------------------------- MODULE {MODULE} --------------------------",
            f"(* Rendered from scenario files: {', '.join(Path(one.file).name for one in scripts)}. *)",
            f"EXTENDS {kind.module}",
            "VARIABLES scenario, at",
            kind.definitions(universe(scripts)),
            "GoldenInit == at = 0 /\\",
            *(f"  \\/ {start}" for start in starts),
            "GoldenNext == at' = at + 1 /\\ UNCHANGED scenario /\\",
            *(f"  \\/ {step}" for step in steps),
            "GoldenSpec == GoldenInit /\\ [][GoldenNext]_<<vars, scenario, at>>",
            "=" * 77,
            "",
        ]
    )


def _played(script: Script, chain: Sequence[State], together: Universe) -> PlayedScript:
    names = tuple(name for name in chain[0] if name not in _OWN)
    own = script.universe
    topics = {name: own.topics.get(name, 0) for name in together.topics}
    others = Universe(together.members - own.members, topics)
    states = [frozendict({name: _own(state[name], others) for name in names}) for state in chain]
    meta = {"description": "Golden scenario", "scenario": Path(script.file).name, "name": script.name}
    meta["script"] = script.digest
    trace = Trace(meta, names, states)
    return PlayedScript(script, trace, script.kind.facts(trace))


def _own(value: Value, others: Universe) -> Value:
    """A value without the names of the run's other scenarios."""
    if isinstance(value, frozenset):
        return frozenset(_own(item, others) for item in value)
    if not isinstance(value, frozendict):
        return value
    return function({key: _own(item, others) for key, item in value.items() if not _is_of(key, others)})


def _is_of(key: Any, others: Universe) -> bool:
    """Tell if an argument of a function is a member, a topic or a partition of them."""
    if isinstance(key, tuple):
        return bool(key[1] >= others.topics.get(key[0], key[1] + 1))
    return key in others.members or others.topics.get(key) == 0
