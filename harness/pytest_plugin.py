"""A plugin of pytest: `pytest --conform-target NAME` replays traces on an implementation, one test for each
trace.

Every pytest of an environment with the kit loads the plugin, so all other imports wait until the option is
given.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import ndiff
from pathlib import Path
from pprint import pformat
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.replay.jobs import Job
    from harness.replay.run import Failure, Outcome, Replayer
    from harness.waivers import Waivers

SESSION: pytest.StashKey[Replays] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options; without the first of them the plugin does nothing."""
    group = parser.getgroup("conform", "conformance of a group coordinator")
    group.addoption(
        "--conform-target",
        metavar="NAME",
        help='The implementation, e.g. "stdio:./coordinator": one test a trace.',
    )
    group.addoption(
        "--conform-traces",
        metavar="PATH",
        action="append",
        help="Traces or folders (default: those of the kit).",
    )
    group.addoption(
        "--conform-dialect", metavar="NAME", help="The dialect of the target (default: the traces')."
    )
    group.addoption("--conform-waivers", metavar="FILE", help="Differences that are accepted (TOML).")


class Different(Exception):
    """A trace on which the target differs."""

    def __init__(self, lines: Iterator[str]) -> None:
        super().__init__("\n".join(lines))


class Replays:
    """The replays of one session of pytest, on one target, which is opened before the first trace.

    A target that fails is closed; the next trace gets a new target.
    """

    def __init__(self, job: Job, waivers: Waivers) -> None:
        from harness.replay.jobs import Files

        self._job = job
        self._waivers = waivers
        self._files = Files()
        self._replayer: Replayer | None = None
        self._opened: Any = None

    def open(self) -> Replayer:
        """Open the target, if it is not open. ConformError if there is no such target or it does not
        start."""
        from harness.targets import open_target

        if self._replayer is None:
            self._opened = open_target(self._job.target, self._job.dialect)
            self._replayer = self._job.replayer(self._opened)
        return self._replayer

    def outcome(self, file: Path) -> Outcome:
        """Replay one file. ConformError for a file that is not a trace, or a target that fails."""
        from harness.errors import ConformError

        trace = self._files.read(file)
        try:
            return self.open().outcome(trace)
        except ConformError:
            self.close()
            raise

    def explain(self, failure: Failure) -> Iterator[str]:
        """A failure in full, then a diff for each difference between two structures."""
        from harness.replay.report import explain

        yield from explain(failure, self._job.target, self._job.dialect)
        for one in failure.differences:
            if isinstance(one.expected, dict | list) and isinstance(one.got, dict | list):
                yield f"  {one.path} (- expected, + got)"
                expected, got = (pformat(value, width=80).splitlines() for value in (one.expected, one.got))
                yield from (f"    {line.rstrip()}" for line in ndiff(expected, got) if line[:1] != "?")

    def problems(self) -> list[str]:
        """Sentences about waivers that cover nothing or have expired."""
        return list(self._waivers.problems())

    def close(self) -> None:
        """Close the target, if it is open."""
        opened, self._opened, self._replayer = self._opened, None, None
        if opened is not None:
            opened.close()


class TraceItem(pytest.Item):
    """One trace. The test fails where the target differs, and is skipped where no step can be judged."""

    file: Path

    def runtest(self) -> None:
        """Replay the trace."""
        from harness.replay.report import reason

        replays = self.config.stash[SESSION]
        outcome = replays.outcome(self.file)
        if outcome.failures:
            raise Different(line for failure in outcome.failures for line in replays.explain(failure))
        left = len(outcome.called) - outcome.judged
        if outcome.called and not outcome.judged:
            pytest.skip(reason(outcome.reason))
        if left:
            self.add_report_section(
                "call",
                "conform",
                f"{left} of {len(outcome.called)} steps not judged: {reason(outcome.reason)}",
            )

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Only the findings; the traceback would be that of the kit."""
        from harness.errors import ConformError

        if isinstance(excinfo.value, Different | ConformError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The place of the trace, for reports."""
        return self.file, None, self.name


class Traces(pytest.Collector):
    """The traces of a session, as tests."""

    files: tuple[Path, ...] = ()

    def collect(self) -> Iterator[TraceItem]:
        """One test for each file, named by its folder and its name."""
        for file in self.files:
            item = TraceItem.from_parent(self, name=f"{file.parent.name}/{file.name.partition('.')[0]}")
            item.file = file
            yield item


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the traces to the tests, if a target is named. UsageError for wrong options."""
    target = config.getoption("--conform-target")
    if target is None:
        return
    from datetime import date

    from harness.api import traces
    from harness.errors import ConformError
    from harness.replay.files import dialects_of, spoken_dialect
    from harness.replay.jobs import Job
    from harness.waivers import read_waivers

    waivers = config.getoption("--conform-waivers")
    try:
        files = traces(config.getoption("--conform-traces"))
        spoken = spoken_dialect(config.getoption("--conform-dialect"), dialects_of(files))
        accepted = read_waivers(None if waivers is None else Path(waivers), date.today())
        config.stash[SESSION] = replays = Replays(Job(target, spoken, 20, accepted.covers), accepted)
        replays.open()  # one error, in place of one for each trace
    except ConformError as error:
        raise pytest.UsageError(error.message) from None
    collector = Traces.from_parent(session, name="conform", nodeid="conform")
    collector.files = tuple(files)
    items.extend(collector.collect())


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the target."""
    replays = session.config.stash.get(SESSION, None)
    if replays is not None:
        replays.close()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print a sentence for each waiver that covers nothing. Only `conform replay` and the gate fail on them:
    here a user may have selected a part of the traces."""
    replays = config.stash.get(SESSION, None)
    for problem in replays.problems() if replays is not None else ():
        terminalreporter.write_line(f"conform: {problem}")
