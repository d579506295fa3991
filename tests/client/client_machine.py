"""Events that may happen to a group whose members compute its target, drawn by Hypothesis."""

from __future__ import annotations

from typing import Any

from client_driver import FOO, ClientGroup, Json, offer
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from coordinator import Coordinator, ErrorCode, SimulatedClock

MEMBERS = ("m1", "m2", "m3")
WIDE, NARROW, OTHER = offer("x", 0, 3), offer("x", 1, 2), offer("y", 0, 1)
OFFERS: tuple[list[Json], ...] = ([WIDE], [NARROW], [WIDE, OTHER], [OTHER, WIDE], [])

NONE = 0
MOST = 20
"""Partitions of the topic."""

members = st.sampled_from(MEMBERS)
mostly_chosen = st.sampled_from((*MEMBERS, *[""] * 8))
"""A member, or the computing one ("")."""
offers = st.sampled_from((*OFFERS, *[[WIDE]] * 30))


class ClientMachine(RuleBasedStateMachine):
    """The state machine. After every step: a member computes exactly if one must (A5), no partition is held
    twice (R7), and the log restores the state (P2, P3)."""

    def __init__(self) -> None:
        super().__init__()
        self.group = ClientGroup()
        self.partitions = 2
        self.owned: dict[str, list[Json]] = {}
        self.prepared: Json | None = None
        """The answer to PrepareAssignment of the member that computes."""

    def state(self) -> Json:
        return self.group.group()

    def epoch(self, member: str) -> int:
        known = {one["memberId"]: int(one["memberEpoch"]) for one in self.state()["members"]}
        return known.get(member, 1)

    def heard(self, member: str, answer: Json) -> None:
        if assignment := answer.get("assignment"):
            self.owned[member] = assignment["assignedTopicPartitions"]
        if answer["errorCode"] == NONE and answer["shouldComputeAssignment"]:
            assert self.group.chosen() == member

    # Members

    @rule(member=members, says=offers)
    def joins(self, member: str, says: list[Json]) -> None:
        self.owned[member] = []
        self.heard(member, self.group.join(member, *says))

    @rule(member=members, reports=st.booleans())
    def heartbeats(self, member: str, reports: bool) -> None:
        body = {"topicPartitions": self.owned.get(member, [])} if reports else {}
        self.heard(member, self.group.beat(member, self.epoch(member), **body))

    @rule(member=members, says=offers)
    def says_otherwise(self, member: str, says: list[Json]) -> None:
        self.heard(member, self.group.beat(member, self.epoch(member), clientAssignors=says))

    @rule(member=members)
    def leaves(self, member: str) -> None:
        self.group.beat(member, -1)

    # The computation

    @precondition(lambda self: self.group.chosen())
    @rule(member=mostly_chosen)
    def prepares(self, member: str) -> None:
        chosen, before = self.group.chosen(), self.in_flight()
        member = member or chosen or MEMBERS[0]
        answer = self.group.prepare(member, self.epoch(member))
        assert (answer["errorCode"] == NONE) == (member == chosen)
        if answer["errorCode"] == NONE:
            assert before in (None, answer)
            self.prepared = answer

    def in_flight(self) -> Json | None:
        """The preparation of the chosen member; a member that was chosen later has prepared nothing yet."""
        now = self.state().get("computation", {}).get("prepared")
        return self.prepared if now is not None else None

    @precondition(lambda self: self.group.chosen())
    @rule(
        member=mostly_chosen,
        data=st.data(),
        wrong=st.sampled_from(((), ("",), MEMBERS)),
        error=st.sampled_from((0, 0, 1)),
        late=st.booleans(),
    )
    def installs(
        self, member: str, data: st.DataObject, wrong: tuple[str, ...], error: int, late: bool
    ) -> None:
        """Install the last preparation, of any member, for its members, for none or for others."""
        base, chosen = self.in_flight(), self.group.chosen()
        member = member or chosen
        last = self.prepared or {"groupEpoch": 2, "members": [], "topics": []}
        there = [one["memberId"] for one in last["members"]]
        counted = {topic["topicId"]: topic["numPartitions"] for topic in last["topics"]}
        every = [(topic, n) for topic, count in counted.items() for n in range(count)] or [(FOO, 0)]
        owners = st.sampled_from((*there, *wrong) or MEMBERS)
        given = {one: data.draw(owners) for one in every}
        parts = [
            {"memberId": name, "partitions": [{"topicId": t, "partitions": [n]} for (t, n) in mine]}
            for name in MEMBERS
            if (mine := [one for one, owner in given.items() if owner == name])
        ]
        before = self.state(), self.group.coordinator.end
        epoch = last["groupEpoch"] - late
        answer = self.group.install(member, epoch, *parts, epoch=self.epoch(member), error=error)
        legal = error or set(given.values()) <= set(there)
        if member == chosen and base is not None and not late and legal:
            assert answer["errorCode"] == NONE
            self.installed(base, given, error, before[0])
        else:
            assert answer["errorCode"] != NONE
            assert (answer["errorCode"] == ErrorCode.INVALID_ASSIGNMENT) == (member == chosen)
            assert (self.state(), self.group.coordinator.end) == before

    @precondition(lambda self: self.group.chosen())
    @rule(
        data=st.data(),
        other=members,
        between=st.sampled_from(("", "join", "leave", "grow")),
        error=st.sampled_from((0, 1)),
    )
    def the_chosen_one_computes(self, data: st.DataObject, other: str, between: str, error: int) -> None:
        """A6: with any change of the group meanwhile."""
        chosen = self.group.chosen()
        self.prepares(chosen)
        if between == "grow" and self.partitions < MOST:
            self.the_topic_grows()
        elif between == "join" and other != chosen:
            self.joins(other, [WIDE])
        elif between == "leave" and other != chosen:
            self.leaves(other)
        if self.group.chosen():
            self.prepares(chosen)
            self.installs(chosen, data, (), error, False)

    def installed(self, base: Json, given: dict[tuple[str, int], str], error: int, before: Json) -> None:
        """A6, A7: with the prepared epoch; as given, or unchanged where the assignor failed."""
        after = self.state()
        assert after["assignmentEpoch"] == base["groupEpoch"]
        for one in after["members"]:
            results = {(topic["topicId"], n) for topic in one["target"] for n in topic["partitions"]}
            if error:
                was = next(old["target"] for old in before["members"] if old["memberId"] == one["memberId"])
                assert one["target"] == was
            else:
                assert results == {resource for resource, owner in given.items() if owner == one["memberId"]}

    # Events

    @precondition(lambda self: self.in_flight())
    @rule(data=st.data())
    def the_late_one_installs(self, data: st.DataObject) -> None:
        """A5, A9: another one was chosen, and may have prepared the same."""
        late = self.group.chosen()
        self.heartbeats(late, False)
        if self.group.chosen() == late:
            self.group.coordinator.fire("computation", "g", late)
        if self.group.chosen() and data.draw(st.booleans()):
            self.prepares("")
        self.installs(late, data, (), 0, False)

    @precondition(lambda self: self.group.chosen())
    @rule(member=members)
    def the_late_one_goes(self, member: str) -> None:
        """A5: a member that was too late and has left is a new one when it joins again."""
        late = self.group.chosen()
        self.joins(member, [WIDE])
        self.heartbeats(self.group.chosen(), False)
        if self.group.chosen() == late:
            self.group.coordinator.fire("computation", "g", late)
        self.leaves(late)

    @precondition(lambda self: self.state()["timers"])
    @rule(data=st.data())
    def time_runs_out(self, data: st.DataObject) -> None:
        timers = [(one["timer"], one.get("member", "")) for one in self.state()["timers"]]
        timer, member = data.draw(st.sampled_from(timers))
        before = self.state()["members"]
        self.group.coordinator.fire(timer, "g", member)
        if timer == "computation":
            assert self.state()["members"] == before  # the late one is not fenced

    @precondition(lambda self: self.partitions < MOST)
    @rule()
    def the_topic_grows(self) -> None:
        self.partitions += 1
        self.group.coordinator.upsert_topic("foo", FOO, self.partitions)

    @rule()
    def fails_over(self) -> None:
        before = self.state()
        self.group.coordinator.restart()
        after = self.state()
        assert after.get("computation", {}).get("prepared") is None
        for one, was in zip(after["members"], before["members"], strict=True):
            assert (one["memberId"], one["memberEpoch"]) == (was["memberId"], was["memberEpoch"])

    @invariant()
    def is_as_it_should_be(self) -> None:
        """Properties that hold after every step."""
        state = self.state()
        computation = state.get("computation", {"chosen": "", "tried": [], "prepared": None})
        due = state["groupEpoch"] > state["assignmentEpoch"]
        assert bool(computation["chosen"]) == due
        assert not due or computation["chosen"] in {one["memberId"] for one in state["members"]}
        assert computation["chosen"] not in computation["tried"] or not due
        assert set(computation["tried"]) <= {one["memberId"] for one in state["members"]}
        held = [
            (topic["topicId"], n)
            for one in state["members"]
            for topic in (*one["assigned"], *one["pendingRevocation"])
            for n in topic["partitions"]
        ]
        assert len(held) == len(set(held))
        assert loaded(self.group.coordinator, self.partitions).describe("g") == state

    def teardown(self) -> None:
        """R8: the remaining members do as they are told, except the first chosen one, which is dead."""
        dead: set[str] = set()
        for _ in range(40):
            chosen = self.group.chosen()
            if chosen and not dead:
                dead.add(chosen)
            self.round(dead)
        if self.state()["members"]:
            assert self.state()["state"] == "Stable"

    def round(self, dead: set[str]) -> None:
        for member in [one["memberId"] for one in self.state()["members"] if one["memberId"] not in dead]:
            self.heartbeats(member, True)
            if self.group.chosen() == member:
                self.compute(member)
        for member in dead & {one["memberId"] for one in self.state()["members"]}:
            self.group.coordinator.fire("session", "g", member)

    def compute(self, member: str) -> None:
        base = self.group.prepare(member, self.epoch(member))
        first = base["members"][0]["memberId"]
        given = [
            {"topicId": one["topicId"], "partitions": list(range(one["numPartitions"]))}
            for one in base["topics"]
        ]
        parts = [{"memberId": first, "partitions": given}]
        answer = self.group.install(member, base["groupEpoch"], *parts, epoch=self.epoch(member))
        assert answer["errorCode"] == NONE


def loaded(source: Coordinator, partitions: int) -> Coordinator:
    """Another coordinator, from the records of the first and the state that none has."""
    other = Coordinator(clock=SimulatedClock())
    topics: list[Any] = [{"name": "foo", "id": FOO, "partitions": partitions}]
    other.load(source.records(), topics, source.volatile())
    return other
