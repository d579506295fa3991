"""The draft's case studies on the coordinator, state by state as printed, corrected where the draft
contradicts itself (W3); what it prints there is not what comes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from coordinator import Coordinator, SimulatedClock
from coordinator.connect import wire
from coordinator.model import Partition

STUDIES = sorted((Path(__file__).parent / "studies").glob("*.yaml"))
Shown = dict[str, tuple[int, set[str]]]


def resource(name: str) -> Partition:
    """BC0 is connector B, AT2 the second task of A."""
    connector, kind, number = re.fullmatch(r"([A-Z])([CT])(\d)", name).groups()  # type: ignore[union-attr]
    assert (kind == "C") == (number == "0")
    return connector, int(number)


def resources(names: list[str]) -> list[dict[str, Any]]:
    return wire.to_wire(frozenset(map(resource, names)))


def printed(given: list[dict[str, Any]] | None) -> set[str]:
    """Connectors and tasks as the draft prints them."""
    found = wire.from_wire(given or [], "a test")
    return {f"{name}{'T' if number else 'C'}{number}" for name, number in found}


class Study:
    """A case study as it goes on."""

    def __init__(self, text: dict[str, Any]) -> None:
        self.coordinator = Coordinator(clock=SimulatedClock())
        topics = [
            {
                "name": name,
                "id": f"00000000-0000-0000-0000-00000000000{name.lower()}",
                "partitions": tasks + 1,
            }
            for name, tasks in text["connectors"].items()
        ]
        self.coordinator.set_topics(topics, [])
        if "first" in text:
            self._start(text["first"], topics)

    def _start(self, first: dict[str, Any], topics: list[dict[str, Any]]) -> None:
        """The workers at one epoch with all of their target."""
        for name in first["workers"]:
            self.send(name, 0, [])
        records = [one for one in self.coordinator.records() if "Target" not in one["key"]["type"]]
        for name, work in first["workers"].items():
            values = {
                "ConnectGroupTargetAssignmentMember": {"error": 0, "connectorsAndTasks": resources(work)},
                "ConnectGroupCurrentMemberAssignment": {
                    "memberEpoch": first["epoch"],
                    "connectorsAndTasks": resources(work),
                },
            }
            records += [
                {"offset": 0, "key": {"type": kind, "groupId": "g", "memberId": name}, "value": value}
                for kind, value in values.items()
            ]
        for kind, name in (
            ("ConnectGroupMetadata", "epoch"),
            ("ConnectGroupTargetAssignmentMetadata", "assignmentEpoch"),
        ):
            records.append(
                {"offset": 0, "key": {"type": kind, "groupId": "g"}, "value": {name: first["epoch"]}}
            )
        self.coordinator.load(records, topics, {})
        volatile = self.coordinator.volatile()
        volatile["connect"]["g"]["chosen"] = first["chosen"]
        self.coordinator.load(records, topics, volatile)

    def send(
        self, name: str, epoch: int, owns: list[str] | None, reason: int | None = None, error: int = 0
    ) -> dict[str, Any]:
        body: dict[str, Any] = {"groupId": "g", "memberId": name, "memberEpoch": epoch}
        body |= {"rebalanceTimeoutMs": 60_000} if epoch == 0 else {}
        body["connectorsAndTasks"] = None if owns is None else resources(owns)
        if epoch == 0 or reason is not None:
            offer = {"name": "compatible", "minimumVersion": 0, "maximumVersion": 2, "version": 1}
            body["clientAssignors"] = [{**offer, "reason": reason or 0, "metadata": ""}]
        answer = self.coordinator.request("ConnectGroupHeartbeat", 0, {"id": name}, body)
        assert answer["errorCode"] == error
        return answer

    def epoch(self, name: str) -> int:
        members = {one["memberId"]: one["memberEpoch"] for one in self.coordinator.describe("g")["members"]}
        return int(members.get(name, 0))

    def compute(self, name: str, gives: dict[str, list[str]]) -> None:
        """The chosen worker is told to compute; it is given all lost work, and installs."""
        assert self.send(name, self.epoch(name), None)["shouldComputeAssignment"]
        caller = {"groupId": "g", "memberId": name, "memberEpoch": self.epoch(name)}
        asked = self.coordinator.request("ConnectGroupPrepareAssignment", 0, {}, caller)
        assert asked["errorCode"] == 0
        gone = {one["memberId"]: one for one in asked["members"] if one["memberEpoch"] == -1}
        assert gone.keys() == self.lost().keys()
        members = [
            {"memberId": who, "connectorsAndTasks": resources(work), "version": 0, "metadata": ""}
            for who, work in gives.items()
        ]
        body = {**caller, "groupEpoch": asked["groupEpoch"], "error": 0, "members": members}
        assert self.coordinator.request("ConnectGroupInstallAssignment", 0, {}, body)["errorCode"] == 0

    def do(self, step: dict[str, Any]) -> None:
        if "join" in step:
            assert self.send(step["join"], 0, [])["memberEpoch"] == 0
        elif "compute" in step:
            self.compute(step["compute"], step["gives"])
        elif "session timeout" in step:
            assert self.coordinator.fire("session", "g", step["session timeout"])
        else:
            name = step["heartbeat"]
            epoch, error = step.get("epoch", self.epoch(name)), step.get("error", 0)
            answer = self.send(name, epoch, step.get("owns"), step.get("reason"), error)
            if "told" in step:
                assert printed(answer["assignment"]["connectorsAndTasks"]) == set(step["told"])

    def workers(self) -> Shown:
        return {
            one["memberId"]: (
                one["memberEpoch"],
                printed(one["assigned"]) | printed(one["pendingRevocation"]),
            )
            for one in self.coordinator.describe("g")["members"]
        }

    def lost(self) -> dict[str, set[str]]:
        lost = self.coordinator.describe("g")["lost"]
        return {one["memberId"]: printed(one["connectorsAndTasks"]) for one in lost}


def shown(workers: dict[str, list[Any]]) -> Shown:
    return {name: (epoch, set(work)) for name, (epoch, work) in workers.items()}


@pytest.mark.parametrize("path", STUDIES, ids=[path.stem for path in STUDIES])
def test_a_case_study_goes_as_printed(path: Path) -> None:
    text = yaml.safe_load(path.read_text())
    study = Study(text)
    corrected = 0
    for step in text["steps"]:
        study.do(step)
        found = study.coordinator.describe("g")
        epochs = {"epoch": found["groupEpoch"], "assignment": found["assignmentEpoch"]}
        target = {one["memberId"]: printed(one["target"]) for one in found["members"] if one["target"]}
        assert epochs == step["group"], step
        assert target == {name: set(work) for name, work in step["target"].items()}, step
        assert study.workers() == shown(step["workers"]), step
        assert study.lost() == {name: set(work) for name, work in step.get("lost", {}).items()}, step
        if "uncorrected" in step:
            corrected += 1
            assert study.workers() != shown(step["uncorrected"])
    assert found["state"] == "Stable"
    assert corrected


def test_all_case_studies_are_there() -> None:
    assert [path.stem for path in STUDIES] == ["bouncing", "joins", "leaving"]
