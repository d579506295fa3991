"""TLC in a JVM that stays, as other tests use it: each run gives the output of a JVM of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from walk_models import Walks
from warm_tlc import WarmTlc

from harness.engines import tlc
from harness.engines.base import EngineError, Failure, Limits
from harness.engines.process import Finished, run_program
from harness.engines.tlc import run_tlc

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
    monkeypatch.setattr(tlc, "run_program", run_program)
    own = {run: walked(walks, run) for run in RUNS}
    assert len({text for _, text, _ in own.values()}) == len(RUNS) and own["holds, with a dump"][2]
    monkeypatch.setattr(tlc, "run_program", warm.run)
    before = warm.runs
    for runs in (RUNS, reversed(RUNS)):
        assert {run: walked(walks, run) for run in runs} == own
    assert warm.runs == before + 2 * len(RUNS), "they were run elsewhere"


def test_where_the_java_ends_the_next_run_has_another(
    walks: Walks, warm: WarmTlc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tlc, "run_program", warm.run)
    first = walked(walks, "an initial state")
    assert warm._server
    warm._server.kill()
    before = warm.runs
    assert walked(walks, "an initial state") == walked(walks, "an initial state") == first
    assert warm.runs == before + 1


def test_a_run_that_is_about_memory_or_time_has_its_own(
    walks: Walks, warm: WarmTlc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tlc, "run_program", warm.run)
    before = warm.runs
    with pytest.raises(EngineError) as error:
        walks.check("SPECIFICATION Growing\n", Limits("24m", brief=True))
    assert error.value.failure is Failure.MEMORY
    assert walked(walks, "a deadlock", Limits("512m", timeout=30, brief=True))[0] != -1
    assert warm.runs == before
