"""Every step of the protocol exercises a requirement, and every name of a requirement is one of the table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness import requirement_page
from harness.kinds.classic import description as classic
from harness.kinds.classic.steps import CLASSIC_HANDLERS
from harness.kinds.connect import description as connect
from harness.kinds.connect.steps import CONNECT_HANDLERS
from harness.kinds.consumer.steps import HANDLERS
from harness.report.coverage import BRANCHES, ERRORS
from harness.requirements import (
    BY_ACTION,
    BY_BRANCH,
    BY_ERROR,
    broken,
    requirements,
    sentences,
)

ROOT = Path(__file__).parents[2]
KNOWN = set(re.findall(r"^\| ([A-Z]\d+) \|", (ROOT / "REQUIREMENTS.md").read_text(), re.MULTILINE))
OFFSETS = ("OffsetCommit", "OffsetFetch")
OFFSET_ERRORS = {"STALE_MEMBER_EPOCH", "UNKNOWN_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION"}


@pytest.mark.parametrize("action", sorted(HANDLERS))
def test_an_action_has_a_requirement(action: str) -> None:
    assert requirements(action, "", "NONE")
    assert action in BY_ACTION


@pytest.mark.parametrize("branch", BRANCHES)
def test_a_branch_has_a_requirement(branch: str) -> None:
    assert set(requirements("Heartbeat", branch, "NONE")) > {"E4"}
    assert requirements("Heartbeat", branch, "NONE")[0] == BY_BRANCH[branch][0]


@pytest.mark.parametrize("error", sorted(set(ERRORS) - {"NONE"}))
def test_an_error_has_a_requirement(error: str) -> None:
    if error in OFFSET_ERRORS:
        assert set(requirements("OffsetCommit", "", error)) == {"O1", "O2"}
    else:
        assert requirements("Heartbeat", "", error)[0] == BY_ERROR[error][0]


@pytest.mark.parametrize("action", sorted({*CLASSIC_HANDLERS, *CONNECT_HANDLERS}))
def test_an_action_of_a_classic_group_has_a_requirement(action: str) -> None:
    assert requirements(action, "", "NONE")


def test_a_worker_that_computes_is_about_workers() -> None:
    assert requirements("InstallAssignment", "worker", "NONE") == ("W4", "W2")
    assert requirements("InstallAssignment", "", "INVALID_ASSIGNMENT")[0] == "A7"


def test_no_other_names_are_there() -> None:
    assert BY_ACTION.keys() == set(HANDLERS)
    assert classic.REQUIREMENTS.keys() == CLASSIC_HANDLERS.keys() - HANDLERS.keys()
    assert connect.REQUIREMENTS.keys() >= CONNECT_HANDLERS.keys() - HANDLERS.keys()
    assert connect.REQUIREMENTS.keys() <= CONNECT_HANDLERS.keys()
    assert BY_BRANCH.keys() == set(BRANCHES)
    assert BY_ERROR.keys() == set(ERRORS) - OFFSET_ERRORS - {"NONE"}


def test_every_requirement_that_is_named_is_one() -> None:
    named = {
        one
        for table in (BY_ACTION, BY_BRANCH, BY_ERROR, classic.REQUIREMENTS, connect.REQUIREMENTS)
        for ids in table.values()
        for one in ids
    }
    assert named <= KNOWN
    assert len(named) > 20


@pytest.mark.parametrize("action", OFFSETS)
@pytest.mark.parametrize("error", ["UNKNOWN_MEMBER_ID", "STALE_MEMBER_EPOCH"])
def test_a_commit_or_fetch_that_is_fenced_is_first_about_fencing(action: str, error: str) -> None:
    assert requirements(action, "", error)[0] == {"OffsetCommit": "O2", "OffsetFetch": "O4"}[action]
    assert requirements(action, "", "NONE")[0] == "O1"


@pytest.mark.parametrize(
    ("paths", "requirement"),
    [
        (["records[ConsumerGroupMetadata]"], "P1"),
        (["group.timers[session]"], "H8"),
        (["group.timers[rebalance]"], "R4"),
        (["records[ConsumerGroupMetadata]", "response.memberEpoch"], "R6"),
        (["response.memberEpoch"], "R6"),
        (["response.assignment.pendingTopicPartitions", "group.members[m].assigned"], "R3"),
    ],
)
def test_records_alone_and_timers_alone_break_their_own_requirement(
    paths: list[str], requirement: str
) -> None:
    assert broken("Heartbeat", "advance", "NONE", paths) == requirement


def test_the_wheels_sentences_and_the_page_are_those_of_the_table() -> None:
    text = (ROOT / requirement_page.TABLE).read_text(encoding="utf-8")
    made = "Make them again: python -m harness.requirement_page"
    assert (ROOT / requirement_page.SENTENCES).read_text() == requirement_page.sentences(text), made
    assert (ROOT / requirement_page.PAGE).read_text() == requirement_page.page(text), made
    assert sentences().keys() == KNOWN and sentences()["R4"].startswith(
        "A revocation that is not acknowledged"
    )
    assert '<a id="R4"></a>R4 | A revocation' in requirement_page.page(text)
