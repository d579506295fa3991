"""`conform validate` of groups that migrate Kafka's way: runs of Kafka 4.2.1 itself, also made wrong.

tests/kafka records the log anew; of Kafka's answers the log keeps the fields that are compared. Its first run
goes there and back; most others end with a step that spec/KafkaMigration.tla does not model. In the last run
the leader is not the first member by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from judged import report_of, write

from harness.cli.validate import command as validate
from harness.errors import USAGE, ConformError
from harness.kinds.classic import wire as classic
from harness.replay import wire
from harness.targets.base import Json

LOG = Path(__file__).parents[1] / "data" / "kafka-4.2-migration.jsonl"
STEPS = 36
"""The steps of the first run that are judged."""
JOIN, SYNC, BEAT = "JoinGroup", "SyncGroup", wire.HEARTBEAT
ENDS = {
    43: (JOIN, 2, "with a member id, to a consumer group that is empty"),
    60: (BEAT, 2, "converts a group while a time-out of the last time runs"),
    70: (JOIN, 2, "is one member too many"),
    79: (JOIN, 1, "has a protocol that others do not have"),
    84: (BEAT, 2, "converts a group in its first delay"),
    97: (BEAT, 1, "is refused while somebody waits"),
    116: (BEAT, 1, "to a group of another type"),
    118: (wire.COMMIT, 3, "makes a group"),
    128: ("AddPartitions", 2, "is no step of the model"),
    139: (BEAT, 1, "of a static member that goes for a while"),
    149: (SYNC, 1, "of another protocol"),
    159: (SYNC, 1, "of another type"),
    169: (SYNC, 1, "with an instance id"),
    177: (BEAT, 1, "converts a group with too many members"),
    184: (BEAT, 1, "converts a group with a subscription that is too old"),
    207: (BEAT, 1, "of a classic group's member, with an instance id"),
    215: (BEAT, 1, "with an instance id that the member did not have"),
    223: (BEAT, 2, "of a member of the classic protocol, with an instance id"),
}
"""The lines that the specification does not model, and the number of lines that are left out from there
on."""


def recorded() -> list[Json]:
    return [json.loads(line) for line in LOG.read_text().splitlines()]


def numbered(lines: list[Json], number: int) -> Json:
    """The answer of a line, which becomes the last one."""
    del lines[number:]
    answer: Json = lines[number - 1]["answer"]
    return answer


def member(lines: list[Json], number: int, name: str) -> Json:
    """A member in the form that a line shows."""
    members: list[Json] = numbered(lines, number)["group"]["members"]
    return next(one for one in members if one["memberId"] == name)


def must_rejoin_before_the_answer(lines: list[Json]) -> None:
    member(lines, 10, "a")["classicState"] = "PreparingRebalance"


def keeps_the_partitions_that_it_reports(lines: list[Json]) -> None:
    """M1: it is what the log assigns to it."""
    member(lines, 10, "a")["assigned"][0]["partitions"] = [0]


def commits_with_an_old_generation(lines: list[Json]) -> None:
    numbered(lines, 11)["body"]["topics"][0]["partitions"][0]["errorCode"] = 0


def need_not_rejoin(lines: list[Json]) -> None:
    numbered(lines, 12)["body"]["errorCode"] = 0


def is_to_have_what_another_is(lines: list[Json]) -> None:
    member(lines, 12, "c")["target"][0]["partitions"] = [0, 1]


def joins_with_a_wrong_generation(lines: list[Json]) -> None:
    numbered(lines, 13)["body"]["errorCode"] = 22


def owes_no_syncgroup(lines: list[Json]) -> None:
    member(lines, 15, "a")["classicState"] = "Stable"


def is_answered_and_owes_a_syncgroup(lines: list[Json]) -> None:
    """Both times run, of which that to rejoin is shown."""
    member(lines, 18, "a")["classicState"] = "CompletingRebalance"


def must_rejoin_after_a_fail_over(lines: list[Json]) -> None:
    """P2: no member has been told to rejoin."""
    member(lines, 22, "a")["classicState"] = "PreparingRebalance"


def is_sent_what_has_not_changed(lines: list[Json]) -> None:
    """R5: its request has no rebalance time-out."""
    assigned = [{"topicId": wire.topic_id("foo"), "partitions": [1]}]
    numbered(lines, 28)["body"]["assignment"] = {"assignedTopicPartitions": assigned}


def ends_for_another(lines: list[Json]) -> None:
    """The following lines tell whose session ended."""
    numbered(lines, 31)
    lines[29]["answer"].pop("group")
    lines[29]["answer"]["fired"][0]["member"] = "a"


def does_not_leave(lines: list[Json]) -> None:
    numbered(lines, 29)["body"]["members"][0]["errorCode"] = 25


def computes_as_a_member_leaves(lines: list[Json]) -> None:
    numbered(lines, 29)["group"]["assignmentEpoch"] = 4


def has_its_target_no_more(lines: list[Json]) -> None:
    """M1: as the group is converted back."""
    member(lines, 30, "a")["assignment"] = classic.assignment(frozenset())


def refuses_an_empty_groups_commit(lines: list[Json]) -> None:
    numbered(lines, 35)["body"]["topics"][0]["partitions"][0]["errorCode"] = 25


def remembers_its_epoch(lines: list[Json]) -> None:
    """E4: of an empty group nothing is left."""
    numbered(lines, 37)["body"]["memberEpoch"] = 7


SPOILED: dict[Callable[[list[Json]], None], tuple[int, str]] = {
    must_rejoin_before_the_answer: (5, "a.phase: stable, not prepare"),
    keeps_the_partitions_that_it_reports: (5, "a.assigned: {foo-0, foo-1}, not {foo-0}"),
    commits_with_an_old_generation: (6, "response.error: ILLEGAL_GENERATION, not NONE"),
    need_not_rejoin: (7, "response.error: REBALANCE_IN_PROGRESS, not NONE"),
    is_to_have_what_another_is: (7, "target of c: {foo-1}, not {foo-0, foo-1}"),
    joins_with_a_wrong_generation: (8, "response.error: NONE, not ILLEGAL_GENERATION"),
    owes_no_syncgroup: (10, "a.phase: complete, not stable"),
    is_answered_and_owes_a_syncgroup: (13, "a.phase: both, not complete"),
    must_rejoin_after_a_fail_over: (16, "a.phase: stable, not prepare"),
    is_sent_what_has_not_changed: (22, "response.assigned: (none), not {foo-1}"),
    does_not_leave: (23, "response.error: NONE, not UNKNOWN_MEMBER_ID"),
    computes_as_a_member_leaves: (23, "group.assignmentEpoch: 3, not 4"),
    has_its_target_no_more: (24, "a.assignment: {foo-0}, not {}"),
    ends_for_another: (25, "response.error: UNKNOWN_MEMBER_ID, not ILLEGAL_GENERATION"),
    refuses_an_empty_groups_commit: (29, "response.error: NONE, not UNKNOWN_MEMBER_ID"),
    remembers_its_epoch: (31, "response.epoch: 1, not 7"),
}
"""The number of steps that fit, and the report on the next step."""


def first_run(lines: list[Json]) -> list[Json]:
    begins = [number for number, line in enumerate(lines) if line["op"] == "load"]
    return lines[: begins[1]]


def nearest(run: Json) -> list[str]:
    differences: list[Any] = run["instead"][0]["differences"]
    return [f"{one['path']}: {one['expected']}, not {one['got']}" for one in differences]


def test_kafkas_way_is_judged_and_other_runs_are_rejected(tmp_path: Path) -> None:
    """All runs hold, each up to the step that the specification does not model; a spoiled run does not
    fit."""
    logs = [deepcopy(first_run(recorded())) for _ in SPOILED]
    for log, spoil in zip(logs, SPOILED, strict=True):
        spoil(log)
    result = report_of(tmp_path / "log", recorded(), *logs)
    assert result["dialect"] == "kafka-4.2"
    assert result["left_out"] == {
        f"from line {number} on, whose {does} the specification leaves out": count
        for number, (does, count, _) in ENDS.items()
    }
    whole = len(result["runs"]) - len(SPOILED)
    assert whole == len(ENDS) - 1 + 4  # the first line of one is left out, and four are judged to their end
    assert all(run["fits"] == run["steps"] for run in result["runs"][:whole])
    assert result["runs"][0]["fits"] == STEPS
    wrong = result["runs"][whole:]
    assert [(run["fits"], nearest(run)[0]) for run in wrong] == [*SPOILED.values()]


def test_a_run_without_a_description_is_an_error(tmp_path: Path) -> None:
    """As a log without any step is: its first line is left out already, and all that follow."""
    lines = recorded()
    write(tmp_path / "log", [*lines[:2], *lines[116:120]])
    sentence = r"from line 4 on, whose OffsetCommit .*: 3.*nothing to validate"
    with pytest.raises(ConformError, match=sentence) as caught:
        validate(tmp_path / "log")
    assert caught.value.exit_code == USAGE
