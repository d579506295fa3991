"""`broker:HOST:PORT`: a live broker, over the wire.

Groups and topics of a run have names that no other user's have, and are deleted at its end. The answer to
`hello` has neither the operations that a client cannot do there nor the fields that a client cannot see.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Final

from harness.errors import ENGINE_FAILED, ConformError
from harness.targets.base import Answer, Capabilities, Json, Refused, place_of
from harness.targets.broker import admin
from harness.targets.broker.classic import Waiting, measured_delay
from harness.targets.broker.connection import TIMEOUT_S, Connection, address_of
from harness.targets.broker.forms import (
    CLASSIC,
    HEARTBEAT,
    JOIN,
    Form,
    classic_form,
    from_kafka,
    sorted_partitions,
    to_kafka,
    versions_of,
)
from harness.targets.broker.names import Names, translated
from harness.targets.broker.patience import Patience
from harness.targets.broker.refusing import Refusing, check_topics
from harness.targets.broker.run_topics import RunTopics
from harness.targets.waiting import NO_TIMER, PROLONGED, Due, NotWaited, Waited

CONTROLS: Final = frozenset({"topics", "describe", "fresh"})
UNOBSERVED: Final = frozenset(
    {"records", "metadata", "timers", "members.deletedTopics", "classic"}
    | {
        f"members.{field}"
        for field in (
            *("previousMemberEpoch", "state", "pendingRevocation", "targetError", "acknowledged"),
            *("serverAssignor", "rebalanceTimeoutMs", "clientHost"),
        )
    }
)
"""Fields that ConsumerGroupDescribe does not have; the host of a client is the machine of this program. For a
classic group the target shows only the state."""

INTERVAL_MS: Final = 500
"""The heartbeat interval of groups whose sessions may be short."""


def ask(
    broker: Connection, names: Names, target: str, api: str, version: int, client: Json, body: Json
) -> tuple[Json, Json]:
    """Send a request of the specification: the facts about its sent form (see `as_sent`), and the response in
    the specification's form. Refused for a request without a form in Kafka."""
    try:
        form = to_kafka(api, version, body, names, broker.has)
        if not broker.has(form.api, form.version):
            raise ValueError(f"this broker does not have version {form.version} of {form.api}")
        answer = broker.call(form.api, form.version, form.body, str(client.get("id", "")))
    except ValueError as error:
        raise Refused(target, f"request {api}", str(error)) from None
    sent: Json = {"body": body}
    if form.version != version:
        sent["wire"] = {"version": form.version}
    return sent, from_kafka(form, answer, names)


