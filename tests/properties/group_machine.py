"""Events of a group, drawn by Hypothesis: the rules of the state machine."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import cycle
from typing import Any, ClassVar, TypeVar

from client_process import REBALANCE_MS, Process
from group_run import DELIVERED, IN_FLIGHT, LOST, Run
from group_views import compacted
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from line_protocol import (
    GROUP,
    INVALID_REQUEST,
    UNSUPPORTED_ASSIGNOR,
    Connection,
    Json,
    Partitions,
    commit_body,
    in_process,
    to_wire,
)
from reference_group import AWAY

from harness.kinds.consumer.scenario.from_ops import scenario_from_ops

T = TypeVar("T")
Says = tuple[list[str] | None, str | None]
"""Topic names and regular expression."""
Data = st.DataObject

PROCESSES = 6
NAMES = ("bar", "foo", "fox")
TOPIC_ID = "{:08x}-0000-4000-8000-000000000000"

fates = st.sampled_from((DELIVERED, DELIVERED, LOST, IN_FLIGHT))
INSTANCES = ("i", "j", "k")
instances = st.sampled_from(INSTANCES)
names = st.lists(st.sampled_from(NAMES), unique=True, max_size=3).map(sorted)
regexes = st.sampled_from(("fo.", "foo|bar", "f.*", ".*", "o"))
assignors = st.sampled_from((None, "uniform", "range"))
subscriptions = st.one_of(
    st.tuples(names.filter(bool), st.none()), st.tuples(st.none(), regexes), st.tuples(names, regexes)
)

WRONG: Sequence[tuple[Json, int]] = (
    ({"memberEpoch": -3}, INVALID_REQUEST),
    ({"memberEpoch": AWAY}, INVALID_REQUEST),
    ({"instanceId": ""}, INVALID_REQUEST),
    ({"rebalanceTimeoutMs": 0}, INVALID_REQUEST),
    ({"subscribedTopicNames": None}, INVALID_REQUEST),
    ({"subscribedTopicNames": ["foo", "foo"]}, INVALID_REQUEST),
    ({"subscribedTopicRegex": "("}, INVALID_REQUEST),
    ({"serverAssignor": ""}, INVALID_REQUEST),
    ({"serverAssignor": "sticky"}, UNSUPPORTED_ASSIGNOR),
    ({"memberId": "", "memberEpoch": 1}, INVALID_REQUEST),
    ({"topicPartitions": to_wire([(TOPIC_ID.format(1), -1)])}, INVALID_REQUEST),
)
"""H3, H4: the fault of an invalid join, and its error."""


class GroupMachine(RuleBasedStateMachine):
    """A state machine whose rules draw the acting processes; `group_run.Run` does the events and checks
    everything."""

    connect: ClassVar[Any] = staticmethod(in_process)

    def __init__(self) -> None:
        super().__init__()
        self.connection: Connection = self.connect()
        self.run: Run
        self.started = 0
        self.topic_ids = 0

    @initialize(
        sizes=st.dictionaries(st.sampled_from(NAMES), st.integers(1, 4), min_size=1),
        max_size=st.sampled_from((100, 100, 4)),
        first=st.lists(st.tuples(st.sampled_from((None, *INSTANCES)), subscriptions), min_size=1, max_size=3),
    )
    def begin(self, sizes: dict[str, int], max_size: int, first: list[tuple[str | None, Says]]) -> None:
        self.run = Run(self.connection, max_size)
        self.run.change_topics([self.topic(name, sizes[name]) for name in sorted(sizes)])
        for instance, says in first:
            self.join(instance, True, says, None, DELIVERED)

    def topic(self, name: str, partitions: int) -> Json:
        """A topic with an id that no other has had (T2)."""
        self.topic_ids += 1
        return {"name": name, "id": TOPIC_ID.format(self.topic_ids), "partitions": partitions}

    def who(self, *, joined: bool = False, idle: bool = True) -> list[Process]:
        """Processes that have joined, and that wait for no answer."""
        return [
            process
            for process in self.run.processes
            if not (joined and not process.epoch) and not (idle and process.response)
        ]

    # Processes

    @precondition(lambda self: len(self.run.processes) < PROCESSES)
    @rule(has_id=st.booleans(), says=subscriptions, assignor=assignors, fate=fates)
    def start(self, has_id: bool, says: Says, assignor: str | None, fate: str) -> None:
        """A process starts and joins (H1)."""
        self.join(None, has_id, says, assignor, fate)

    @precondition(lambda self: len(self.run.processes) < PROCESSES)
    @rule(data=st.data(), says=st.none() | subscriptions, assignor=assignors, fate=fates)
    def start_static(self, data: Data, says: Says | None, assignor: str | None, fate: str) -> None:
        """S1, S2: in its place, if the holder of the instance id is away, perhaps with the same fields; else
        the instance id is taken, or free."""
        away = {m.instance: m for m in self.run.state.members.values() if m.epoch == AWAY and m.instance}
        taken = {member.instance for member in self.run.state.members.values()}
        free = [instance for instance in INSTANCES if instance not in taken]
        instance = _one(data, [*(sorted(away) or free), *INSTANCES])
        if says is None and (former := away.get(instance)):
            says, assignor = (sorted(former.names), former.regex), former.assignor
        self.join(instance, True, says or (["foo"], None), assignor, fate)

    def join(self, instance: str | None, has_id: bool, says: Says, assignor: str | None, fate: str) -> None:
        self.started += 1
        process = Process(f"m{self.started}" if has_id else "", instance, *says, assignor)
        self.run.processes.append(process)
        self.run.exchange(process, process.heartbeat(), fate)

    @precondition(lambda self: self.who())
    @rule(data=st.data(), reports=st.booleans(), fate=fates)
    def heartbeat(self, data: Data, reports: bool, fate: str) -> None:
        process = _one(data, self.who())
        self.run.exchange(process, process.heartbeat(reports), fate)

    @precondition(lambda self: self.who())
    @rule(data=st.data(), fate=fates)
    def report(self, data: Data, fate: str) -> None:
        """A process carries out its assignment, and reports that."""
        process = _one(data, self.who())
        process.finish_revocation()
        self.run.exchange(process, process.heartbeat(), fate)

    @precondition(lambda self: self.who())
    @rule(
        rounds=st.integers(1, 3),
        ms=st.sampled_from((0, 0, 3_000)),
        does=st.lists(st.booleans(), min_size=1, max_size=3),
        fate=st.lists(fates, min_size=1, max_size=5),
    )
    def everybody_heartbeats(self, rounds: int, ms: int, does: list[bool], fate: list[str]) -> None:
        """Time passes, and all report their partitions, having carried out their assignments, or not yet."""
        turns = zip(cycle(does), cycle(fate), strict=False)
        for _ in range(rounds):
            self.run.advance(ms)
            for process, (finishes, arrives) in zip(self.who(), turns, strict=False):
                if finishes:
                    process.finish_revocation()
                self.run.exchange(process, process.heartbeat(reports=True), arrives)

    @precondition(lambda self: self.who())
    @rule(data=st.data())
    def log_fails(self, data: Data) -> None:
        """P3: while the log takes no records."""
        process = _one(data, self.who())
        self.run.exchange(process, process.heartbeat(), DELIVERED, fails=True)

    @precondition(lambda self: any(process.response for process in self.run.processes))
    @rule(data=st.data(), arrives=st.booleans())
    def receive_response(self, data: Data, arrives: bool) -> None:
        process = _one(data, [process for process in self.run.processes if process.response])
        sent = process.response
        assert sent is not None
        if arrives:
            self.run.deliver(process, sent)
        else:
            process.response, process.full = None, True

    @precondition(lambda self: any(process.revoking for process in self.run.processes))
    @rule(data=st.data(), commits=st.booleans())
    def finish_revocation(self, data: Data, commits: bool) -> None:
        """K2; O3: a member commits the records that it has processed before it gives up their partitions."""
        process = _one(data, [process for process in self.run.processes if process.revoking])
        if commits:
            self.commit_owned(process, 1000 + self.started, process.owned - process.assigned, True)
        process.finish_revocation()
        self.run.check_members()

    @precondition(lambda self: self.who())
    @rule(data=st.data(), says=subscriptions, assignor=assignors)
    def change_subscription(self, data: Data, says: Says, assignor: str | None) -> None:
        """E1, T1: the next heartbeat reports the changed subscription."""
        process = _one(data, self.who())
        process.names, process.regex = says
        process.assignor, process.full = assignor or process.assignor, True

    @precondition(lambda self: self.run.processes)
    @rule(data=st.data(), sends=st.booleans())
    def crash(self, data: Data, sends: bool) -> None:
        """R9: a last request of the crashed process may arrive later."""
        process = _one(data, self.run.processes)
        if sends and not process.response:
            self.run.late.append(process.heartbeat(data.draw(st.booleans())))
        self.run.processes.remove(process)

    @precondition(lambda self: self.who(joined=True))
    @rule(data=st.data(), fate=fates)
    def leave(self, data: Data, fate: str) -> None:
        """H2."""
        self.say_goodbye(_one(data, self.who(joined=True)), -1, fate)

    @precondition(lambda self: any(process.instance for process in self.who(joined=True)))
    @rule(data=st.data(), fate=fates, again=st.sampled_from((None, None, DELIVERED, LOST)))
    def leave_temporarily(self, data: Data, fate: str, again: str | None) -> None:
        """S1: the successor may start at once, with the same subscription."""
        former = _one(data, [process for process in self.who(joined=True) if process.instance])
        self.say_goodbye(former, AWAY, fate)
        if again:
            self.join(former.instance, True, (former.names, former.regex), former.assignor, again)

    def say_goodbye(self, process: Process, epoch: int, fate: str) -> None:
        """The process ends; its request may arrive later."""
        self.run.processes.remove(process)
        if fate == IN_FLIGHT:
            self.run.late.append(process.leave(epoch))
            return
        self.run.request(process.leave(epoch))
        if fate == DELIVERED:
            self.run.acknowledge()

    @precondition(lambda self: self.run.late)
    @rule(data=st.data(), again=st.booleans())
    def receive_late(self, data: Data, again: bool) -> None:
        """The request of a process that ended arrives, and may arrive again."""
        body = _one(data, self.run.late)
        if not again:
            self.run.late.remove(body)
        self.run.request(body)
        self.run.check_members()

    @precondition(lambda self: len(self.run.processes) < PROCESSES)
    @rule(data=st.data(), says=subscriptions, fate=fates)
    def restart_process(self, data: Data, says: Says, fate: str) -> None:
        """A dynamic member returns under its member id: a Rejoin where the group still has it."""
        alive = {process.member_id for process in self.run.processes}
        gone = [m for m, member in self.run.state.members.items() if m not in alive and not member.instance]
        if not gone:
            return
        process = Process(_one(data, gone), None, *says, None)
        self.run.processes.append(process)
        self.run.exchange(process, process.heartbeat(), fate)

    # Offsets

    def commit_owned(self, process: Process, offset: int, partitions: Partitions, heard: bool) -> None:
        offsets = dict.fromkeys(partitions, offset)
        if offsets and process.epoch:
            self.run.commit(commit_body(process.member_id, process.epoch, offsets), process)
            if heard:
                self.run.acknowledge()

    @precondition(lambda self: any(process.owned for process in self.run.processes))
    @rule(data=st.data(), offset=st.integers(0, 999), more=st.booleans(), heard=st.booleans())
    def commit(self, data: Data, offset: int, more: bool, heard: bool) -> None:
        """O2: a commit of partitions that the process owns (the process may be a zombie, the topic deleted),
        and of a partition that never existed."""
        process = _one(data, [process for process in self.run.processes if process.owned])
        nowhere = {(TOPIC_ID.format(0xFFFF), 0)} if more else set()
        self.commit_owned(process, offset, process.owned | nowhere, heard)
        self.run.fetch(process.member_id, process.epoch)

    @precondition(lambda self: not self.run.state.members and self.run.reference.topics)
    @rule(data=st.data(), offset=st.integers(0, 999))
    def commit_of_an_administrator(self, data: Data, offset: int) -> None:
        """O2: while the group has no members."""
        topic_id, _ = _one(data, sorted(self.run.reference.topics.values()))
        assert self.run.commit(commit_body("", -1, {(topic_id, 0): offset})) == [0]

    @rule(data=st.data(), index=st.integers(-1, 4), offset=st.integers(-1, 9), by_name=st.booleans())
    def commit_of_a_stranger(self, data: Data, index: int, offset: int, by_name: bool) -> None:
        """O1, O2: a commit under the name of any member, at any epoch; or by an administrator. No such commit
        counts as the owner's, so a member's own epoch is used only for a topic that does not exist."""
        members = self.run.state.members
        member_id = _one(data, ["", "nobody", *members])
        epochs = [-1, 0, 1, 99]
        member = members.get(member_id)
        epoch = _one(data, [epoch for epoch in epochs if member is None or epoch != member.epoch])
        ids = {topic_id: name for name, (topic_id, _) in self.run.reference.topics.items()}
        topic_id = _one(data, [TOPIC_ID.format(0xFFFF), *ids])
        if member is not None and topic_id not in ids:
            epoch = member.epoch
        self.run.commit(commit_body(member_id, epoch, {(topic_id, index): offset}, ids if by_name else None))
        self.run.fetch(member_id, epoch)

    # Requests that are refused

    @rule(data=st.data(), what=st.sampled_from(("join", "invalid", "member", "stranger")))
    def refused_request(self, data: Data, what: str) -> None:
        """H3, H4; H5: a member's id with an epoch that the member cannot have; S2: an id that is not a
        member's."""
        members, instance = sorted(self.run.state.members), data.draw(st.none() | instances)
        if what == "invalid":
            fields, code = _one(data, WRONG)
            self.run.request({**join_body("nobody"), **fields}, invalid=code)
        elif what == "member" and members:
            epoch = self.run.state.epoch + 1
            self.run.request({**join_body(_one(data, members)), "memberEpoch": epoch, "instanceId": instance})
        else:
            epoch = 0 if what == "join" else _one(data, (AWAY, -1, 7))
            instance = instance or "l" if epoch == AWAY else instance
            self.run.request({**join_body("nobody"), "memberEpoch": epoch, "instanceId": instance})
        self.run.check_members()

    # Topics, time, fail-over

    @rule(name=st.sampled_from(NAMES), partitions=st.integers(0, 4), again=st.booleans())
    def change_topic(self, name: str, partitions: int, again: bool) -> None:
        """E1, T2: created, grown, deleted (0 partitions); or deleted and created `again`, at once."""
        topic_id, known = self.run.reference.topics.get(name, ("", 0))
        if known and (not partitions or again):
            self.run.change_topics(delete=[name])
            known = 0
        if partitions > known:
            topic = self.topic(name, partitions) if not known else None
            self.run.change_topics([topic or {"name": name, "id": topic_id, "partitions": partitions}])
        self.run.check_members()

    @rule(ms=st.sampled_from((1, 1, REBALANCE_MS - 1, REBALANCE_MS, 15_000, 45_000)))
    def advance(self, ms: int) -> None:
        self.run.advance(ms)
        self.run.check_members()

    @precondition(lambda self: self.run.state.members)
    @rule(data=st.data())
    def fire(self, data: Data) -> None:
        """H8, R4."""
        armed = sorted(self.run.reference.timers(), key=lambda timer: (timer[1], timer[0]))
        self.run.fire(*_one(data, armed))
        self.run.check_members()

    @precondition(
        lambda self: (
            self.run.state.empty_at is not None
            and not self.run.late
            and not any(process.epoch or process.response for process in self.run.processes)
        )
    )
    @rule()
    def delete_group(self) -> None:
        """E5: the group is deleted long after it became empty; no process believes to be a member any
        more."""
        self.run.fire("group", "")

    @rule(lost=st.integers(0, 4), inside=st.integers(0, 9))
    def restart(self, lost: int, inside: int) -> None:
        """P2, P3."""
        self.run.restart(lost, inside)

    @precondition(lambda self: self.run.records)
    @rule(data=st.data(), tombstones=st.booleans(), volatile=st.booleans(), goes_on=st.booleans())
    def compact(self, data: Data, tombstones: bool, volatile: bool, goes_on: bool) -> None:
        """P3: any range of the log, with or without the tombstones that it makes needless."""
        records = self.run.records
        first = data.draw(st.integers(0, len(records) - 1))
        last = data.draw(st.integers(first, len(records) - 1))
        fewer = compacted(records, first, last, tombstones)
        self.run.check_load(fewer, volatile)
        if goes_on:
            self.run.go_on_from(fewer)

    def teardown(self) -> None:
        """Print the failure as a scenario file for traces/golden/."""
        try:
            if sys.exc_info()[0] is not None and current_build_context().is_final:
                note(SCENARIO + scenario_from_ops(self.connection.ops))
        finally:
            self.connection.close()


SCENARIO = "as a scenario, for a file in traces/golden/:\n\n"


def join_body(member_id: str) -> Json:
    return {
        "groupId": GROUP,
        "memberId": member_id,
        "memberEpoch": 0,
        "rebalanceTimeoutMs": REBALANCE_MS,
        "subscribedTopicNames": ["foo"],
        "topicPartitions": [],
    }


def _one(data: Data, candidates: Sequence[T]) -> T:
    chosen: T = data.draw(st.sampled_from(list(candidates)))
    return chosen
