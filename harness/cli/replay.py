"""`conform replay`: traces, step by step, on an implementation."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from harness.cli.console import check_json_place, running, write_json
from harness.cli.identify import lines
from harness.cli.options import JsonFile, Wait, WaiverFile, dialect_option
from harness.errors import ENGINE_FAILED, NOT_CONFORMANT, ConformError
from harness.identify.explain import grouped
from harness.identify.own import identified, own_traces
from harness.replay.causes import Cause, causes
from harness.replay.causes import lines as cause_lines
from harness.replay.files import dialects_of, disagreements, replay_files, spoken_dialect, trace_files
from harness.replay.jobs import check_jobs
from harness.replay.report import explain_causes, judged, not_loaded, summary, to_json
from harness.replay.run import ALL, LOAD, Replayed
from harness.waivers import Waivers, read_waivers
from harness.words import counted

SHOWN = 12
"""The number of causes that are printed."""


def command(
    traces: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="TRACE|DIR...",
            help="ITF traces, or folders of traces (*.itf.json); by default the traces of the "
            "target's dialect.",
        ),
    ] = None,
    target: Annotated[
        str,
        typer.Option(
            help="The implementation: python, stdio:COMMAND or tcp:HOST:PORT (the line protocol), "
            "broker:HOST:PORT (a live broker), kafka:VERSION, or mock (docs/targets.md)."
        ),
    ] = "python",
    dialect: Annotated[
        str | None, dialect_option("The dialect of the target; by default the dialect of all the traces.")
    ] = None,
    json_file: JsonFile = None,
    max_differences: Annotated[
        int, typer.Option(min=1, metavar="N", help="Judge no more steps after N differences; by default all.")
    ] = ALL,
    waivers: WaiverFile = None,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Replay in N processes, each on a target of its own.")
    ] = 1,
    wait: Wait = 0,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="LOG",
            help="Write the requests to the target and its answers to this log, for conform validate.",
        ),
    ] = None,
) -> None:
    """Replay traces step by step on an implementation and compare everything after each step.

    Response, group, every member, armed timers, written records and the use of the target assignment are
    compared with the states of the trace. After a difference the implementation is put into the state of the
    trace, so that later steps are judged by themselves. A counterexample of a checker is a trace like any
    other. A state that the implementation did not load, by its own description, is no difference: the adapter
    is at fault, the steps that follow are not judged, and the exit code is 3.

    Without traces the dialect of the target is identified, as by conform identify, and printed; the traces of
    that dialect are replayed.

    Differences are grouped by their causes: one departure of a dialect (see conform dialects) explains many
    of them, and so does one root, from which the other differences of a step follow. The most serious cause
    and the cause of most steps are shown in full, in the shortest trace that has them.

    Where the implementation fails in the middle, or the replay is stopped (Ctrl-C), the verdicts until
    then are printed.

    An implementation that lacks operations is judged as far as possible; steps that are left out are counted
    by reason. A waiver that covers nothing or has expired is a failure.

    With --wait the sessions and rebalance time-outs of a live broker that run out in a trace are made short
    and waited for. Steps for which the seconds do not suffice are counted as not judged.

    With --jobs the result is the same for each N. All processes would share one broker, so a broker takes no
    --jobs.

    Traces of KIP-848's text are for every implementation, traces of another dialect for an implementation
    that speaks it.

    \b
    conform replay traces/golden
    conform replay --target broker:127.0.0.1:9092 --wait 60
    conform replay traces --target "stdio:python -m coordinator --stdio" --json build/replay.json

    Exit codes: 0 no difference; 11 differences; 2 a file that is not a trace of the group protocol, or
    traces without steps; 3 the implementation failed, did not load a state, or can do none of the steps.
    """
    check_json_place(json_file)
    check_jobs(jobs, target, record)
    accepted = read_waivers(waivers, date.today())
    if not traces:
        dialect = dialect or _identified_dialect(target)
        traces = own_traces(dialect)
    files = trace_files(traces)
    known = dialects_of(files)
    spoken = spoken_dialect(dialect, known)
    for sentence in disagreements(known, spoken):
        print(sentence)
    seen: list[Replayed] = []
    output = _Output(target, spoken, accepted, json_file, wait)
    with running(f"replaying {counted(len(files), 'trace')} on {target}") as progress:

        def show(so_far: Replayed) -> None:
            seen[:] = [so_far]
            progress(
                f"{counted(so_far.traces, 'trace')}, {counted(so_far.steps, 'step')}, "
                f"{counted(so_far.differences, 'difference')}"
            )

        try:
            result = replay_files(
                files, target, spoken, max_differences, show, accepted.covers, record, jobs=jobs, wait_s=wait
            )
        except KeyboardInterrupt:
            print(f"stopped; until then: {judged(seen[0] if seen else Replayed(), len(files))}")
            raise
        except ConformError as error:
            if error.exit_code == ENGINE_FAILED and seen and (seen[0].judged or seen[0].failures):
                print(f"before the target failed: {judged(seen[0], len(files))}")
                output.say(seen[0], causes(seen[0].failures), error.message)
            raise
    by_cause: list[Cause] = []
    if result.failures:
        with running("looking for causes") as progress:
            by_cause = grouped(result, spoken, progress, accepted.again().covers)
    output.say(result, by_cause)
    problems = list(accepted.problems())
    exit_code = NOT_CONFORMANT
    if result.failures:
        steps = sum(one.action != LOAD for one in result.failures)
        problems.insert(
            0,
            f"The target {target} does not conform: {counted(result.differences, 'difference')} in "
            f"{steps} of {counted(result.judged, 'step')}.",
        )
    if sentence := not_loaded(result, target):
        problems.insert(0, sentence)
        exit_code = ENGINE_FAILED
    if problems:
        raise ConformError(" ".join(problems), exit_code)


@dataclass(frozen=True)
class _Output:
    """The summary, the causes, and two of them in full; `stopped` is the reason why there are no more."""

    target: str
    dialect: str
    accepted: Waivers
    json_file: Path | None
    wait_s: float

    def say(self, result: Replayed, by_cause: list[Cause], stopped: str = "") -> None:
        """The dialect of a target, with lines about the certainty of the result."""
        for line in summary(result, self.target, self.accepted):
            print(line)
        if by_cause:
            print("causes, the most serious first:")
        for line in cause_lines(by_cause[:SHOWN]):
            print(f"  {line}")
        if len(by_cause) > SHOWN:
            print(f"  and {len(by_cause) - SHOWN} more, in the file of --json")
        data = to_json(result, self.target, self.dialect, self.accepted, by_cause, stopped)
        write_json(self.json_file, data)
        for line in explain_causes(by_cause, result.failures, self.target, self.dialect, self.wait_s):
            print(line)


def _identified_dialect(target: str) -> str:
    """The dialect of a target, with the lines that say how sure that is."""
    with running(f"identifying {target}") as progress:
        identification = identified(target, progress)
    print("the dialect, as conform identify finds it:")
    for line in lines(identification):
        print(f"  {line}")
    if identification.not_told_apart:
        print(
            f"  if you know that it is another of these, say so: --dialect {identification.not_told_apart[0]}"
        )
    return identification.dialect
