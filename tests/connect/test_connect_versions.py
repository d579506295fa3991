"""W1, W4: the versions that workers' assignors read; traces/connect/MCConnectVersions-* have the rest."""

from __future__ import annotations

from typing import Any

from coordinator import Coordinator, SimulatedClock

Json = dict[str, Any]
UNSUPPORTED_ASSIGNOR = 112


class Workers:
    """The workers of one group, each with its assignors: (name, first version, last version)."""

    def __init__(self) -> None:
        self.coordinator = Coordinator(clock=SimulatedClock())

    def join(self, worker: str, *offers: tuple[str, int, int]) -> Json:
        """ConnectGroupHeartbeat at member epoch 0."""
        given = [
            {
                "name": name,
                "minimumVersion": least,
                "maximumVersion": most,
                "version": least,
                "reason": 0,
                "metadata": "",
            }
            for name, least, most in offers
        ]
        body = {"groupId": "g", "memberId": worker, "memberEpoch": 0, "rebalanceTimeoutMs": 60_000}
        more: Json = {"connectorsAndTasks": [], "clientAssignors": given}
        return self.coordinator.request("ConnectGroupHeartbeat", 0, {}, {**body, **more})

    def wait(self, worker: str) -> Json:
        """ConnectGroupHeartbeat at member epoch 0 of a worker that has joined: nothing has changed."""
        body = {"groupId": "g", "memberId": worker, "memberEpoch": 0, "rebalanceTimeoutMs": -1}
        return self.coordinator.request("ConnectGroupHeartbeat", 0, {}, body)

    def leave(self, worker: str) -> Json:
        """ConnectGroupHeartbeat at member epoch -1."""
        body = {"groupId": "g", "memberId": worker, "memberEpoch": -1}
        return self.coordinator.request("ConnectGroupHeartbeat", 0, {}, body)

    @property
    def chosen(self) -> str:
        """The member that computes the target."""
        return str(self.coordinator.describe("g")["chosen"])


def test_versions_that_overlap_with_nobodys_are_refused() -> None:
    workers = Workers()
    workers.join("w1", ("x", 3, 4))
    before = workers.coordinator.end
    refused = workers.join("w2", ("x", 1, 2))
    assert refused["errorCode"] == UNSUPPORTED_ASSIGNOR
    assert "Versions 1 to 2 of x overlap with those of no other member" in refused["errorMessage"]
    assert workers.coordinator.end == before
    assert workers.join("w2", ("x", 5, 6))["errorCode"] == UNSUPPORTED_ASSIGNOR
    assert workers.join("w2", ("x", 4, 6))["errorCode"] == 0
    assert workers.join("w3", ("x", 5, 6))["errorCode"] == 0, "with those of w2, if not of w1"


def test_a_worker_may_come_back_with_other_versions_if_it_is_alone() -> None:
    workers = Workers()
    workers.join("w1", ("x", 3, 4))
    assert workers.join("w1", ("x", 1, 2))["errorCode"] == 0


def test_versions_are_judged_where_a_waiting_worker_gives_them() -> None:
    """The versions of w1 and of w2 overlap only with those of w3, and w3 leaves: w1, which waits, stays as
    long as it gives no versions."""
    workers = Workers()
    for worker, least, most in (("w3", 2, 5), ("w1", 4, 4), ("w2", 1, 3)):
        assert workers.join(worker, ("x", least, most))["errorCode"] == 0
    workers.leave("w3")
    assert workers.wait("w1")["errorCode"] == 0
    refused = workers.join("w1", ("x", 4, 4))
    assert refused["errorCode"] == UNSUPPORTED_ASSIGNOR
    assert workers.join("w1", ("x", 3, 4))["errorCode"] == 0


def test_other_assignors_are_not_compared() -> None:
    """Versions of y are compared with no other; the group uses x, which all offer."""
    workers = Workers()
    workers.join("w1", ("x", 3, 4))
    assert workers.join("w2", ("y", 1, 2))["errorCode"] == UNSUPPORTED_ASSIGNOR
    assert workers.join("w2", ("y", 1, 2), ("x", 3, 4))["errorCode"] == 0
    assert workers.chosen == "w1"


def test_the_worker_that_reads_all_versions_computes() -> None:
    """The draft's example: A 1 to 5, B 3 to 4, C 2 to 4."""
    workers = Workers()
    workers.join("b", ("x", 3, 4))
    workers.join("c", ("x", 2, 4))
    assert workers.chosen == "c"
    workers.join("z", ("x", 1, 5))
    assert workers.chosen == "z"
    workers.coordinator.restart()
    assert workers.chosen == "z"
