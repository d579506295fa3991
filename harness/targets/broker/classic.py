"""Requests of classic groups over the wire: a JoinGroup or SyncGroup may wait for other members.

A broker handles one request of a connection after another, so each request that waits has a connection of its
own. A request counts as waiting if it has no answer when the coordinator has answered another request about
the group that was sent after it, and a moment later. The delay of a new group's first rebalance is the
broker's own, and runs in real time: a trace is followed while the delay is surely not over, and goes on when
it surely is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from harness.targets.base import Json
from harness.targets.broker.connection import Connection
from harness.targets.broker.forms import CLASSIC, JOIN
from harness.targets.broker.patience import LATE
from harness.targets.waiting import NO_TIME, NO_TIMER, TOO_SLOW, NotWaited, Waited

QUIET_S: Final = 0.1
"""The silence after which a request counts as waiting."""
LEAST_S: Final = 0.5
"""An initial delay below this one is over before a trace can be followed."""
IN_TIME: Final = 0.8
"""The part of the initial delay in which it is surely not over."""


class Waiting:
    """The requests of one run to one group after another; all connections are closed with the group.

    `connect` opens a connection to the coordinator, `fence` sends the coordinator a request about the group.
    """

    def __init__(
        self,
        target: str,
        quiet_s: float = QUIET_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._target, self._quiet_s, self._now = target, quiet_s, now
        self._idle: list[Connection] = []
        self._sent: list[tuple[str, Connection]] = []
        self._began: float | None = None
        self._rebalanced = False
        self.made: set[str] = set()
        """Member ids that were given out, some of which may not have joined."""
        self.used = False
        """Tell if the present group is a classic one."""

    def send(
        self,
        connect: Callable[[], Connection],
        fence: Callable[[], object],
        api: str,
        version: int,
        client: str,
        body: Json,
        delay_s: float,
    ) -> Json | None:
        """Send a request; its answer, or None while it waits. NotWaited if the initial delay of `delay_s`
        may be over."""
        self.used = True
        self._check_delay(delay_s, api == JOIN and bool(body["memberId"] or body["groupInstanceId"]))
        connection = self._idle.pop() if self._idle else connect()
        connection.begin(api, version, body, client)
        answer = connection.poll(self._quiet_s)
        if answer is None:
            fence()
            answer = connection.poll(self._quiet_s)
        if answer is not None:
            self._idle.append(connection)
            self._note(api, answer)
            return answer
        if api == JOIN and self._began is None:
            self._began = self._now()
        self._sent.append((f"{api} {client}", connection))
        return None

    def late(self, fence: Callable[[], object]) -> list[tuple[str, Json]]:
        """The answers that came meanwhile, by the request's API and client."""
        answers = []
        if self._sent:
            fence()
        first = True
        for sent in list(self._sent):
            answer = sent[1].poll(self._quiet_s if first else 0)
            first = first and answer is not None
            if answer is not None:
                answers.append(self._answered(sent, answer))
        return answers

    def join_timeout(
        self, fence: Callable[[], object], delay_s: float, waited: Waited
    ) -> list[tuple[str, Json]]:
        """Wait until the initial delay must be over; the answers to the joined members. NotWaited for another
        time-out, and where there is no time."""
        if self._rebalanced or self._began is None:
            raise NotWaited(self._target, NO_TIMER)
        end = self._began + LATE * delay_s
        if waited.spent_s + max(0.0, end - self._now()) > waited.budget_s:
            raise NotWaited(self._target, NO_TIME)
        start = self._now()
        answers: list[tuple[str, Json]] = []
        while not answers and self._now() < end:
            answers = self.late(lambda: None)
        waited.spent_s += self._now() - start
        waited.timers += 1
        self._began += delay_s
        return answers + self.late(fence)

    def close(self) -> None:
        """Close all connections: the next group begins."""
        for connection in (*self._idle, *(connection for _, connection in self._sent)):
            connection.close()
        self._idle.clear()
        self.made.clear()
        self._sent.clear()
        self._began, self._rebalanced, self.used = None, False, False

    def _answered(self, sent: tuple[str, Connection], answer: Json) -> tuple[str, Json]:
        self._sent.remove(sent)
        self._idle.append(sent[1])
        self._note(sent[0].partition(" ")[0], answer)
        return sent[0], answer

    def _note(self, api: str, answer: Json) -> None:
        if api == JOIN and answer["memberId"]:
            self.made.add(answer["memberId"])
        if api == JOIN and not answer["errorCode"]:
            self._rebalanced = True

    def _check_delay(self, delay_s: float, begins: bool) -> None:
        delays = self._began is not None and not self._rebalanced
        if begins and not self._rebalanced and delay_s < LEAST_S:
            raise NotWaited(self._target, TOO_SLOW)
        if delays and self._now() - (self._began or 0.0) > IN_TIME * delay_s:
            raise NotWaited(self._target, TOO_SLOW)


def measured_delay(connection: Connection, group: str, now: Callable[[], float] = time.monotonic) -> float:
    """Make a classic group with one member: the delay of its first rebalance, in seconds."""
    body: Json = {
        "groupId": group,
        "sessionTimeoutMs": 45_000,
        "rebalanceTimeoutMs": 300_000,
        "memberId": "",
        "groupInstanceId": None,
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": ""}],
        "reason": None,
    }
    member = str(connection.call(JOIN, CLASSIC[JOIN], body)["memberId"])
    start = now()
    connection.call(JOIN, CLASSIC[JOIN], {**body, "memberId": member})
    return now() - start