class BrokerTarget(Refusing):
    """A live broker; the methods are those of `harness.targets.base.Target`.

    `run` makes the names of this run different from all others: `conform-RUN-foo`, `conform-RUN-1-g`. For at
    most `wait_s` seconds the target waits for timers to run out: then it has the operation `fire`.
    ConformError: exit 2 for a malformed address, 3 for a broker that is not there or too old.
    """

    def __init__(
        self,
        address: str,
        dialect: str,
        run: str | None = None,
        timeout_s: float = TIMEOUT_S,
        wait_s: float = 0,
    ) -> None:
        self.name = f"broker:{address}"
        host, port = place_of(self.name, "broker")
        self._dialect = dialect
        self._timeout_s = timeout_s
        self._prefix = f"conform-{run or secrets.token_hex(3)}-"
        self._names = Names(self._prefix)
        self._broker = Connection(host, port, timeout_s)
        self._connections = {self._broker.address: self._broker}
        self._groups: dict[str, Connection] = {}
        self._topics = RunTopics(self._broker, self._names, self._assigned, timeout_s)
        self._probes = 0
        self._patience = Patience(self.name, Waited(wait_s)) if wait_s else None
        self._sessions: dict[str, int] = {}
        self._waiting = Waiting(self.name)
        self._left: dict[str, Connection] = {}
        """Classic groups that all members have left, which cannot be deleted before they are Empty."""
        self._makes_nameless: bool | None = None
        """Tell if a group with the empty id would be this run's: there was none before its first request."""
        self._delay_s: float | None = None
        self._step = -1
        self._joins: set[int] = set()
        """The steps at which a trace's initial delay is over, and a broker's is not."""
        self._sent: Json = {}
        if not self._broker.has(HEARTBEAT, 0):
            self._broker.close()
            raise ConformError(
                f"The broker {address} does not have version 0 of {HEARTBEAT}: that takes Kafka 4.0 or "
                "later, with consumer among its group.coordinator.rebalance.protocols.",
                ENGINE_FAILED,
            )

    def hello(self) -> Capabilities:
        """The operations that a client has. The caller names the broker's dialect."""
        apis = versions_of(self._broker.has)
        apis |= {api: [last, last] for api, last in CLASSIC.items() if self._broker.has(api, last)}
        controls = CONTROLS | {"fire"} if self._patience else CONTROLS
        return Capabilities(self.name, self._dialect, apis, controls, UNOBSERVED)

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        """Send one request."""
        self._step += 1
        self._sent = {}
        group = self._names.group(_group_of(body))
        coordinator = self._coordinator(group)
        if api in CLASSIC:
            return self._classic(coordinator, api, version, str(client.get("id", "")), body, observe)
        if self._patience is not None and not self._waiting.used:
            body = self._timed(self._patience, group, str(client.get("id", "")), body)
        self._sent = {"body": body}
        self._sent, response = ask(coordinator, self._names, self.name, api, version, client, body)
        return Answer(response, self._observed(observe))

    def _classic(
        self, coordinator: Connection, api: str, version: int, client: str, body: Json, observe: str | None
    ) -> Answer:
        """Send a request of a classic group, which may wait, and may complete other requests."""
        form = classic_form(api, version, body, self._names)
        delay_s = self._initial_delay_s() if api == JOIN else self._delay_s or 0.0
        group = form.body["groupId"]

        def fence() -> None:
            admin.describe_classic(coordinator, group)

        try:
            answer = self._waiting.send(coordinator.another, fence, api, version, client, form.body, delay_s)
        except ValueError as error:
            raise Refused(self.name, f"request {api}", str(error)) from None
        response = None if answer is None else from_kafka(form, answer, self._names)
        return Answer(response, self._observed(observe), completed=self._completed(self._waiting.late(fence)))

    def _completed(self, late: list[tuple[str, Json]]) -> list[Json]:
        return [
            {"id": sent, "body": from_kafka(Form(sent.partition(" ")[0], 0, {}, {}), answer, self._names)}
            for sent, answer in late
        ]

    def _initial_delay_s(self) -> float:
        """The delay of a new group's first rebalance, which a group made for this shows once."""
        if self._delay_s is None:
            self._probes += 1
            probe = f"{self._prefix}probe-{self._probes}"
            coordinator = self._coordinator(probe)
            self._delay_s = measured_delay(coordinator, probe)
            admin.empty_classic(coordinator, probe, [])
            admin.wait_for_empty(coordinator, probe, self._timeout_s)
            admin.delete_group(coordinator, probe)
            del self._groups[probe]
        return self._delay_s

    def as_sent(self, operation: Json) -> Json:
        """The request with the time-outs of `--wait`, and Kafka's version of the API, if that is another."""
        return {**operation, **self._sent}

    def expect(self, due: Sequence[Due]) -> Waited | None:
        """The timers that run out in the trace that begins with the next load."""
        if self._patience is None:
            return None
        self._patience.expect(due)
        self._joins = {one.fires for one in due if one.timer == "join"}
        self._step = -1
        return self._patience.waited

    def fire(self, timer: str, group: str, member: str, observe: str | None = None) -> Answer:
        """Wait until a timer has run out. NotWaited if that is impossible, TooEarly if it did before its
        time."""
        if self._patience is None:
            return super().fire(timer, group, member, observe)
        fired = [{"timer": timer, "group": group, "member": member}]
        self._sent = {}
        self._step += 1
        if self._waiting.used:
            if timer != "join":
                raise NotWaited(self.name, NO_TIMER)
            if self._step in self._joins:
                raise NotWaited(self.name, PROLONGED)
            theirs = self._names.group(group)
            coordinator, delay_s = self._coordinator(theirs), self._delay_s or 0.0
            late = self._waiting.join_timeout(
                lambda: admin.describe_classic(coordinator, theirs), delay_s, self._patience.waited
            )
            return Answer(None, self._observed(observe), fired=fired, completed=self._completed(late))
        self._patience.next_step()
        waited_s, time_out_s = self._patience.run_out(
            lambda: any(one["memberId"] == member for one in self.describe(group)["members"])
        )
        self._sent = {"waitedS": waited_s, "timeOutS": time_out_s}
        return Answer(None, self._observed(observe), fired=fired)

    def _timed(self, patience: Patience, group: str, client: str, body: Json) -> Json:
        """Send a request at its time, with the time-outs that it starts."""
        patience.next_step(client)
        if group:
            self._set_session(patience, group)
        if body.get("rebalanceTimeoutMs", -1) > 0 and (given := patience.rebalance_ms(client)) is not None:
            body = {**body, "rebalanceTimeoutMs": given}
        patience.sent(client, body.get("memberEpoch", 0) < 0)
        return body

    def _set_session(self, patience: Patience, group: str) -> None:
        """Give the group the session time-out of this step, if the broker allows groups one."""
        wanted_ms = patience.session_ms()
        if not patience.shortens or self._sessions.get(group) == wanted_ms:
            return
        values = {admin.SESSION_TIMEOUT: wanted_ms, admin.HEARTBEAT_INTERVAL: INTERVAL_MS}
        try:
            admin.configure_group(self._broker, group, values, self._timeout_s)
        except admin.Denied as denied:
            settings = admin.group_settings(self._broker, group)
            patience.keep_sessions(denied.message, settings.get(admin.SESSION_TIMEOUT))
        else:
            self._sessions[group] = wanted_ms

    def topics(self, upsert: Sequence[Json], delete: Sequence[str], observe: str | None = None) -> Answer:
        """Create, grow, recreate and delete topics, and wait until the coordinator has noticed."""
        check_topics(self.name, upsert)
        self._step += 1
        if self._patience is not None:
            self._patience.next_step()
        self._topics.change(upsert, delete)
        return Answer(None, self._observed(observe))

    def describe(self, group: str) -> Json:
        """A group by ConsumerGroupDescribe; a missing one is Dead. Refused for another error."""
        theirs = self._names.group(group)
        described = admin.describe_group(self._coordinator(theirs), theirs)
        code = described["errorCode"]
        if code not in (0, admin.GROUP_ID_NOT_FOUND):
            raise Refused(self.name, "describe", f"error {code}, {described['errorMessage']}")
        if code:
            state = admin.describe_classic(self._coordinator(theirs), theirs)["groupState"]
            if state != "Dead":
                return {"groupId": group, "type": "classic", "state": state}
        return description(group, translated(described, self._names.from_broker))

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        """`fresh`: a new group beside these topics. Refused for a state with anything else in it."""
        if records or any(volatile.values()):
            raise Refused(self.name, "load", "a broker can only start a new group")
        self._delete_groups()
        self._names.generation += 1
        self._topics.renew(topics)

    def close(self) -> None:
        """Delete the groups and topics of the run. ConformError (exit 3) names those that could not be
        deleted."""
        try:
            self._delete_groups()
            for group in list(self._left):
                admin.wait_for_empty(self._left[group], group, self._timeout_s)
                admin.delete_group(self._left.pop(group), group)
            self._topics.delete_all()
        except ConformError as error:
            left = ", ".join([*self._groups, *self._left, *self._topics.left()])
            raise ConformError(f"{error.message} What may be left there: {left}.", error.exit_code) from None
        finally:
            for connection in self._connections.values():
                connection.close()

    def _observed(self, group: str | None) -> Json | None:
        return None if group is None else self.describe(group)

    def _coordinator(self, group: str) -> Connection:
        """The broker that coordinates a group of this run, which is deleted at the end from now on."""
        if not group:
            if self._makes_nameless is None:
                self._makes_nameless = "" not in admin.groups(self._broker)
            return self._broker
        if group not in self._groups:
            host, port = admin.wait_for_coordinator(self._broker, group, self._timeout_s)
            address = address_of(host, port)
            if address not in self._connections:
                self._connections[address] = Connection(host, port, self._timeout_s)
            admin.wait_for_group(self._connections[address], group, self._timeout_s)
            self._groups[group] = self._connections[address]
        return self._groups[group]

    def _assigned(self, names: list[str]) -> dict[str, int]:
        """The partitions of topics that a new group gets. Each call makes another group, which has no target
        yet."""
        self._probes += 1
        probe = f"{self._prefix}probe-{self._probes}"
        assigned = admin.assigned_alone(self._coordinator(probe), probe, names)
        del self._groups[probe]
        return assigned

    def _delete_groups(self) -> None:
        for group in list(self._groups):
            if self._waiting.used:
                admin.empty_classic(self._groups[group], group, sorted(self._waiting.made))
                self._left[group] = self._groups[group]
            else:
                admin.delete_group(self._groups[group], group)
            del self._groups[group]
        if self._makes_nameless and "" in admin.groups(self._broker):
            admin.delete_group(self._broker, "")
        self._makes_nameless = None
        self._waiting.close()
        for group in list(self._sessions):
            nothing = {admin.SESSION_TIMEOUT: None, admin.HEARTBEAT_INTERVAL: None}
            admin.configure_group(self._broker, group, nothing, self._timeout_s)
            del self._sessions[group]


