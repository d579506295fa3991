"""Effects of a dialect beside the states of the specification: in expected records and timers.

A trace names its dialect as its model does (the constant Dialect, in #meta); a trace without a name is of
KIP-848's text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from harness.dialect_name import base_of, changes_of
from harness.errors import USAGE, ConformError
from harness.itf import Trace


@dataclass(frozen=True, slots=True)
class Forms:
    """`name` is that of --dialect.

    `recorded` is RevocationRecorded of spec/Dialects.tla: a member's record has its previous epoch and what
    it revokes (P1), and is written when either changes. `away_runs_on`: leaving for a while neither renews
    the session (S1, H8) nor goes unrecorded. `growth_rearms`: a revocation that grows has its time anew (R4).
    `initial_epoch`: where a group and its target start, of which there is no record (E1).
    `return_whole` is ReturnWritten: all of a member that returns is written (P1).
    `rejoins_instead`: a member of the classic protocol has no time to give partitions up beside that to
    rejoin (R4, M2). `once`: of records with one key in a batch the last is shown, after all removals, and
    as a group is converted back its target is removed before its members (P1).
    `leaves_each`: who leaves a group that there is not is told so as each member of one is (C1).
    `renews_waiting`: a Heartbeat keeps the session of a member whose JoinGroup waits (C1, H8).
    `rejoin_keeps` is RejoinOfLiveMember: nothing of a member that rejoins is written that does not change.
    `partition_epochs` is PartitionEpochs: a member's record says since when the member has each partition.
    `answers_member_id` is MemberIdAnswered: each answer without an error has the member id, not only that to
    a join (H9).
    """

    name: str
    recorded: bool = False
    away_runs_on: bool = False
    growth_rearms: bool = False
    return_whole: bool = False
    rejoin_keeps: bool = False
    rejoins_instead: bool = False
    once: bool = False
    leaves_each: bool = False
    renews_waiting: bool = False
    initial_epoch: int = 0
    partition_epochs: bool = False
    answers_member_id: bool = False


def _kafka(version: str, initial_epoch: int, partition_epochs: bool = False) -> Forms:
    return Forms(
        f"kafka-{version}",
        recorded=True,
        away_runs_on=True,
        growth_rearms=True,
        return_whole=True,
        rejoin_keeps=True,
        rejoins_instead=True,
        once=True,
        leaves_each=True,
        renews_waiting=True,
        initial_epoch=initial_epoch,
        partition_epochs=partition_epochs,
        answers_member_id=True,
    )


TEXT: Final = Forms("kip-848")
_ALIKE: Final = 0.8
"""The least similarity of a name that a misspelt one may mean."""

FORMS: Final = {
    "KIP848": TEXT,
    "ConnectText": TEXT,
    "KIP848Literal": TEXT,
    "Kafka40": _kafka("4.0", 0),
    "Kafka41": _kafka("4.1", 0),
    "Kafka42": _kafka("4.2", 0),
    "Kafka43": _kafka("4.3", 1, True),
    "Kafka44": _kafka("4.4", 1, True),
    "Kafka43Lags": _kafka("4.3", 1, True),
    "Kafka44Lags": _kafka("4.4", 1, True),
}
"""By the operators of spec/Dialects.tla and spec/KafkaDialects.tla, and of models where targets come late.
The first operator with a name is the one that the name stands for."""


def forms_of(trace: Trace, name: str) -> Forms:
    """The forms of a trace's dialect. ConformError for an unknown dialect."""
    return forms_in(trace.meta, name)


def forms_in(meta: Mapping[str, Any], name: str) -> Forms:
    """The forms of the dialect in the trace's #meta."""
    return _forms(meta.get("constants"), f"The trace {name}", "Dialect in #meta")


def dialect_of(constants: object, what: str) -> str:
    """The name of the dialect among the constants of `what`, a model or a trace. ConformError as above."""
    return _forms(constants, what, "the constant Dialect").name


def _forms(constants: object, what: str, where: str) -> Forms:
    dialect = constants.get("Dialect", "KIP848") if isinstance(constants, dict) else "KIP848"
    forms = FORMS.get(dialect) if isinstance(dialect, str) else None
    if forms is None:
        raise ConformError(
            f"{what}: there is no dialect {dialect!r}; {where} is one of {', '.join(FORMS)}.", USAGE
        )
    return forms


def known_name(dialect: str) -> str:
    """Give back the name of a dialect, with its departures. ConformError (exit 2) if there is no such
    dialect."""
    names = list(dict.fromkeys(forms.name for forms in FORMS.values()))
    given = base_of(dialect)
    if given not in names:
        like = get_close_matches(given, names[::-1], 1, _ALIKE) or get_close_matches(
            f"kafka-{given}", names, 1, _ALIKE
        )
        meant = f" Did you mean {like[0]}?" if like else ""
        raise ConformError(f"There is no dialect {given!r}; there are {', '.join(names)}.{meant}", USAGE)
    return dialect


def traces_of(dialect: str) -> tuple[str, ...]:
    """The folders of traces that judge a target of this dialect; its own departures do not count."""
    base = base_of(dialect)
    return ("traces/golden", "traces/corpus") if base == TEXT.name else (f"traces/dialects/{base}",)


def operator_of(dialect: str) -> str:
    """The specification's name of a dialect with this name in --dialect."""
    return next(operator for operator, forms in FORMS.items() if forms.name == base_of(dialect))


def mix(dialect: str) -> str:
    """A dialect with departures as an expression of the specification; "" for one without."""
    changes = ", ".join(f"!.{name} = {_literal(value)}" for name, value in changes_of(dialect).items())
    return f"[{operator_of(dialect)} EXCEPT {changes}]" if changes else ""


def _literal(value: str) -> str:
    """The value of a departure in --dialect's form (yes, 2, at-once), in TLA+."""
    truths = {"yes": "TRUE", "true": "TRUE", "no": "FALSE", "false": "FALSE"}
    return truths.get(value.lower()) or (value if value.isdigit() else f'"{value}"')


def chosen_dialect(given: str | None, judged: Mapping[str, str]) -> str:
    """The dialect that a target must speak: `given` with --dialect, else that of all the `judged` traces.

    KIP-848's text is for every target. ConformError (exit 2) if a trace is of another dialect than the given
    one, or if none is given and there are several.
    """
    if given is not None:
        known_name(given)
        for what, dialect in judged.items():
            if dialect not in (TEXT.name, base_of(given)):
                raise ConformError(
                    f"{what} is of the dialect {dialect!r}, not {given!r}: leave --dialect out.", USAGE
                )
        return given
    names = sorted(set(judged.values()))
    if len(names) > 1:
        several = ", ".join(f"{what} of {dialect!r}" for what, dialect in judged.items())
        raise ConformError(f"There are several dialects: {several}. Judge one at a time.", USAGE)
    return names[0] if names else TEXT.name
