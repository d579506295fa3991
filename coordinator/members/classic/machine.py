"""A consumer of a classic group as a state machine without input and output: eager or cooperative (C3, C6).

The driver tells it what happens and asks what is to be done, as with `coordinator.members.consumer`:

    member = ClassicMember(Settings("g"), [assignor])
    member.subscribe(["foo"], now_ms=0)
    request = member.take_request(0)                      # send it; then, with its answer:
    member.answered(request.correlation, body, now_ms)    # or, without: member.failed(...)
    while callback := member.next_callback(now_ms):       # within the application's poll
        ...
        member.callback_done(now_ms, error)
    member.fetchable                                      # what may be fetched now
    member.metrics.values(now_ms)                         # C7

Its steps are those of spec/Cooperative.tla. Decided where KIP-429 contradicts itself: on_partitions_assigned
is called even if nothing is new, the others never on nothing; what a member owns of a topic that is gone is
lost before it rejoins, as in its algorithm (its list of callbacks has it revoked). A rebalance (C7) begins as
the member starts to rejoin, and is over when on_partitions_assigned has returned; one that another overtakes,
that is refused, or in which the member is removed, has failed. Left out: max.poll.interval.ms and finding the
coordinator.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from coordinator.assignors.spec import TopicPartition
from coordinator.classic.assignors import (
    ClassicAssignor,
    GroupMember,
    RebalanceProtocol,
    with_user_data,
)
from coordinator.classic.embedded import (
    NO_GENERATION,
    Assignment,
    read_assignment,
    read_subscription,
)
from coordinator.core.errors import BadInput
from coordinator.members.classic import bodies
from coordinator.members.classic.callbacks import Callbacks
from coordinator.members.classic.errors import (
    FENCED_INSTANCE_ID,
    INCONSISTENT_GROUP_PROTOCOL,
    LOST,
    MEMBER_ID_REQUIRED,
    REBALANCE_IN_PROGRESS,
    RETRIABLE,
    UNKNOWN_MEMBER_ID,
    error_of,
    refused,
)
from coordinator.members.classic.handout import InconsistentAssignment, check, common_protocol
from coordinator.members.classic.types import NOTHING, Partitions, Phase, Request, Settings
from coordinator.members.consumer.metrics import RebalanceMetrics
from coordinator.members.consumer.types import Callback, CallbackName, GroupMetadata, Json, MemberError


class ClassicMember:
    """One consumer of one classic group. ValueError for assignors without a common rebalance protocol (C8),
    and for a cooperative member whose subscription version cannot carry owned partitions (C4).

    `member_id` "": the coordinator makes one (C1).
    """

    def __init__(self, settings: Settings, assignors: Sequence[ClassicAssignor], member_id: str = "") -> None:
        self.settings = settings
        self.protocol = common_protocol(assignors)
        if self.protocol is RebalanceProtocol.COOPERATIVE and settings.subscription_version < 1:
            raise ValueError(
                "A cooperative member needs version 1 of the embedded protocol: before it, no leader would "
                "hear of what the member owns."
            )
        self.phase = Phase.UNSUBSCRIBED
        self.member_id = member_id
        self.generation = NO_GENERATION
        self._assignors = {assignor.name: assignor for assignor in assignors}
        self._chosen = ""
        """The assignor of the generation."""
        self.metrics = RebalanceMetrics()
        self._callbacks = Callbacks(self.metrics)
        self._topics: frozenset[str] = frozenset()
        self._joined_topics: frozenset[str] = frozenset()
        """The topics of the last JoinGroup."""
        self._partitions: Mapping[str, int] | None = None
        """Topic -> number of partitions; None: not known yet."""
        self._assigned_from: Mapping[str, int] | None = None  # by the leader
        self._owned_since = NO_GENERATION
        """The generation in which the member was assigned the partitions that it owns."""
        self._last: tuple[Partitions, int] = NOTHING, NO_GENERATION
        """The last assignment and its generation: assignors of eager members use both."""
        self._prepared = True
        """Has the member done everything that comes before a JoinGroup (C6)? True before the first one."""
        self._leads: list[Json] = []
        """The members in the leader's JoinGroup response."""
        self._assigns = False
        """Must the member assign? Not a static leader that returns to a synchronised generation (S1)."""
        self._offsets: dict[TopicPartition, int] = {}
        """Offsets to commit; those of a commit that failed are sent again, unless later ones replace them."""
        self._committing: dict[TopicPartition, int] = {}
        self._reason: str | None = None
        """The application's reason to enforce a rebalance, for the next JoinGroup."""
        self._request: Request | None = None
        self._sent = 0
        self._due_ms = 0
        """The time of the next heartbeat."""
        self._not_before_ms = 0

    @property
    def owned(self) -> Partitions:
        """The partitions that the member owns: no other member may own them (C4)."""
        return self._callbacks.owned

    @property
    def fetchable(self) -> Partitions:
        """The partitions to fetch; a cooperative member fetches some during a rebalance, too."""
        return self._callbacks.fetchable

    @property
    def leads(self) -> bool:
        """Tell if the member is the leader of its generation."""
        return bool(self._leads)

    # The application

    def subscribe(self, topics: Iterable[str], now_ms: int) -> None:
        """Join, or change the subscription: then the member rejoins, and a cooperative member gives up
        partitions of topics that it left. ValueError after it left or failed."""
        if self.phase in (Phase.LEAVING, Phase.FAILED):
            raise ValueError("This consumer is closed or has failed: make a new one.")
        before, self._topics = self._topics, frozenset(topics)
        if self.phase in (Phase.JOIN, Phase.SYNC) and self._topics != before:
            self._prepared = False
        if self.phase is Phase.UNSUBSCRIBED:
            self.phase = Phase.JOIN
            self.metrics.began(now_ms)
        elif self.phase is Phase.STABLE and self._topics != self._joined_topics:
            self._rejoin(now_ms)
        self._due_ms = min(self._due_ms, now_ms)

    def enforce_rebalance(self, now_ms: int, reason: str | None = None) -> None:
        """Rejoin, though nothing has changed (K4); a member that is rebalancing does that already. ValueError
        before subscribe, and after the member left or failed."""
        if self.phase in (Phase.UNSUBSCRIBED, Phase.LEAVING, Phase.FAILED):
            raise ValueError("This consumer is in no group that could rebalance: subscribe first.")
        if self.phase is Phase.STABLE:
            self._reason = reason
            self._rejoin(now_ms)

    def topics_are(self, partitions: Mapping[str, int], now_ms: int) -> None:
        """Set the number of partitions of each topic, from metadata; the leader rejoins where topics that it
        has looked at change (C2)."""
        before, self._partitions = self._partitions, dict(partitions)
        looked_at = before is not None or self._assigns  # a static leader that returns has looked at none
        if self.phase is Phase.STABLE and self.leads and looked_at and before != self._partitions:
            self._rejoin(now_ms)

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """Commit offsets. MemberError REBALANCE_IN_PROGRESS during a rebalance: poll, then try again (C6)."""
        if self.phase is not Phase.STABLE:
            raise MemberError(
                REBALANCE_IN_PROGRESS,
                "A rebalance is in progress, and may take these partitions away: poll until it is over, then "
                "commit what is still assigned.",
            )
        self._offsets.update(offsets)

    def close(self) -> None:
        """Give up everything, then leave; closed when the phase is UNSUBSCRIBED. A static member does not
        leave: its place, and its member id here, wait until its session ends (S1)."""
        if self.phase in (Phase.LEAVING, Phase.FAILED, Phase.UNSUBSCRIBED):
            return
        self._callbacks.end()
        self.metrics.given_up()
        self._request = None
        if self.member_id and self.settings.instance_id is None:
            self.phase = Phase.LEAVING
        else:
            self.phase = Phase.UNSUBSCRIBED
            self._start_anew()

    def next_callback(self, now_ms: int) -> Callback | None:
        """The next callback to run, within the application's poll; None while another runs."""
        return self._callbacks.take(now_ms)

    def callback_done(self, now_ms: int, error: BaseException | None = None) -> None:
        """Take the end of the callback, which has returned or raised: the member goes on (C6)."""
        if self._callbacks.done(error, now_ms) is CallbackName.ASSIGNED:
            self.metrics.succeeded(now_ms)
            if self.phase is Phase.JOIN:
                self.metrics.began(now_ms)

    def take_error(self) -> BaseException | None:
        """The error that the application's poll raises: the first one, once all callbacks have run (C6)."""
        return self._callbacks.take_error()

    # Requests

    def take_request(self, now_ms: int) -> Request | None:
        """The request to send now; it is in flight from then on. None if there is nothing to send yet."""
        if self._request is not None or now_ms < self._not_before_ms:
            return None
        api = self._wanted(now_ms)
        body = None if api is None else self._body(api, now_ms)
        if api is None or body is None:
            return None
        self._sent += 1
        self._request = Request(self._sent, api, bodies.VERSIONS[api], body)
        return self._request

    def next_deadline_ms(self) -> int | None:
        """The latest time at which to call `take_request`; None: not before something else happens."""
        if self._request is not None or self._wanted(self._due_ms) is None:
            return None
        only_heartbeat = self._wanted(self._due_ms - 1) is None
        return max(self._due_ms if only_heartbeat else 0, self._not_before_ms)

    def _wanted(self, now_ms: int) -> str | None:
        """The API of the next request. All but heartbeats wait until callbacks have run."""
        alive = self.generation != NO_GENERATION and self.phase in (Phase.STABLE, Phase.JOIN)
        if alive and now_ms >= self._due_ms and (self.phase is Phase.STABLE or not self._callbacks.idle):
            return "Heartbeat"
        if not self._callbacks.idle:
            return None
        match self.phase:
            case Phase.JOIN:
                return "JoinGroup"
            case Phase.SYNC:
                return "SyncGroup"
            case Phase.LEAVING:
                return "LeaveGroup"
            case Phase.STABLE if self._offsets:
                return "OffsetCommit"
        return None

    def _body(self, api: str, now_ms: int) -> Json | None:
        """The body; None if something else must come first."""
        if api == "JoinGroup":
            return self._join_body()
        if api == "SyncGroup":
            return self._sync_body(now_ms)
        if api == "Heartbeat":
            self._due_ms = now_ms + self.settings.heartbeat_interval_ms
            return bodies.heartbeat(self.settings, self.member_id, self.generation)
        if api == "LeaveGroup":
            return bodies.leave(self.settings, self.member_id)
        self._committing, self._offsets = self._offsets, {}
        return bodies.commit(self.settings, self.member_id, self.generation, self._committing)

    def _join_body(self) -> Json | None:
        self._prepare()
        if not self._callbacks.idle:
            return None
        self._joined_topics = self._topics
        reason, self._reason = self._reason, None
        assignors = list(self._assignors.values())
        return bodies.join(
            self.settings,
            self.member_id,
            assignors,
            self._topics,
            self.owned,
            self._owned_since,
            self._last,
            reason,
        )

    def _prepare(self) -> None:
        """Prepare for a JoinGroup (C3, C6): an eager member gives up all partitions; a cooperative member
        gives up those that are gone or that it no longer subscribes to."""
        if self._prepared:
            return
        self._prepared = True
        gone = frozenset(one for one in self.owned if not self._exists(one))
        unwanted = frozenset(one for one in self.owned if one[0] not in self._topics)
        eager = self.protocol is RebalanceProtocol.EAGER
        self._callbacks.give_up(self.owned if eager else gone | unwanted, gone)

    def _exists(self, partition: TopicPartition) -> bool:
        return self._partitions is None or partition[1] < self._partitions.get(partition[0], 0)

    def _sync_body(self, now_ms: int) -> Json | None:
        self._assigned_from = self._partitions
        try:
            handed = self._handed()
        except InconsistentAssignment as error:
            self._end(error, now_ms)
            return None
        except Exception as error:  # the application's assignor may raise anything (C4)
            self._callbacks.fail(error)
            self._rejoin(now_ms)
            self._back_off(now_ms)
            return None
        return bodies.sync(self.settings, self.member_id, self.generation, self._chosen, handed)

    def _handed(self) -> Mapping[str, Assignment]:
        """The leader's part (C3); the leader checks the assignment of any assignor (C4)."""
        if not self._assigns:
            return {}
        members = {
            one["memberId"]: GroupMember(
                read_subscription(base64.b64decode(one["metadata"])), one["groupInstanceId"]
            )
            for one in self._leads
        }
        assignor = self._assignors[self._chosen]
        handed = assignor.assign(members, self._partitions or {})
        if self.protocol is RebalanceProtocol.COOPERATIVE:
            check(handed, members)
        return with_user_data(assignor, handed)

    # Answers

    def answered(self, correlation: int, body: Mapping[str, Any], now_ms: int) -> None:
        """Take the answer to a request. An answer to a request that was given up is ignored."""
        request = self._ended(correlation)
        if request is None:
            return
        if request.api == "LeaveGroup":
            self._out()
            self.phase = Phase.UNSUBSCRIBED
            return
        error = error_of(request.api, body)
        if (commits := request.api == "OffsetCommit") and error and error not in RETRIABLE:
            self._callbacks.fail(MemberError(error, f"The coordinator refused a commit with error {error}."))
        if error and request.api == "JoinGroup" and (error != MEMBER_ID_REQUIRED or request.body["memberId"]):
            self._back_off(now_ms)  # a refused member joins again, and may be refused again
        if error == 0:
            self._accepted(request, body, now_ms)
        elif request.api == "JoinGroup" and error == MEMBER_ID_REQUIRED:
            self.member_id = body["memberId"]
        elif error in LOST:
            self._lost(error, now_ms)
        elif error == REBALANCE_IN_PROGRESS:
            self._rejoin(now_ms)
        elif error in RETRIABLE:
            self._back_off(now_ms)
            self._commit_again(request)
        elif not commits or error == FENCED_INSTANCE_ID:
            message = refused(request.api, error, self.settings.group_id, self._assignors)
            self._end(MemberError(error, message), now_ms)

    def failed(self, correlation: int, now_ms: int) -> None:
        """Note that no answer will come: the request is sent again. A member that leaves has left."""
        request = self._ended(correlation)
        if request is not None and request.api == "LeaveGroup":
            self._out()
            self.phase = Phase.UNSUBSCRIBED
        elif request is not None:
            self._back_off(now_ms)
            self._commit_again(request)

    def _commit_again(self, request: Request) -> None:
        """O2: send a commit again that may succeed later, while the member is in the generation."""
        if request.api == "OffsetCommit" and self.phase is Phase.STABLE:
            self._offsets = self._committing | self._offsets

    def _ended(self, correlation: int) -> Request | None:
        request = self._request
        if request is None or request.correlation != correlation:
            return None
        self._request = None
        return request

    def _accepted(self, request: Request, body: Mapping[str, Any], now_ms: int) -> None:
        if request.api == "JoinGroup" and body["protocolName"] not in self._assignors:
            error = INCONSISTENT_GROUP_PROTOCOL
            message = refused(request.api, error, self.settings.group_id, self._assignors)
            self._end(MemberError(error, message), now_ms)
        elif request.api == "JoinGroup":
            self.member_id, self.generation = body["memberId"], body["generationId"]
            self._chosen = body["protocolName"]
            self._leads = body["members"]
            self._assigns = bool(self._leads) and not body["skipAssignment"]
            self.phase = Phase.SYNC
        elif request.api == "SyncGroup":
            try:
                assignment = read_assignment(base64.b64decode(body["assignment"]))
            except BadInput as error:
                self._end(error, now_ms)
            else:
                self._assigned(assignment, now_ms)

    def _assigned(self, assignment: Assignment, now_ms: int) -> None:
        """KIP-429's third step (C3, C6): revoke, then assign; a member that revoked rejoins at once, so that
        its partitions get their new owner."""
        self.phase, self._prepared = Phase.STABLE, False
        assigned, assignor = assignment.partitions, self._assignors[self._chosen]
        revoked = self.owned - assigned
        self._callbacks.give_up(revoked)
        place = self.settings.group_id, self.generation, self.member_id, self.settings.instance_id
        self._callbacks.assign(assigned - self.owned, assignment, assignor, GroupMetadata(*place))
        self._owned_since = self.generation
        self._last = assigned, self.generation
        self._due_ms = now_ms + self.settings.heartbeat_interval_ms
        outdated = self.leads and self._partitions != self._assigned_from
        if revoked or outdated or self._topics != self._joined_topics:
            self._rejoin(now_ms)

    def _rejoin(self, now_ms: int) -> None:
        """C3: rejoin; the steps before it are done when the request is about to be sent."""
        if self.phase in (Phase.STABLE, Phase.SYNC):
            if self.phase is Phase.SYNC:
                self.metrics.failed(now_ms)
            self.phase, self._leads = Phase.JOIN, []
            self._offsets.clear()
            if self._callbacks.idle:
                self._prepare()
            self.metrics.began(now_ms)

    def _lost(self, error: int, now_ms: int) -> None:
        """KIP-429 1d: the member was removed, or missed a generation; it joins again without partitions."""
        self._out()
        self.metrics.failed(now_ms)
        if error == UNKNOWN_MEMBER_ID:
            self.member_id = ""
        if self.phase is not Phase.LEAVING:
            self.phase = Phase.JOIN
            self.metrics.began(now_ms)

    def _out(self) -> None:
        self._start_anew()
        self._callbacks.lose()

    def _start_anew(self) -> None:
        """Leave the generation: the state before the first JoinGroup."""
        self.generation = self._owned_since = NO_GENERATION
        self._leads = []
        self._offsets.clear()
        self._prepared = True

    def _end(self, error: Exception, now_ms: int) -> None:
        """End the member, which cannot go on, with the reason (C4); the partitions that it owned are lost."""
        self._out()
        self.metrics.failed(now_ms)
        self.phase = Phase.FAILED
        self._callbacks.fail(error)

    def _back_off(self, now_ms: int) -> None:
        self._not_before_ms = now_ms + self.settings.retry_backoff_ms
