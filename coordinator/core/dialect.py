"""Where implementations depart from KIP-848's text: the constants of spec/Dialects.tla, under the same names.

The names are written as in the specification, so that one search finds a departure in both.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from typing import Any, Final, Literal, get_args, get_type_hints

from coordinator.core.errors import BadInput


@dataclass(frozen=True, slots=True)
class Dialect:
    """A choice of departures. The defaults are KIP-848's text, corrected by the errata.

    Raises BadInput for a value that a constant does not have.
    """

    name: str = "kip-848"
    FirstGroupEpoch: int = 1
    """E1: the group epoch after the first join (a group starts one below)."""
    FencedMemberIsRemoved: bool = True
    """H5: a wrong member epoch removes the member, which bumps the group epoch."""
    RetrySubsetOf: Literal["target", "assigned"] = "target"
    """H6: the partitions that a retry may report. "assigned": it must also report some; a retry without the
    field is fenced."""
    PreviousEpochReset: Literal["advances", "reconciliation"] = "advances"
    """H6: the event that overwrites the previous epoch: a new epoch, or every step towards a target not
    reached."""
    RejoinOfLiveMember: Literal["replaces", "keeps", "fenced"] = "replaces"
    """H1: the effect of epoch 0 from a member of the group. "fenced": unless it is a retry (H6)."""
    JoinOwns: Literal["ignored", "empty"] = "ignored"
    """H3: the owned partitions in a join. "empty": the field must be present and empty, else
    INVALID_REQUEST."""
    EmptyAssignorName: Literal["invalid", "unsupported"] = "invalid"
    """H3, H4: the meaning of a server-side assignor without a name."""
    JoinWithEmptySubscriptionBumps: bool = True
    """E1: joining without subscribing to anything bumps the group epoch."""
    AssignorChangeBumps: Literal["always", "never", "if-preferred"] = "always"
    """E1: the cases in which naming another server-side assignor bumps the group epoch. "if-preferred": if
    the group then prefers another one."""
    PendingInResponse: bool = True
    """H9: responses carry PendingTopicPartitions."""
    AssignmentSent: Literal["until-acknowledged", "on-change"] = "until-acknowledged"
    """R5: the cases in which a response has the assignment. "on-change": for a join, for a full request, or
    when the assignment changed."""
    RevocationAsked: Literal["always", "if-owned"] = "always"
    """R1: the cases in which a member is told to revoke. "if-owned": partitions that a request does not
    report as owned are released at once."""
    RevocationRestart: Literal["narrow", "unsubscribed", "waits", "restore"] = "narrow"
    """R1: the effect of a target that changes while a member revokes. "unsubscribed": only partitions that
    the member gave up itself are revoked as well; "waits": those wait, too. "restore" breaks R5."""
    AcknowledgedEpoch: Literal["kept", "next"] = "kept"
    """R1: the epoch of a member that has acknowledged a revocation and is told to revoke again at once."""
    RevocationRecorded: bool = False
    """P1: a member's record has its previous epoch and the partitions to revoke, so that a fail-over keeps
    them."""
    InstanceChecked: Literal["unreleased", "fenced"] = "unreleased"
    """S2: the answer to an instance id in use. "fenced": every join gets UNRELEASED, other requests are
    fenced or unknown."""
    AwaySession: Literal["renewed", "runs on"] = "renewed"
    """S1, H8: the effect on the session when a member leaves for a while."""
    ReturnLeftOut: Literal["forgotten", "kept"] = "forgotten"
    """S1, H7: the value of fields that a member leaves out when it returns to its place."""
    ReturnWritten: Literal["what changed", "whole"] = "what changed"
    """P1: the records that are written when a member returns to its place."""
    FullGroupRefuses: Literal["joins", "strangers", "newcomers"] = "joins"
    """H5: the requests that a full group refuses. "strangers": those with a member id that the group does not
    have; "newcomers": those whose instance id it does not have either."""
    TargetOnRemoval: Literal["at-once", "next-heartbeat"] = "at-once"
    """E2: the time at which a removal leads to the next target."""
    TargetMayLag: bool = False
    """E2: targets are computed at most once in an interval (Config.assignment_interval_ms)."""
    MetadataChange: Literal["at-once", "next-heartbeat"] = "at-once"
    """E1: the time at which changed partition metadata is noticed."""
    UnknownGroupError: Literal["UNKNOWN_MEMBER_ID", "GROUP_ID_NOT_FOUND"] = "UNKNOWN_MEMBER_ID"
    """H5: the error for a member of a group that does not exist."""
    OtherKindError: Literal["INVALID_REQUEST", "GROUP_ID_NOT_FOUND"] = "INVALID_REQUEST"
    """H5: the error for a heartbeat to a group of another kind that cannot become a group of its kind."""
    LastLeaveAdvancesAssignmentEpoch: bool = True
    """E2: the last member to leave also sets the assignment epoch to the new group epoch."""
    AwayCommits: bool = False
    """O2, O4: may a commit or fetch carry the member epoch -2 of a static member that is away?"""
    PartitionEpochs: bool = False
    """O2: a commit with an older member epoch is accepted if the member was given its partitions before."""
    MemberIdAnswered: Literal["joins", "always"] = "joins"
    """H9: the answers without an error that have the member id; "joins": those to a request with epoch 0."""

    @property
    def base(self) -> str:
        """The dialect that has a name: kafka-4.2 of "kafka-4.2,MetadataChange=at-once"."""
        return self.name.partition(",")[0]

    def __post_init__(self) -> None:
        for name, choices in _choices().items():
            if getattr(self, name) not in choices:
                raise BadInput(f"{name} cannot be {getattr(self, name)!r}; it is one of {list(choices)}")

    @property
    def has_client_assignors(self) -> bool:
        """Tell if consumer groups have client-side assignors: the schemas of Kafka's dialects have no field
        of A5."""
        return self.base == "kip-848"

    @property
    def aborts_synchronization(self) -> bool:
        """SynchronizationGoesOn (C2): does a JoinGroup without news abort the synchronization? In Kafka's
        dialects not."""
        return self.base == "kip-848"

    @property
    def refuses_sync_behind(self) -> bool:
        """SyncRefused (M2): does the dialect refuse a SyncGroup of a member that is behind its target? Kafka
        does."""
        return self.base != "kip-848"

    @property
    def unobserved(self) -> frozenset[str]:
        """The fields of records that the specification does not have: PartitionEpochs are history there."""
        return frozenset({"records.assignmentEpochs"} if self.PartitionEpochs else ())

    @property
    def initial_epoch(self) -> int:
        """Created (E1): the epoch of a new group and of its empty target, for which there is no record."""
        return self.FirstGroupEpoch - 1

    @staticmethod
    def named(name: str) -> Dialect:
        """The dialect of that name, or a mix: "kafka-4.2,MetadataChange=at-once,AwayCommits=no".

        Departures after the name replace those of the named dialect. The name of the result lists departures
        in the order of the constants, without those of the named dialect itself, so that one mix has one
        name. BadInput for an unknown dialect, departure or value.
        """
        base, *changes = (part.strip() for part in name.split(","))
        if base not in DIALECTS:
            raise BadInput(f"there is no dialect {base!r}; there are {', '.join(DIALECTS)}") from None
        values = dict(map(_change, changes))
        if len(values) < len(changes):
            raise BadInput(f"the dialect {name!r} names a departure twice")
        return DIALECTS[base].but(values)

    def but(self, values: Mapping[str, Any]) -> Dialect:
        """This dialect with other values of some departures, and the name of that mix."""
        mixed = dataclasses.replace(self, name=self.base, **values)
        base = DIALECTS[self.base]
        differs = [one for one in CHOICES if getattr(mixed, one) != getattr(base, one)]
        name = ",".join([base.name, *(f"{one}={shown(getattr(mixed, one))}" for one in differs)])
        return dataclasses.replace(mixed, name=name)


def shown(value: bool | int | str) -> str:
    """A value of a departure as `Dialect.named` reads it: yes and no are True and False."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _change(text: str) -> tuple[str, Any]:
    """The departure and the value in "MetadataChange=at-once". BadInput for an unknown departure or value."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if name not in CHOICES:
        like = get_close_matches(name, CHOICES, 1)
        hint = f"did you mean {like[0]}?" if like else f"there are {', '.join(CHOICES)}"
        raise BadInput(f"there is no departure {name!r}; {hint}")
    known = {shown(one): one for one in CHOICES[name]}
    given = {"true": "yes", "false": "no"}.get(value.lower(), value) if True in CHOICES[name] else value
    if not equals or given not in known:
        like = get_close_matches(value, known, 1)
        hint = f"; did you mean {like[0]}?" if like else ""
        is_given = f"cannot be {value!r}" if equals else "has no value"
        raise BadInput(f"the departure {name} {is_given}; give {name}={' or '.join(known)}{hint}")
    return name, known[given]


@cache
def _choices() -> Mapping[str, tuple[Any, ...]]:
    """The values of each constant that has a fixed set of values."""
    hints = get_type_hints(Dialect).items()
    choices = {name: get_args(hint) or ((True, False) if hint is bool else ()) for name, hint in hints}
    return {name: values for name, values in choices.items() if values}


_KIP_848: Final = Dialect()
_KAFKA_4_0: Final = Dialect(
    name="kafka-4.0",
    FencedMemberIsRemoved=False,
    RetrySubsetOf="assigned",
    PreviousEpochReset="reconciliation",
    RejoinOfLiveMember="fenced",
    JoinOwns="empty",
    EmptyAssignorName="unsupported",
    JoinWithEmptySubscriptionBumps=False,
    AssignorChangeBumps="never",
    PendingInResponse=False,
    AssignmentSent="on-change",
    RevocationAsked="if-owned",
    RevocationRestart="waits",
    AcknowledgedEpoch="next",
    RevocationRecorded=True,
    InstanceChecked="fenced",
    AwaySession="runs on",
    ReturnLeftOut="kept",
    ReturnWritten="whole",
    FullGroupRefuses="strangers",
    TargetOnRemoval="next-heartbeat",
    MetadataChange="next-heartbeat",
    UnknownGroupError="GROUP_ID_NOT_FOUND",
    OtherKindError="GROUP_ID_NOT_FOUND",
    LastLeaveAdvancesAssignmentEpoch=False,
    AwayCommits=True,
    MemberIdAnswered="always",
)
_KAFKA_4_1: Final = dataclasses.replace(_KAFKA_4_0, name="kafka-4.1")
_KAFKA_4_2: Final = dataclasses.replace(
    _KAFKA_4_1,
    name="kafka-4.2",
    RejoinOfLiveMember="keeps",
    RevocationRestart="unsubscribed",
    AcknowledgedEpoch="kept",
)
_KAFKA_4_3: Final = dataclasses.replace(_KAFKA_4_2, name="kafka-4.3", FirstGroupEpoch=2, PartitionEpochs=True)
_KAFKA_4_4: Final = dataclasses.replace(
    _KAFKA_4_3,
    name="kafka-4.4",
    AssignorChangeBumps="if-preferred",
    FullGroupRefuses="newcomers",
    LastLeaveAdvancesAssignmentEpoch=True,
)

_KAFKA: Final = (_KAFKA_4_0, _KAFKA_4_1, _KAFKA_4_2, _KAFKA_4_3, _KAFKA_4_4)
DIALECTS: Final = {dialect.name: dialect for dialect in (_KIP_848, *_KAFKA)}
"""Every dialect that has a name. Kafka's are read from its observed behaviour, not from a document;
spec/KafkaDialects.tla names the behaviour that they leave out."""

CHOICES: Final[Mapping[str, tuple[Any, ...]]] = {
    field.name: _choices().get(field.name, ())
    or tuple(sorted({getattr(one, field.name) for one in DIALECTS.values()}))
    for field in dataclasses.fields(Dialect)
    if field.name != "name"
}
"""The values of each departure; for a number the values that a dialect has."""
