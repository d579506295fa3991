"""Settings of all tests: no deadline, since a slow machine is no failure; interrupts reach programs; the
files that take longest begin first; objects that a file has left in memory are not searched for garbage
again."""

import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from harness.dumps import FOLDER
from harness.engines import tlc
from harness.engines.warm_tlc import WarmTlc

# Tests of many verbs need the state graphs of the same few models.
os.environ.setdefault(FOLDER, str(Path(__file__).parents[1] / "build" / "dumps"))

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

# A shell ignores interrupts for programs that it starts in the background, and nohup ignores SIGHUP;
# programs that tests start inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

LONGEST = (
    "pipeline/test_cluster.py",
    *("mutants/test_coordinator_mutants.py", "replay/test_ahead.py", "serve/test_serve_classic_traces.py"),
    *("mutants/test_spec_mutants.py", "test_readme.py", "clients/test_wired_clients.py"),
    *("report/test_page_browser.py", "proxy/test_proxy_clients.py", "gate/test_installed_verbs.py"),
    *("proxy/test_proxy_page.py", "gate/test_installed.py", "serve/test_serve_waits.py"),
    *("graph/test_web_browser.py", "doctor/test_doctor.py", "serve/test_serve_first_command.py"),
    *("toy/test_toy_kind.py", "properties/test_group_machine.py", "serve/test_serve_upstream.py"),
    *("clients/test_traced_clients.py", "replay/test_partial_targets.py", "shrink/test_shrink_command.py"),
    *(
        "identify/test_identify.py",
        "mutate/test_stopped.py",
        "replay/test_jobs.py",
        "coverage/test_coverage.py",
    ),
    *("api/test_pytest_plugin.py", "test_command_line.py", "clients/test_client_command.py"),
    *("coordinator/test_regex.py", "serve/test_serve_fuzz.py", "mutate/test_judging.py"),
    *("engines/test_warm_tlc.py", "report/test_findings_pages.py", "bench/test_beside_kafka_served.py"),
    *("clients/test_soak_of_clients.py", "coordinator/test_sigkill.py", "engines/test_class_archive.py"),
    *("engines/test_stages.py", "test_sources.py", "test_house.py", "report/test_gate.py"),
    *("fuzz/test_fuzz.py", "validate/test_validate.py"),
    *("pipeline/test_tables.py", "pipeline/test_resume.py", "pipeline/test_targets.py"),
    *("pipeline/test_quarantine.py", "pipeline/test_findings.py", "pipeline/test_archive.py"),
    "spark/test_guest.py",
)
"""Files that take more than 10 seconds, in this order: a file that began last would run alone at the end.
Files that wait (for clients, sessions, pauses) are spread over the list: side by side they would leave the
processors idle."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    root = Path(__file__).parent
    place = {root / name: number for number, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path, len(place)))


@pytest.fixture(scope="module", autouse=True)
def what_other_files_left_is_no_garbage() -> Iterator[None]:
    """Traces and modules that earlier files have read are a million objects: each full collection of the
    garbage would go through them, which is a quarter of the time of all tests."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
    yield


@pytest.fixture(scope="session", autouse=True)
def one_java_runs_tlc_many_times() -> Iterator[None]:
    """Two thirds of a short run of TLC is the start of Java."""
    warm, own = WarmTlc(), tlc.runner
    tlc.runner = warm.run
    yield
    tlc.runner = own
    warm.stop()