def _group_of(body: Json) -> str:
    """The group of a request; the first one, if it names several."""
    groups = body.get("groups") or [{"groupId": group} for group in body.get("groupIds") or [""]]
    return str(body.get("groupId", groups[0].get("groupId")) or "")


def description(group: str, ours: Json) -> Json:
    """A group of ConsumerGroupDescribe in the form of the operation `describe`, without its unobserved
    parts."""
    dead = ours["errorCode"] != 0
    return {
        "groupId": group,
        "state": "Dead" if dead else ours["groupState"],
        "groupEpoch": ours["groupEpoch"],
        "assignmentEpoch": ours["assignmentEpoch"],
        "members": sorted(map(_member, ours["members"]), key=lambda member: str(member["memberId"])),
    }


def _member(member: Json) -> Json:
    fields = ("memberId", "memberEpoch", "instanceId", "rackId", "clientId")
    return {
        **{name: member[name] for name in fields},
        "assigned": _partitions(member["assignment"]),
        "target": _partitions(member["targetAssignment"]),
        "subscribedTopicNames": sorted(member["subscribedTopicNames"]),
        "subscribedTopicRegex": member["subscribedTopicRegex"] or None,
    }


def _partitions(assignment: Json) -> list[Json]:
    without_names = [
        {"topicId": topic["topicId"], "partitions": topic["partitions"]}
        for topic in assignment["topicPartitions"]
    ]
    return sorted_partitions(without_names)
