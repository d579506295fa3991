"""A replay of a trace of spec/Cooperative.tla on members and a coordinator: processes and coordinator do the
steps of the trace; after each step all their knowledge is compared with the specification's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scripted_member import COOPERATIVE, EAGER, Partitions, ScriptedAssignor, named

from coordinator import Coordinator
from coordinator.members.classic import ClassicConsumer, ClassicMember, Phase, Settings
from coordinator.members.consumer import Listener
from harness.itf import Trace
from harness.replay import wire
from harness.replay.decode import Decoder
from harness.values import as_function

CONFIGS = {
    "old": [("range", EAGER)],
    "both": [("cooperative-sticky", COOPERATIVE), ("range", EAGER)],
    "new": [("cooperative-sticky", COOPERATIVE)],
}
"""Each configuration's assignors, as in spec/MCCooperative.tla."""

APIS = {"JoinGroup": "JoinGroup", "SyncGroup": "SyncGroup", "ClassicHeartbeat": "Heartbeat"}


class Heard(Listener):
    """The callbacks since the last look, in the specification's form."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def on_partitions_revoked(self, partitions: Partitions) -> None:
        self.names.append("revoked")

    def on_partitions_assigned(self, partitions: Partitions) -> None:
        self.names.append("assigned")

    def on_partitions_lost(self, partitions: Partitions) -> None:
        self.names.append("lost")

    def taken(self) -> str:
        names, self.names = self.names, []
        return " ".join(names)


@dataclass
class Process:
    """A process that is up."""

    consumer: ClassicConsumer
    assignors: list[ScriptedAssignor]
    heard: Heard = field(default_factory=Heard)

    @property
    def member(self) -> ClassicMember:
        return self.consumer.member


class Replay:
    """A replay; `make` makes the member of a process: a test may give a wrong one."""

    def __init__(self, trace: Trace, make: Callable[..., ClassicMember] = ClassicMember) -> None:
        self.states, self.make = trace.states, make
        self.coordinator = Coordinator()
        self.coordinator.configure(Decoder().decode(trace, "t").configuration)
        self.processes: dict[str, Process] = {}
        self.now_ms = 0
        for name, client in self.clients(0).items():
            if client["up"]:
                self.start(0, name)

    def clients(self, index: int) -> dict[str, Any]:
        return dict(as_function(self.states[index]["clients"]))

    def topics(self, index: int) -> dict[str, int]:
        return dict(as_function(self.states[index]["topics"]))

    def start(self, index: int, name: str) -> None:
        config = as_function(self.states[index]["config"])[name]
        assignors = [ScriptedAssignor([], *each) for each in CONFIGS[config]]
        member = self.make(Settings(wire.GROUP, subscription_version=1), assignors)
        heard = Heard()
        self.processes[name] = Process(
            ClassicConsumer(member, self.coordinator, name, heard), assignors, heard
        )
        member.topics_are(self.topics(index), self.now_ms)
        member.subscribe(self.clients(index)[name]["subscription"], self.now_ms)

    def run(self) -> int:
        """Do all steps; their number. AssertionError, with the step, for a difference."""
        for index in range(1, len(self.states)):
            step = self.states[index]["step"]
            self.do(index, step["action"], step["member"], step)
            for one in self.coordinator.others.classic.take_completed():
                name = one["id"].split()[1]
                if name in self.processes:
                    self.processes[name].consumer.complete(one["body"])
            if step["action"] == "FailOver":
                self.lose_what_waits()
            self.compare(index, step)
        return len(self.states) - 1

    def lose_what_waits(self) -> None:
        for process in self.processes.values():
            if process.consumer.waits and not process.consumer.answered:
                process.consumer.lose(self.now_ms)

    def do(self, index: int, action: str, name: str, step: Any) -> None:
        self.now_ms += 10_000
        process = self.processes.get(name)
        match action:
            case "SessionTimeout" | "JoinTimeout" | "SyncTimeout":
                self.coordinator.fire(action.removesuffix("Timeout").lower(), wire.GROUP, name)
            case "FailOver":
                self.coordinator.restart()
            case "AddPartitions" | "DeleteTopic":
                pass
            case "Start":
                self.start(index, name)
            case "Crash" | "LeaveGroup":
                self.end(index, action, name)
            case _:
                assert process is not None, f"{index}: {action} of {name}, which is down"
                self.member_does(index, action, process, step)

    def end(self, index: int, action: str, name: str) -> None:
        """A process ends, or leaves and ends; one that is bounced starts again."""
        process = self.processes.pop(name, None)
        if action == "LeaveGroup":
            assert process is not None
            process.member.close()
            process.consumer.run_callbacks(self.now_ms)
            request = process.consumer.send(self.now_ms)
            assert request is not None and request.api == "LeaveGroup"
        if self.clients(index)[name]["up"]:
            self.start(index, name)

    def member_does(self, index: int, action: str, process: Process, step: Any) -> None:
        member, consumer = process.member, process.consumer
        if action in APIS:
            self.send(index, process, step)
        elif action == "ReceiveResponse":
            if self.clients(index)[step["member"]]["phase"] == "join":  # it looks at the topics (C6)
                member.topics_are(self.topics(index), self.now_ms)
            consumer.receive(self.now_ms)
        elif action == "LoseResponse":
            consumer.lose(self.now_ms)
        elif action == "NoticeTopics":
            member.topics_are(self.topics(index), self.now_ms)
        elif action == "ChangeSubscription":
            member.subscribe(self.clients(index)[step["member"]]["subscription"], self.now_ms)
        else:
            assert action == "AssignmentFails", action
            for assignor in process.assignors:
                assignor.error = RuntimeError("it fails")
            assert consumer.send(self.now_ms) is None
            for assignor in process.assignors:
                assignor.error = None
        if action not in APIS:
            consumer.run_callbacks(self.now_ms)
            assert process.heard.taken() == step["branch"], f"{index}: callbacks of {action}"

    def send(self, index: int, process: Process, step: Any) -> None:
        """A request: the right one, and the same answer."""
        if not step["request"]["member"]:
            self.coordinator.use_ids([step["member"]])
        given = as_function(step["request"]["assignments"])
        for assignor in process.assignors:
            assignor.result = {name: next(iter(some)) for name, some in given.items() if some}
        process.member.topics_are(self.topics(index), self.now_ms)
        request = process.consumer.send(self.now_ms)
        assert request is not None and request.api == APIS[step["action"]], f"{index}: {request}"
        assert process.heard.taken() == ""

    def compare(self, index: int, step: Any) -> None:
        where = f"state {index}, after {step['action']} of {step['member']}"
        group, real = self.states[index]["group"], self.coordinator.others.classic.groups.get(wire.GROUP)
        if real is not None:
            assert (real.state, real.generation) == (group["state"], group["generation"]), where
        owners: dict[str, Partitions] = {}
        for name, client in self.clients(index).items():
            process = self.processes.get(name)
            up = process is not None and process.member.phase is not Phase.FAILED
            assert up == client["up"], f"{where}: is {name} up?"
            if process is None or not up:
                continue
            assert named(process.member.owned) == named(client["owned"]), f"{where}: {name} owns"
            assert process.member.phase.value == client["phase"], f"{where}: {name} is"
            if client["phase"] != "join":
                assert process.member.generation == client["generation"], f"{where}: {name}'s generation"
            if real is not None and process.member.member_id in real.members:
                assert not any(process.member.owned & other for other in owners.values()), where
                owners[name] = process.member.owned
