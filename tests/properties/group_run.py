"""One run: a coordinator, the processes of its group, the reference; every step is checked as made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from client_process import Process, Sent
from group_views import (
    Log,
    View,
    add_records,
    check_disjoint,
    check_epochs,
    check_never_decreases,
    described_view,
    durable,
    log_offsets,
    log_view,
    reference_view,
)
from line_protocol import (
    CLIENT,
    COMMIT,
    COORDINATOR_NOT_AVAILABLE,
    FENCED_MEMBER_EPOCH,
    GROUP,
    HEARTBEAT,
    VERSIONS,
    Connection,
    Json,
    Partition,
    check_heartbeat_response,
    commit_codes,
    in_process,
    partitions_of,
    volatile_of,
)
from reference_group import Expected, ReferenceGroup, State

DELIVERED, IN_FLIGHT, LOST = "delivered", "in flight", "lost"


class Kept(NamedTuple):
    """The durable state after an operation: the end of the log, the group, and the number of batches (P4)."""

    end: int
    state: State
    batches: int


class Run:
    """Steps of one group. Each step raises AssertionError where the coordinator departs from the
    reference."""

    def __init__(self, connection: Connection, max_size: int) -> None:
        self.connection = connection
        self.reference = ReferenceGroup(max_size)
        self.processes: list[Process] = []
        self.late: list[Json] = []
        """Requests of processes that ended, which may still arrive."""
        self.records: list[Json] = []
        self.floor = 0
        """P3: the log up to this length was acknowledged, so no fail-over may lose it."""
        self._kept = [Kept(0, State(), 0)]
        self._last: Log = {}
        self._described = connection.describe()
        self._view = described_view(self._described)
        self._made = 0
        self._other = in_process()
        connection.do("configure", **{"group.consumer.max.size": max_size})

    @property
    def state(self) -> State:
        return self.reference.state

    # Processes

    def exchange(self, process: Process, body: Json, fate: str, fails: bool = False) -> None:
        """A request of a living process and its answer. An exchange that is lost is lost on the way back."""
        sent = self.request(body, fails=fails)
        if fate == IN_FLIGHT:
            process.response = sent
        elif fate == DELIVERED:
            self.deliver(process, sent)
        else:
            process.full = True
        self.check_members()

    def deliver(self, process: Process, sent: Sent) -> None:
        """The answer arrives: the log up to that answer counts as acknowledged now."""
        process.response = None
        self.floor = max(self.floor, sent.end)
        if not process.receive(sent):
            self.processes.remove(process)
        self.check_members()

    def is_zombie(self, process: Process) -> bool:
        """R7: the incarnation of the process has ended, and the process does not know yet."""
        member = self.state.members.get(process.member_id)
        return member is None or member.incarnation != process.incarnation

    def check_members(self) -> None:
        """R7, the members' view: a process that is no zombie owns only partitions that the coordinator
        assigned to it, and no other process owns them."""
        owners: dict[Partition, str] = {}
        for process in self.processes:
            if not process.owned or self.is_zombie(process):
                continue
            member = self._view["members"][process.member_id]
            unknown = process.owned - member["assigned"] - member["revoking"]
            assert not unknown, f"R7: {process.member_id} owns {sorted(unknown)}, which it does not hold"
            for partition in process.owned:
                other = owners.setdefault(partition, process.member_id)
                assert other == process.member_id, f"R7: {other} and {process.member_id} own {partition}"

    # Requests

    def request(self, body: Json, invalid: int = 0, fails: bool = False) -> Sent:
        """A heartbeat of any process; `invalid` is the error that its fields must get. Where the log `fails`,
        a request that would write records changes nothing (P3)."""
        if not body["memberId"] and not invalid:
            self._made += 1
            self.connection.do("ids", next=[f"made-{self._made}"])
        if fails:
            self.connection.do("commit", mode="fail")
        answer = self._do("request", api=HEARTBEAT, version=0, client=CLIENT, body=body)
        if fails:
            self.connection.do("commit", mode="auto")
        response, described = answer["body"], answer["group"]
        check_heartbeat_response(response, body["memberEpoch"] == 0)
        if fails and response["errorCode"] == COORDINATOR_NOT_AVAILABLE:
            self._check(answer, changes=False)
            return Sent(response, len(self.records), 0)
        made = response["memberId"] if not response["errorCode"] else f"made-{self._made}"
        expected = Expected(invalid)
        if not invalid:
            expected = self.reference.heartbeat(body, body["memberId"] or made, _targets(described))
        _compare(response, expected)
        reborn = [body["memberId"]] if body["memberEpoch"] == 0 else []
        refused = expected.code not in (0, FENCED_MEMBER_EPOCH)
        self._check(answer, reborn, changes=not refused)
        return Sent(response, len(self.records), expected.incarnation)

    def commit(self, body: Json, owner: Process | None = None) -> list[int]:
        """An OffsetCommit; `owner` is the process that commits partitions which it owns (O2)."""
        answer = self._do("request", api=COMMIT, version=VERSIONS[COMMIT], client=CLIENT, body=body)
        codes = commit_codes(body, answer["body"])
        assert codes == self.reference.commit(body), f"O2: {body}"
        if owner is not None and 0 in codes:
            assert not self.is_zombie(owner) and owner.epoch == self.state.members[owner.member_id].epoch
            overwritten = [p for p in owner.owned if self.state.granted[p] != owner.incarnation]
            assert not overwritten, f"O2: {owner.member_id} is not the owner of {overwritten} any more"
        self._check(answer, changes=0 in codes)
        return codes

    def fetch(self, member_id: str, epoch: int) -> None:
        """O2, O4: an OffsetFetch with a member id or an epoch is fenced, one with neither is not."""
        code, offsets = self.connection.fetch(member_id, epoch)
        named = member_id or epoch != -1
        assert code == (self.reference.fenced(member_id, epoch) if named else 0), f"O4: {member_id}"
        assert offsets == ({} if code else self.state.offsets), "O4"
        self.acknowledge()

    # Events

    def change_topics(self, upsert: Sequence[Json] = (), delete: Sequence[str] = ()) -> None:
        """E1, T2."""
        answer = self._do("topics", upsert=list(upsert), delete=list(delete))
        for name in delete:
            del self.reference.topics[name]
        for topic in upsert:
            self.reference.topics[topic["name"]] = (topic["id"], topic["partitions"])
        self.reference.topics = dict(sorted(self.reference.topics.items()))
        self.reference.notice_topics(_targets(answer["group"]))
        self._check(answer)

    def advance(self, ms: int) -> None:
        """Time passes up to the next timer, which fires, and on."""
        end_ms = self.reference.now_ms + ms
        while True:
            armed = self.reference.timers()
            next_ms = min(armed.values(), default=end_ms + 1)
            step_ms = min(next_ms, end_ms)
            answer = self._do("advance", ms=step_ms - self.reference.now_ms)
            self.reference.now_ms = step_ms
            fired = {(timer["timer"], timer["member"]) for timer in answer["fired"]}
            due = {timer for timer, deadline_ms in armed.items() if deadline_ms <= step_ms}
            removed = sorted({member for _, member in due})
            assert fired <= due and sorted(member for _, member in fired) == removed, "H8, R4: other timers"
            for member in removed:
                self.reference.remove(member, _targets(answer["group"]) if member == removed[-1] else None)
            self._check(answer, batches=len(removed))
            if step_ms == end_ms:
                return

    def fire(self, timer: str, member: str) -> None:
        """One timer runs out before its time."""
        answer = self._do("fire", timer=timer, group=GROUP, member=member)
        if timer == "group":
            self.reference.delete_group()
        else:
            self.reference.remove(member, _targets(answer["group"]))
        self._check(answer)

    def acknowledge(self) -> None:
        """A client saw an answer, so the log up to here may not be lost."""
        self.floor = len(self.records)

    def restart(self, lost: int, inside: int) -> None:
        """P2: the coordinator fails. The last `lost` operations are lost, whose records no client saw
        acknowledged, though `inside` records of the first of them were written: half a batch is no batch
        (P4)."""
        first = next(n for n, kept in enumerate(self._kept) if kept.end >= self.floor)
        at = max(len(self._kept) - 1 - lost, first)
        kept, gone = self._kept[at], self._kept[at + 1 :]
        for process in self.processes:
            if process.response is not None and process.response.end > kept.end:
                process.response, process.full = None, True
        if gone:
            more = min(inside, gone[0].end - kept.end - 1) if gone[0].batches == 1 else 0
            self.connection.do("restart", keep=kept.end + more)
        else:
            self.connection.do("restart")
        records = self.connection.look("records", since=0)["records"]
        assert records[: kept.end] == self.records[: kept.end], "P3: the log is not what it was"
        del self.records[kept.end :], self._kept[at + 1 :]
        self._last = {}
        add_records(self._last, self.records)
        described = self.connection.describe()
        check_disjoint(described_view(described))
        self.reference.fail_over(kept.state, _targets(described))
        self._view = reference_view(kept.state, {})
        self._check({"group": described, "records": records[kept.end :]})
        self.check_members()

    # After every step

    def _do(self, op: str, **fields: Any) -> Json:
        answer = self.connection.do(op, observe=GROUP, **fields)
        view = described_view(answer["group"])
        check_disjoint(view)
        check_epochs(view)
        return answer

    def _check(
        self, answer: Json, reborn: Iterable[str] = (), changes: bool = True, batches: int = 1
    ) -> None:
        """R7, E4, the reference, and P3: the state is in the log, and a coordinator that loads it has it."""
        described = answer["group"]
        view = described_view(described)
        check_never_decreases(self._view, view, reborn)
        if not changes:
            assert described == self._described and not answer["records"], "an error has changed something"
        reference = reference_view(self.state, self.reference.timers())
        assert view == reference, _difference(view, reference)
        assert [record["offset"] for record in answer["records"]] == list(
            range(len(self.records), len(self.records) + len(answer["records"]))
        )
        self.records += answer["records"]
        add_records(self._last, answer["records"])
        if answer["records"]:
            self._kept.append(Kept(len(self.records), self.state.copy(), batches))
        logged, has = log_view(self._last), durable(view)
        assert logged == has, f"P3: {_difference(logged, has)}"
        self._described, self._view = described, view
        self._check_offsets()
        self.check_load(list(self._last.values()))

    def _check_offsets(self) -> None:
        committed = self.connection.committed()
        assert committed == self.state.offsets == log_offsets(self._last), "O1, T2, P3: other offsets"

    def check_load(self, records: list[Json], volatile: bool = True) -> None:
        """P3: these records, compacted or not, give the same group and offsets; without the `volatile` state,
        the durable part of the group."""
        self._other.look("load", **self._loading(records, volatile))
        described = self._other.describe()
        if volatile:
            assert described == self._described, "P3: loaded is not the same"
        else:
            got, expected = durable(described_view(described)), durable(self._view)
            assert got == expected, f"P3: loaded is not the same: {_difference(got, expected)}"
        assert self._other.committed() == self.state.offsets, "P3: loaded offsets are not the same"

    def go_on_from(self, records: list[Json]) -> None:
        """P3: the coordinator itself goes on with this log, as if nothing had happened."""
        self.connection.do("load", **self._loading(records, volatile=True))
        self.records = [{**record, "offset": number} for number, record in enumerate(records)]
        self.acknowledge()
        self._kept = [Kept(self.floor, self.state.copy(), 1)]
        self._last = {}
        add_records(self._last, self.records)
        for process in self.processes:
            if process.response is not None:
                process.response = replace(process.response, end=self.floor)
        self._check({"group": self.connection.describe(), "records": []}, changes=False)

    def _loading(self, records: list[Json], volatile: bool) -> Json:
        topics = [
            {"name": name, "id": topic_id, "partitions": partitions}
            for name, (topic_id, partitions) in self.reference.topics.items()
        ]
        given = volatile_of(self._described, self.reference.now_ms) if volatile else {}
        return {"records": records, "topics": topics, "volatile": given}


def _targets(described: Json) -> dict[str, frozenset[Partition]]:
    return {member["memberId"]: partitions_of(member["target"]) for member in described["members"]}


def _compare(response: Json, expected: Expected) -> None:
    assert response["errorCode"] == expected.code, f"{expected.code} is expected: {response}"
    if expected.code:
        return
    assert response["memberEpoch"] == expected.epoch, f"epoch {expected.epoch} is expected: {response}"
    assignment = response["assignment"]
    answer = None
    if assignment is not None:
        answer = (
            partitions_of(assignment["assignedTopicPartitions"]),
            partitions_of(assignment["pendingTopicPartitions"]),
        )
    assert answer == expected.assignment, f"{expected.assignment} is expected: {response}"


def _difference(got: View, expected: View, path: str = "") -> str:
    """The lines in which two views differ."""
    lines = []
    for name in [*expected, *(name for name in got if name not in expected)]:
        here, there = got.get(name), expected.get(name)
        if isinstance(here, dict) and isinstance(there, dict):
            lines.append(_difference(here, there, f"{path}{name}."))
        elif here != there:
            lines.append(f"{path}{name} is {here}, expected {there}")
    return "\n".join(line for line in lines if line)
