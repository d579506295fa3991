"""The list of the stages of `make`: a stage is a verb of `conform` with its words and its dependencies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SHOWN: Final = (
    *("MCTour", "MCStaticTour", "MCClassicTour", "MCCooperativeChecked", "MCConnectSmall", "MCClientTour"),
    *("MCMigrationGone", "MCKafka42Tour", "MCClientLive", "MCLiveUnfair", "MCNoExemption", "MCLogTorn"),
)
"""Models of each kind of group, of a dialect of Kafka, two of liveness, and three that must fail (one of them
of liveness): a few seconds each."""
TOURED: Final = ("MCTour", "MCStaticTour", "MCRefused")
"""Models whose every edge is toured."""
GOALS: Final = (
    *("MCOpen", "MCStatic", "MCTopicIds", "MCRefused", "MCOffsets", "MCOffsetsGrow"),
    *("MCLog", "MCLogReturn", "MCLogCompacted", "MCLogOffsets"),
)
"""Models that have goals in spec/goals.json."""
EXHAUSTED: Final = ("MCClassicTour", "MCConnectSmall", "MCMigrationGone", "MCTour")
DRAWN: Final = ("MCTour", "MCClassicTour", "MCMigrationGone")

BUILD: Final = Path("build")
RESULTS: Final = BUILD / "results"
TRACES: Final = BUILD / "traces"
STATES: Final = BUILD / "stages"
"""The folder with the state of each stage and its output."""
PAGE: Final = BUILD / "report" / "index.html"
SUMMARY: Final = BUILD / "report" / "summary.txt"
SPEC: Final = "spec"
CODE: Final = ("harness", "coordinator", "pyproject.toml")
EVERYTHING: Final = (*CODE, SPEC, "traces", "Makefile", "REQUIREMENTS.md")
"""Folders and files that a run is about. The report also shows the tests' citations."""
REPORT: Final = "report"


@dataclass(frozen=True)
class Stage:
    """One thing to do. `words` follow `conform`, or are a module's after "-m"; `models` are its dependencies
    in the specification, `inputs` files and folders beside the code, `needs` the stages whose output it
    reads. `always` tells that it is done whenever anything has changed. `result` is the file that it writes,
    if the report reads one. Those with `spark` share a process, which starts Spark once."""

    name: str
    words: tuple[str, ...]
    models: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    always: bool = False
    result: Path | None = None
    spark: bool = False

    @property
    def group(self) -> str:
        return self.name.partition("-")[0]

    @property
    def arguments(self) -> list[str]:
        """The command line after `conform`, or after the Python of a module."""
        json_file = ["--json", str(self.result)] if self.result and self.words[0] != "-m" else []
        return [*self.words, *json_file]

    @property
    def command(self) -> list[str]:
        program = ["-m", "harness"] if self.words[0] != "-m" else []
        return [sys.executable, *program, *self.arguments]


def stages(traces: Path = Path("traces")) -> list[Stage]:
    """All stages, in the order in which they are shown; the last is the report of the others."""
    listed = [
        *_checks(),
        *_generated(),
        *_replays(traces),
        *(_exhausted(model) for model in EXHAUSTED),
        Stage(
            "simulate-groups",
            ("simulate", "--seeds", "40"),
            result=RESULTS / "simulate-groups.json",
            spark=True,
        ),
        Stage(
            "simulate-classic", ("simulate", "--kind", "classic"), result=RESULTS / "simulate-classic.json"
        ),
        *_graphs(),
        _diff(),
        # The cost of rebalances, for the report: a simulated clock, so the same in every run.
        Stage(
            "rebalance",
            ("-m", "benchmarks", "--only", "rebalance", "--out", str(RESULTS)),
            inputs=("benchmarks",),
            result=RESULTS / "bench.json",
        ),
    ]
    words = ("report", "--results", str(BUILD), "--out", str(PAGE), "--summary")
    needs = tuple(stage.name for stage in listed)
    return [*listed, Stage(REPORT, words, inputs=(*EVERYTHING, "tests"), needs=needs)]


