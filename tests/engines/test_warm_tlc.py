"""TLC in a JVM that stays, as other tests use it: each run gives the output of a JVM of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lives import alive, wait_until
from walk_models import Walks

from harness.engines import tlc
from harness.engines.base import EngineError, Failure, Limits
from harness.engines.process import Finished, run_program
from harness.engines.tlc import run_tlc
from harness.engines.warm_tlc import WarmTlc

LENT = Path(__file__).with_name("lent_server.py")
SIMULATE = ("-simulate", "num=3", "-depth", "4", "-seed", "1")
RUNS: dict[str, tuple[str, tuple[str, ...]]] = {
    "holds, with a dump": ("SPECIFICATION Fair\n", ("-dump", "dot,actionlabels", "walk.dot")),
    "an invariant, with states on the queue": ("SPECIFICATION Fair\nINVARIANT NotTwo\n", ()),
    "an initial state": ("SPECIFICATION Fair\nINVARIANT NotStart\n", ()),
    "a loop": ("SPECIFICATION Fair\nPROPERTY Rests\n", ()),
    "a deadlock": ("SPECIFICATION Ending\n", ()),
    "an assertion": ("SPECIFICATION Asserting\n", ()),
    "an error of evaluation": ("SPECIFICATION Fair\nINVARIANT Confused\n", ()),
    "a name that is not there": ("SPECIFICATION Nowhere\n", ()),
    "random behaviours": ("SPECIFICATION Counting\n", SIMULATE),
}
# Java, its processes, times, places and progress.
OF_A_RUN = re.compile(
    r"@!@!@STARTMSG (2401:3|2187:0|2188:0|2200:0|2209:0) @!@!@\n(?s:.*?)@!@!@ENDMSG.*\n"
    r"|^(Starting|Finished|Parsing file|Progress|Checking temporal|The coverage) ?.*\n| at \d{4}-.*",
    re.MULTILINE,
)


@pytest.fixture(scope="module")
def warm() -> Iterator[WarmTlc]:
    own = WarmTlc()
    yield own
    own.stop()


def walked(walks: Walks, run: str, limits: Limits | None = None) -> tuple[int, str, str]:
    """Exit code, output without times and places, and the dump."""
    config, options = RUNS[run]
    (walks.folder / "Walk.cfg").write_text(config)
    dump = walks.folder / "walk.dot"
    dump.unlink(missing_ok=True)
    ended = ran(walks, [word.replace("walk.dot", str(dump)) for word in options], limits)
    text = OF_A_RUN.sub("", "".join(f"{line}\n" for line in ended.lines))
    return ended.exit_code, text, dump.read_text() if dump.is_file() else ""


def ran(walks: Walks, options: list[str], limits: Limits | None) -> Finished:
    """A run; one that fails has no result of `run_tlc`, so its words are taken from the log."""
    module, log = walks.folder / "Walk.tla", walks.folder / "walk.log"
    words = [] if "-simulate" in options else ["-seed", "0"]
    try:
        return run_tlc(
            module,
            module.with_suffix(".cfg"),
            [*words, "-workers", "1", *options],
            log=log,
            limits=limits or Limits("512m", brief=True),
        )
    except EngineError:
        return Finished(log.read_text().splitlines(), -1, 0)


def test_every_form_of_output_is_read_after_any_other(
    walks: Walks, warm: WarmTlc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tlc, "runner", run_program)
    own = {run: walked(walks, run) for run in RUNS}
    assert len({text for _, text, _ in own.values()}) == len(RUNS) and own["holds, with a dump"][2]
    monkeypatch.setattr(tlc, "runner", warm.run)
    before = warm.runs
    for runs in (RUNS, reversed(RUNS)):
        assert {run: walked(walks, run) for run in runs} == own
    assert warm.runs == before + 2 * len(RUNS), "they were run elsewhere"


def test_where_the_java_ends_the_next_run_has_another(
    walks: Walks, warm: WarmTlc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tlc, "runner", warm.run)
    first = walked(walks, "an initial state")
    assert warm._server
    warm._server.kill()
    before = warm.runs
    assert walked(walks, "an initial state") == walked(walks, "an initial state") == first
    assert warm.runs == before + 1


def test_a_run_that_is_about_memory_or_time_has_its_own(
    walks: Walks, warm: WarmTlc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tlc, "runner", warm.run)
    before = warm.runs
    with pytest.raises(EngineError) as error:
        walks.check("SPECIFICATION Growing\n", Limits("24m", brief=True))
    assert error.value.failure is Failure.MEMORY
    assert walked(walks, "a deadlock", Limits("512m", timeout=30, brief=True))[0] != -1
    assert warm.runs == before


def test_longer_runs_have_their_own_where_the_server_is_for_brief_ones(
    walks: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = WarmTlc(brief_only=True)
    monkeypatch.setattr(tlc, "runner", server.run)
    for limits in (Limits("512m", brief=True), Limits("512m"), Limits("512m", brief=True)):
        assert walked(walks, "a deadlock", limits)[0] == 11
    assert server.runs == 2
    server.stop()


def test_forks_use_a_lent_server_one_after_another(walks: Walks) -> None:
    """In a process of its own: the process that forks must have only one thread."""
    program = [sys.executable, str(LENT), str(walks.folder)]
    ended = subprocess.run(program, capture_output=True, text=True, check=True)
    servers = ended.stdout.split()
    assert len(servers) == 3 and len(set(servers)) == 1, "each fork ran TLC on the same server"
    wait_until(lambda: not alive(int(servers[0])))


def test_after_a_run_that_is_too_late_the_next_fork_has_another_server(walks: Walks) -> None:
    program = [sys.executable, str(LENT), str(walks.folder), "late"]
    ended = subprocess.run(program, capture_output=True, text=True, check=True)
    first, second, third = ended.stdout.splitlines()
    assert first.split()[1:] == [Failure.TIME_OUT.value] and not alive(int(first.split()[0]))
    assert second == third != "elsewhere" and second != first.split()[0]


@pytest.mark.parametrize("answer", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("fork_too", [False, True])
def test_a_server_ends_with_its_maker_also_in_the_middle_of_a_run(
    walks: Walks, answer: signal.Signals, fork_too: bool
) -> None:
    program = [sys.executable, str(LENT), str(walks.folder), "endless"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True, start_new_session=True) as maker:
        try:
            assert maker.stdout
            begun = next(line for line in maker.stdout if "initial states" in line)
            server, fork = map(int, begun.split()[:2])
            assert alive(server)
            if fork_too:
                os.kill(fork, answer)
            maker.send_signal(answer)
            wait_until(lambda: maker.poll() is not None and not alive(server))
        finally:
            maker.kill()
