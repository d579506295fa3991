"""The models that must fail are in the manifest; what becomes of their counterexamples on the coordinator."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.check import check_entry
from harness.cli.main import app
from harness.engines.base import Limits, Outcome, silent
from harness.errors import ConformError
from harness.evidence import Records, verify
from harness.itf import read_trace, write_trace
from harness.manifest import read_manifest
from harness.replay.files import replay_files, trace_files

ROOT = Path(__file__).parent.parent
COUNTEREXAMPLES = ROOT / "traces" / "counterexamples"
DEPARTING = ROOT / "tests" / "replay" / "counterexamples"
"""Counterexamples that replay in a dialect of Kafka alone, or do what no conforming coordinator does."""
MANIFEST = read_manifest(ROOT / "spec" / "manifest.json")
MUST_FAIL = {entry.name: entry for entry in MANIFEST.entries if entry.engine == "tlc" and entry.property}

WITHOUT_REQUESTS = {
    *("MCMigrationAssigned", "MCMigrationNoExemption", "MCMigrationNotFreed", "MCMigrationNoR9"),
    *("MCTornConversionFirst", "MCTornConversionKept"),
}
"""Models of spec/ClosedMigration.tla, where the classic protocol is in a short form, and of
spec/TornConversion.tla, which has records alone."""
OF_REFINEMENTS = {name for name in MUST_FAIL if name.startswith(("MCOwnership", "MCInShort"))}
"""Controls of spec/Ownership.tla and spec/ShortClassic.tla: most have another rule in the place of one of the
coordinator's, or of its members'. Each is broken in tests/engines/test_refinements.py."""
OF_KAFKA = {f"MCKafka{version}Migration{which}" for version in (40, 42, 44) for which in ("Back", "Claims")}
"""Hazards of Kafka's own migration. `make test-kafka` replays their counterexamples (traces/kafka)."""
OF_PROOFS = {"MCShapesNamed"}
"""Controls of the shapes that a proof starts from: they break no rule of the protocol."""
REPLAYED = MUST_FAIL.keys() - WITHOUT_REQUESTS - OF_REFINEMENTS - OF_KAFKA - OF_PROOFS
DIALECTS = {"MCKafka44HandOverAny": "kafka-4.4", "MCKafka44HandOverSameId": "kafka-4.4"} | {
    f"MCKafka4{minor}OldIds": f"kafka-4.{minor}" for minor in range(5)
}
DEPARTURES = {
    # O2: the model takes the commit of a member whose epoch is not the member epoch.
    "MCHandOverUnfenced": {
        "OffsetCommit/NONE: response.topics",
        "OffsetCommit/NONE: records[OffsetCommit]",
    },
    # R1, R5: the literal reading adds partitions to a member that still revokes others.
    "MCLiteral": {
        "Heartbeat/narrow/NONE: response.assignment.assignedTopicPartitions",
        "Heartbeat/narrow/NONE: group.members[].assigned",
        "Heartbeat/narrow/NONE: group.members[].pendingRevocation",
        "Heartbeat/narrow/NONE: group.timers[rebalance].deadlineMs",
    },
}
"""Model -> signatures of the differences from a coordinator that keeps the rule which the model lacks."""
CONTROLS = {
    **{
        name: ("", "")
        for name in ("MCInShortAssigned", "MCInShortHasty", "MCInShortOneStep", "MCShapesNamed")
    },
    "MCInShortBarrier": ("JoinTimeout", "C1"),
    "MCOwnershipAhead": ("Join", "E3"),
    "MCOwnershipAll": ("SessionTimeout", "H8"),
    "MCOwnershipAtOnce": ("Heartbeat", "R1"),
    "MCOwnershipBefore": ("Heartbeat", "E3"),
    "MCOwnershipCircles": ("Join", "E1"),
    "MCOwnershipHolders": ("Join", "R3"),
    "MCOwnershipKept": ("LeaveTemporarily", "E1"),
    "MCOwnershipNoR9": ("", ""),
    "MCOwnershipNoZombie": ("", ""),
    "MCOwnershipPending": ("ReceiveResponse", "K3"),
    "MCOwnershipQuiet": ("SessionTimeout", "E1"),
}
"""Other models that must fail -> the step that coordinator or member does otherwise, and a requirement that
the model breaks there; none where the model breaks an assumption, or a form that no implementation shows."""
REFUSED = {
    **{
        name: "classic protocol in a short form without requests"
        for name in WITHOUT_REQUESTS
        if "Migration" in name
    },
    **{
        name: "not a trace of the group protocol"
        for name in ("MCTornConversionFirst", "MCTornConversionKept")
    },
    "MCOwnershipDeleted": "the group is deleted, but it is not empty",
    "MCOwnershipTakesOver": "no member with its instance id is away",
}
"""Models whose counterexample cannot be asked of an implementation -> words of the sentence that says why."""