def _checks() -> Iterator[Stage]:
    shown = [word for model in SHOWN for word in ("--anew", model)]
    words = ("check", *shown, "--out", str(BUILD / "check"))
    yield Stage("check", words, inputs=EVERYTHING, always=True, result=RESULTS / "check.json")
    yield Stage(
        "scenario",
        ("scenario", "traces/golden"),
        inputs=EVERYTHING,
        always=True,
        result=RESULTS / "check-scenarios.json",
    )


def _generated() -> Iterator[Stage]:
    for model in TOURED:
        words = ("generate", model, "--edges", "--max-length", "200", "--out", f"{TRACES}/tour")
        name = f"generate-tour-{model}"
        yield Stage(name, words, (model,), result=RESULTS / f"{name}.json")
    for model in GOALS:
        goals = ("generate", model, "--goals", "--out", f"{TRACES}/goals")
        name = f"generate-goals-{model}"
        yield Stage(name, goals, (model,), (f"{SPEC}/goals.json",), result=RESULTS / f"{name}.json")
    drawn = ("--simulate", "200", "--depth", "60", "--seed", "848", "--out", f"{TRACES}/random")
    name = "generate-random"
    yield Stage(name, ("generate", "MCSimulate", *drawn), ("MCSimulate",), result=RESULTS / f"{name}.json")


def _replays(traces: Path) -> Iterator[Stage]:
    on_python = ("--target", "python")
    for kind in ("tour", "goals", "random"):
        needs = tuple(stage.name for stage in _generated() if stage.name.startswith(f"generate-{kind}"))
        made = ("replay", f"{TRACES}/{kind}", *on_python)
        yield Stage(f"replay-{kind}", made, needs=needs, result=RESULTS / f"replay-{kind}.json")
    words = ("replay", "traces", *on_python)
    yield Stage("replay-committed", words, inputs=("traces",), result=RESULTS / "replay-committed.json")
    for folder in sorted(path for path in (traces / "dialects").glob("*") if path.is_dir()):
        spoken = ("replay", str(folder), *on_python, "--dialect", folder.name)
        name = f"replay-{folder.name}"
        yield Stage(name, spoken, inputs=("traces",), result=RESULTS / f"{name}.json")


def _exhausted(model: str) -> Stage:
    name = f"exhaust-{model}"
    page = ("--page",) if model == "MCTour" else ()
    words = ("exhaust", model, *page, "--out", f"build/exhaust/{model}")
    return Stage(name, words, (model,), result=RESULTS / f"{name}.json", spark=True)


def _graphs() -> Iterator[Stage]:
    out = ("--out", "build/graphs")
    for model in DRAWN:
        name = f"graph-{model}"
        yield Stage(name, ("graph", model, *out), (model,), result=RESULTS / f"{name}.json")
    basic = ("graph", "--trace", "traces/golden/basic.itf.json")
    yield Stage("graph-basic", (*basic, *out), inputs=("traces",), result=RESULTS / "graph-basic.json")
    yield Stage("graph-sequence", (*basic, "--sequence", *out), inputs=("traces",))
    model = "MCStaticClosed"
    words = ("graph", model, "--page", *out)
    yield Stage(f"graph-{model}", words, (model,), result=RESULTS / f"graph-{model}.json")


def _diff() -> Stage:
    """The worked example: the changes if fencing removes the member, or not."""
    sides = ("kip-848", "kip-848,FencedMemberIsRemoved=FALSE")
    models = ("--model", "MCTour", "--model", "MCFenced", "--check", "MCFencedLive")
    words = ("diff", *sides, *models, "--out", "build/diff/fencing")
    return Stage("diff", words, models[1::2], result=RESULTS / "diff-fencing.json")
