"""A driver of one classic group of a coordinator in the words of the tests; later answers are kept by
client."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from coordinator import Config, Coordinator, Dialect, SimulatedClock
from coordinator.classic.service import PENDING

Json = dict[str, Any]
VERSIONS = {"JoinGroup": 9, "SyncGroup": 5, "Heartbeat": 4, "LeaveGroup": 5, "OffsetCommit": 9}
FOO = "00000000-0000-4000-8000-0000000000f0"


def encoded(text: str) -> str:
    """Bytes in the protocol's JSON."""
    return base64.b64encode(text.encode()).decode()


class ClassicDriver:
    """A coordinator and its group "g"; times in milliseconds."""

    def __init__(self, config: Config | None = None, dialect: Dialect | None = None) -> None:
        self.clock = SimulatedClock()
        self.coordinator = Coordinator(clock=self.clock, config=config or Config(), dialect=dialect)
        self.late: dict[str, Json] = {}

    def send(self, api: str, client: str, body: Json) -> Json | None:
        """A request; None while it waits."""
        answer = self.coordinator.request(
            api, VERSIONS[api], {"id": client, "host": "/h"}, {"groupId": "g", **body}
        )
        self._fetch()
        return None if answer is PENDING else answer

    def _fetch(self) -> None:
        for one in self.coordinator.others.take_completed():
            self.late[one["id"]] = one["body"]

    def taken(self, api: str, client: str) -> Json:
        """The answer to a request that waited."""
        return self.late.pop(f"{api} {client}")

    def join(
        self,
        client: str,
        member: str = "",
        protocols: Sequence[str] = ("range",),
        metadata: str = "foo",
        instance: str | None = None,
        rebalance_ms: int = 60_000,
        session_ms: int = 10_000,
    ) -> Json | None:
        """JoinGroup."""
        return self.send(
            "JoinGroup",
            client,
            {
                "memberId": member,
                "groupInstanceId": instance,
                "sessionTimeoutMs": session_ms,
                "rebalanceTimeoutMs": rebalance_ms,
                "protocolType": "consumer",
                "protocols": [{"name": name, "metadata": encoded(metadata)} for name in protocols],
            },
        )

    def known(self, client: str, **request: Any) -> str:
        """The first step of a join: the member id with which it must join."""
        answer = self.join(client, **request)
        assert answer is not None and answer["errorCode"] == 79
        return str(answer["memberId"])

    def sync(
        self, client: str, member: str, generation: int, assignments: dict[str, str] | None = None
    ) -> Json | None:
        """SyncGroup."""
        given = [
            {"memberId": name, "assignment": encoded(what)} for name, what in (assignments or {}).items()
        ]
        body = {"memberId": member, "generationId": generation, "assignments": given}
        return self.send("SyncGroup", client, body)

    def heartbeat(self, client: str, member: str, generation: int) -> int:
        """Heartbeat: the error code."""
        answer = self.send("Heartbeat", client, {"memberId": member, "generationId": generation})
        assert answer is not None
        return int(answer["errorCode"])

    def leave(self, member: str) -> int:
        """LeaveGroup: the member's error code."""
        answer = self.send("LeaveGroup", "c", {"members": [{"memberId": member}]})
        assert answer is not None
        return int(answer["members"][0]["errorCode"])

    def advance(self, ms: int) -> list[str]:
        """Let time pass: the timers that ran out."""
        fired = [one["timer"] for one in self.coordinator.advance(ms)]
        self._fetch()
        return fired

    def open_barrier(self) -> None:
        """Let time pass until no member is waited for any more."""
        for _ in range(100):
            if self.group["state"] != "PreparingRebalance":
                return
            self.advance(max(1, self.group["timers"][0]["deadlineMs"] - self.clock.now_ms()))
        raise AssertionError(f"the barrier does not open: {self.group}")

    @property
    def group(self) -> Json:
        """The group as it is."""
        return self.coordinator.describe("g")

    def stable(self, *clients: str, **request: Any) -> dict[str, str]:
        """A Stable group in its first generation: client -> member id; the first one leads. `request` has the
        arguments of a client's joins, by its name."""
        members = {client: self.known(client) for client in clients}
        for client, member in members.items():
            assert self.join(client, member, **request.get(client, {})) is None
        self.open_barrier()
        for client in clients:
            assert self.taken("JoinGroup", client)["errorCode"] == 0
        for client, member in reversed(members.items()):
            self.sync(
                client, member, self.group["generation"], {name: f"of {name}" for name in members.values()}
            )
        self.late.clear()
        assert self.group["state"] == "Stable"
        return members