def test_every_assumption_has_a_model_without_it() -> None:
    """R7's exemption, R9, new member ids on Kafka (R9), groups deleted late (E5), reports that wait for a
    revocation (H7), a worker's reasons that are sent until they are answered (W2), R8's fairness, the
    rebalance time-out (R4), answers that arrive and a coordinator that does not fail (R5), the literal
    reading of R1, the ids that tell static members apart (S2), static members that rejoin in time
    (S1), the partitions that members may still own
    as their group is converted (M1), on Kafka, too, and the order of its batches (P4)."""
    for name, broken in {
        "MCNoExemption": "NoDoubleOwnershipEver",
        "MCNoR9": "NoDoubleOwnership",
        "MCDeleteAtOnce": "NoDoubleOwnership",
        "MCReports": "NoDoubleOwnership",
        **{f"MCKafka4{minor}OldIds": "NoDoubleOwnership" for minor in range(5)},
        "MCLiveUnfair": "EventuallyConverged",
        "MCHangsForEver": "EventuallyConverged",
        "MCConnectHasty": "EventuallyAllWorkRuns",
        "MCToldLost": "NeverBothTold",
        "MCToldFailOver": "NeverBothTold",
        "MCLiteral": "NeverBoth",
        "MCClassicStaticZombie": "NoDoubleOwnershipInAGeneration",
        "MCClassicStaticLate": "NoDoubleOwnership",
        "MCMigrationNoExemption": "NoDoubleOwnershipEver",
        "MCMigrationAssigned": "NoDoubleOwnership",
        "MCMigrationNoR9": "NoDoubleOwnership",
        **dict.fromkeys(OF_KAFKA, "NoDoubleOwnership"),
        "MCOwnershipNoR9": "RefinesOwnership",
        "MCInShortAssigned": "OwnedIsBroughtAlong",
        "MCTornConversionFirst": "OldOrNew",
        "MCTornConversionKept": "OldOrNew",
    }.items():
        assert MUST_FAIL[name].property == broken


def test_a_late_acknowledgement_makes_two_owners_and_the_coordinator_cannot_know() -> None:
    """R9: the coordinator does as specified in every step, and at the end two members own a partition."""
    trace = COUNTEREXAMPLES / "MCNoR9.itf.json"
    last = read_trace(trace).states[-1]
    owned = [client["owned"] for client in last["clients"].values()]
    assert owned[0] & owned[1] and not last["zombies"]
    assert any(state["step"]["action"] == "LoseRequest" for state in read_trace(trace).states)


def test_a_counterexample_of_each_model_that_must_fail_is_committed() -> None:
    files = trace_files([COUNTEREXAMPLES, DEPARTING])
    assert {file.name.partition(".")[0] for file in files} == REPLAYED
    files += [
        ROOT / "traces" / "kafka" / f"kafka-4.{name[8]}" / f"{name}.itf.json" for name in sorted(OF_KAFKA)
    ]
    for file in files:
        trace = read_trace(file)
        entry = MUST_FAIL[trace.meta["model"]]
        assert trace.meta["violated"] == entry.property
        assert len(trace.states) - 1 == entry.length


@pytest.mark.parametrize("name", sorted(REPLAYED))
def test_a_counterexample_replays_with_its_verdict(name: str) -> None:
    """The coordinator conforms where the model breaks an assumption about others, and departs where the model
    lacks a rule of the coordinator's."""
    folder = DEPARTING if name in DIALECTS or name in DEPARTURES else COUNTEREXAMPLES
    replayed = replay_files([folder / f"{name}.itf.json"], "python", DIALECTS.get(name, "kip-848"))
    assert replayed.judged
    assert not replayed.ended_early
    results = {failed.signature(one) for failed in replayed.failures for one in failed.differences}
    assert results == DEPARTURES.get(name, set())


@pytest.mark.parametrize("name", sorted(MUST_FAIL.keys() - REPLAYED - OF_KAFKA))
def test_the_recorded_counterexample_of_a_control_has_its_verdict(name: str, tmp_path: Path) -> None:
    """The recorded counterexample conforms, departs at one step, or is refused with the reason."""
    result = verify(MUST_FAIL[name], MANIFEST.folder)
    assert result.counts, f"{name}: {result.why}"
    assert result.result and result.result.counterexample
    file = tmp_path / f"{name}.itf.json"
    write_trace(file, result.result.counterexample)
    if name in REFUSED:
        with pytest.raises(ConformError, match=REFUSED[name]):
            replay_files([file], "python")
        return
    action, requirement = CONTROLS[name]
    replayed = replay_files([file], "python")
    assert replayed.judged
    assert {failed.action for failed in replayed.failures} == ({action} if action else set())
    broken = {failed.requirement(one) for failed in replayed.failures for one in failed.differences}
    assert requirement in broken if requirement else not broken


@pytest.mark.parametrize("name", ["MCLiveUnfair", "MCKafka44HandOverAny"])
def test_the_counterexample_that_check_writes_replays_as_it_is(name: str, tmp_path: Path) -> None:
    """A model that does not record its steps (TrackSteps = FALSE), and a model of a dialect of Kafka."""
    checked = check_entry(MUST_FAIL[name], Records(MANIFEST.folder), tmp_path, Limits(), silent)
    assert checked.facts and checked.facts["outcome"] == Outcome.VIOLATED
    assert checked.counterexample
    replayed = replay_files([checked.counterexample], "python", DIALECTS.get(name, "kip-848"))
    assert replayed.judged >= 4
    assert replayed.differences == 0


def test_a_trace_without_requests_is_refused_with_the_reason(tmp_path: Path) -> None:
    checked = check_entry(
        MUST_FAIL["MCMigrationNoExemption"], Records(MANIFEST.folder), tmp_path, Limits(), silent
    )
    result = CliRunner().invoke(app, ["replay", str(checked.counterexample)])
    assert result.exit_code == 2
    assert "without requests" in result.stderr


def test_a_dialect_that_the_traces_are_not_of_is_named_before_anything_is_judged() -> None:
    """The target speaks Kafka's dialect, the trace is of the text: its departures are differences."""
    trace = COUNTEREXAMPLES / "MCNoExemption.itf.json"
    result = CliRunner().invoke(app, ["replay", str(trace), "--dialect", "kafka-4.2"])
    first = result.stdout.splitlines()[0]
    assert first.startswith("1 trace is of KIP-848's text (kip-848) and the target speaks kafka-4.2")
