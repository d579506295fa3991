"""The kit's own member over sockets, with faults, and a faulty member beside it: both ends are judged."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judged import report_of
from proxied import faults_in, lines, proxied
from served import FAST, ROOT, serving

from harness.proxy.faults import Fault

HEARTBEAT = "ConsumerGroupHeartbeat"
SETTINGS = FAST | {"group.consumer.session.timeout.ms": 3000}
FAULTS = {
    (HEARTBEAT, 3): Fault("cut after"),
    (HEARTBEAT, 5): Fault("cut before"),
    (HEARTBEAT, 7): Fault("error", code=16),
    (HEARTBEAT, 9): Fault("late", after=1),
    (HEARTBEAT, 11): Fault("error", code=110),
    ("OffsetFetch", 1): Fault("cut after"),
}
"""The faults but those for which a client waits until its time is out."""


def scheduled(client: int, api: str, nth: int) -> Fault | None:
    return FAULTS.get((api, nth))


class Agent:
    """A member in a process of its own, which ends each callback at once."""

    def __init__(self, port: int, member: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "harness.targets.groups.member_agent", member],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests/clients")},
        )
        place = {"bootstrap": f"127.0.0.1:{port}", "group": "g", "instance": None, "autoCommit": True}
        self.tell(do="subscribe", topics=["foo"], **place)

        threading.Thread(target=self._release, daemon=True).start()

    def tell(self, **command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def _release(self) -> None:
        assert self.process.stdout is not None
        for text in self.process.stdout:
            if json.loads(text)["event"] in ("assigned", "revoked", "lost"):
                self.tell(do="release")


def until(done: Callable[[], bool]) -> None:
    """Wait until the condition holds. The bound is for a program that hangs, not a measure."""
    end = time.monotonic() + 60
    while not done():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_faulty_member_differs_from_the_kits_own(tmp_path: Path) -> None:
    """Requests and answers are lost, late, refused and fenced; only the member that reports too much is
    found."""
    log = tmp_path / "run.jsonl"
    with (
        serving(topics={"foo": 4}, rate=20, dialect="kafka-4.2", settings=SETTINGS) as (_, port),
        proxied(port, log, clients=2, faults=scheduled) as (one, two),
    ):
        agents = [Agent(one, "reference"), Agent(two, "faulty:ReportsOneTooMany")]

        def beats(listener: int) -> int:
            return sum(
                line.get("api") == HEARTBEAT and line.get("listener") == listener for line in lines(log)
            )

        until(lambda: min(beats(1), beats(2)) > 12)
        for agent in agents:
            agent.tell(do="close")
        for agent in agents:
            agent.process.wait(30)
    assert {fault["fault"] for fault in faults_in(log)} >= {"cut before", "cut after", "error", "late"}
    report = report_of(tmp_path / "judged.jsonl", lines(log))
    assert report["coordinator_holds"] and not report["clients_hold"], report
    broken = {
        member["listener"]: {rule["rule"] for one in member.get("broken", ())[:1] for rule in one["rules"]}
        for member in report["clients"]
    }
    assert broken == {1: set(), 2: {"OwnsOnlyAssigned"}}
