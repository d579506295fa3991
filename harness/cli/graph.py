"""`conform graph`: the state graph of a model and the path of a trace, as pictures or as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import MANIFEST, check_json_place, find_model, running, write_json
from harness.cli.options import Config, JsonFile, Libraries, ManifestFile, TlcMemory, TlcTimeout
from harness.engines.base import Limits
from harness.errors import ConformError
from harness.files import output_folder, write_text
from harness.graph.draw import FOLDS, Subject, draw, of_model, of_trace
from harness.graph.dump import state_graph
from harness.graph.render import require_dot
from harness.graph.web import draw_page
from harness.itf import Trace, read_trace
from harness.kinds.fields import drawing
from harness.kit import kit_path
from harness.replay.files import SUFFIX
from harness.report.sequence_words import violated
from harness.report.trace_sequence import sequence_of_trace, text_of_trace
from harness.words import counted


def command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[MODEL|PATH.tla]", help="A model of the manifest, or a module by path; else --trace."
        ),
    ] = None,
    config: Config = None,
    library: Libraries = None,
    trace: Annotated[
        Path | None, typer.Option(metavar="TRACE.itf.json", help="Show the path of this trace.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("build/graphs"),
    fold: Annotated[
        str,
        typer.Option(
            help="Fold states: auto (from 60 states on), none, state (by group state), or actions "
            "(by the possible actions)."
        ),
    ] = "auto",
    fold_by: Annotated[
        str | None, typer.Option(metavar="VARIABLE", help="Fold by the value of a variable instead.")
    ] = None,
    page: Annotated[
        bool, typer.Option("--page", help="Write a page to zoom, search and fold instead, without graphviz.")
    ] = False,
    sequence: Annotated[
        bool, typer.Option("--sequence", help="Draw the messages of --trace instead: a lane for each member.")
    ] = False,
    mermaid: Annotated[
        bool,
        typer.Option(
            "--mermaid", help="Write the sequence diagram as Mermaid text, for an issue or a pull request."
        ),
    ] = False,
    manifest: ManifestFile = MANIFEST,
    json_file: JsonFile = None,
    memory: TlcMemory = "2g",
    timeout: TlcTimeout = None,
) -> None:
    """Draw the state graph of a model, the path of a trace in it, or a trace alone, as SVG and PNG.

    Nodes say group state, epochs and each member's partitions; edges say action, member and branch. Where a
    graph is too large to be read, states with the same group state and as far advanced members become one
    node, with the number of states; of other specifications, states in which the same actions are possible.
    With --page every state of a large graph can be seen: an HTML file with everything in it, on which the
    steps of the trace are marked as tested. With --sequence the picture is a sequence diagram of the trace,
    as SVG: the sender and receiver of each message, lost and late messages, and the changes of each step;
    --mermaid writes the sequence diagram as text, which issues and pull requests draw.

    \b
    conform graph MCTour
    conform graph MCOpen --fold state --trace build/traces/MCOpen-simulate-0001.itf.json
    conform graph path/to/Spec.tla --fold-by pc
    conform graph --trace traces/golden/basic.itf.json
    conform graph --trace traces/counterexamples/MCNoR9.itf.json --sequence
    conform graph --trace traces/counterexamples/MCNoR9.itf.json --mermaid
    conform graph MCStaticClosed --page

    Exit codes: 0; 2 a wrong command line or specification, or a trace that is not of the model; 3 TLC failed,
    or graphviz is missing.
    """
    check_json_place(json_file)
    if fold not in FOLDS:
        raise ConformError(f"There is no folding {fold!r}: choose {', '.join(FOLDS)}, or use --fold-by.")
    if page and (fold != FOLDS[0] or fold_by):
        raise ConformError("The reader of a page folds the graph: leave out --fold and --fold-by.")
    if name is None and trace is None:
        raise ConformError("Say what to draw: a model, the path of a module (.tla), or --trace FILE.")
    in_words = sequence or mermaid
    if in_words and (name or page or trace is None):
        raise ConformError("A sequence diagram is of a trace alone: --trace FILE --sequence.")
    if not page and not in_words:
        require_dot()
    output_folder(out)
    trace = kit_path(trace) if trace else None
    shown = read_trace(trace) if trace else None
    trace_name = trace.name.removesuffix(SUFFIX) if trace else ""
    if in_words and shown:
        return _sequence(shown, trace_name, out, sequence, mermaid, json_file)
    if name is None:
        assert shown is not None
        subject = of_trace(trace_name, shown)
        stem = trace_name
    else:
        subject, stem = _of_model(
            name, config, library or [], manifest, out, Limits(memory, timeout), shown, trace_name
        )
    with drawing(f"The state graph of {subject.title}"):
        drawn = draw_page(subject, shown, out, stem) if page else draw(subject, out, stem, fold, fold_by)
    folded = ""
    if by := drawn.get("folded_by"):
        folded = f", folded by {by} to {counted(drawn['nodes'], 'node')}"
    states, edges = counted(drawn["states"], "state"), counted(drawn["edges"], "edge")
    print(f"{subject.title}: {states}, {edges}{folded}")
    for file in drawn["files"]:
        print(f"  {file}")
    write_json(json_file, {"command": "graph", "name": stem, "exit_code": 0, **drawn})


def _sequence(
    trace: Trace, name: str, out: Path, drawn: bool, in_words: bool, json_file: Path | None
) -> None:
    title = f"Counterexample {name}" if violated(trace) else name
    texts = {"svg": sequence_of_trace(trace, title)} if drawn else {}
    texts |= {"mmd": text_of_trace(trace, title)} if in_words else {}
    files = [out / f"{name}-sequence.{ending}" for ending in texts]
    for file, text in zip(files, texts.values(), strict=True):
        write_text(file, text)
    print(f"{title}: {counted(len(trace.states) - 1, 'step')}", *(f"  {file}" for file in files), sep="\n")
    made = {"title": title, "states": len(trace.states), "files": [str(file) for file in files]}
    write_json(json_file, {"command": "graph", "name": name, "exit_code": 0, **made})


def _of_model(
    name: str,
    config: Path | None,
    libraries: list[Path],
    manifest: Path,
    out: Path,
    limits: Limits,
    trace: Trace | None,
    trace_name: str,
) -> tuple[Subject, str]:
    model, entry = find_model(name, config, manifest, libraries)
    if entry and entry.engine != "tlc":
        raise ConformError(f"State graphs are made by TLC, but the model {name} is for {entry.engine}.")
    log = out.resolve() / f"{model.name}.log"
    with running(f"drawing {model.name}") as progress:
        graph = state_graph(model, limits=limits, log=log, progress=progress)
    log.unlink(missing_ok=True)  # another command may draw the same model into this folder
    stem = f"{model.name}-{trace_name}" if trace_name else model.name
    return of_model(model.name, graph, trace, trace_name), stem
