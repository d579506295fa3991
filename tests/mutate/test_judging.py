"""Verdicts on mutants: killed by a trace, by TLC or by the clock; or survived, which is printed."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.itf import read_trace
from harness.mutate import coordinator, simulated, spec
from harness.mutate.equivalent import read_equivalent, stale
from harness.mutate.mutant import (
    KILLED,
    SURVIVED,
    TESTS_OF_ITS_OWN,
    TIMED_OUT,
    UNVIABLE,
    Judged,
    Mutant,
    Verdict,
)
from harness.mutate.pool import run_all
from harness.mutate.report import Mutated, figures, rows, survivors, to_json
from harness.mutate.run import sampled
from harness.replay.decode import Decoder
from harness.replay.files import trace_files

ROOT = Path(__file__).parents[2]
RECONCILE = "coordinator/consumer/reconcile.py"


def changed(path: str, before: str, after: str) -> Mutant:
    source = (ROOT / path).read_text()
    assert source.count(before) == 1
    line = source[: source.index(before)].count("\n") + 1
    return Mutant(path, line, "test", before, after, source.replace(before, after))


@pytest.fixture(scope="module")
def golden() -> coordinator.Traces:
    decoder = Decoder()
    files = [path for path in trace_files([ROOT / "traces/golden"]) if path.suffix == ".json"]
    return coordinator.Traces(
        "golden", "kip-848", [decoder.decode(read_trace(path), str(path)) for path in files]
    )


def test_mutants_of_the_coordinator(golden: coordinator.Traces) -> None:
    surplus = "surplus = member.assigned - target"
    mutants = {
        changed(RECONCILE, surplus, "surplus = member.assigned"): KILLED,
        changed(RECONCILE, surplus, "surplus = member.assigned.difference(target)"): SURVIVED,
        changed(RECONCILE, surplus, "surplus = ="): UNVIABLE,
        changed(RECONCILE, "class Reconciled(NamedTuple):", "class Reconciled(Nothing):"): UNVIABLE,
        changed(RECONCILE, "    surplus = member", "    while True: pass\n    surplus = member"): "",
        changed(RECONCILE, "    own = (", "    import os; os._exit(3)\n    own = ("): KILLED,
    }
    given = {
        done.task: done.verdict
        for done in run_all(list(mutants), lambda mutant: coordinator.judge(mutant, [golden]), 2, 5.0)
    }
    for mutant, outcome in mutants.items():
        got = given[mutant]
        assert (got and got[0]) == (outcome or None), (mutant.after, got)
    killed = given[next(iter(mutants))]
    assert killed and "itf.json, step " in killed.by, "the trace, the step and the signature are told"
    assert [Path(name).name for name in killed.on] == [killed.by.partition(",")[0]], "it rests on that trace"
    assert coordinator.verdict([golden])[0] == SURVIVED, "this process still has the original"


def test_every_committed_trace_of_a_text_judges_mutants() -> None:
    """Traces of dialects are checks of their own; those of traces/kafka hold on Kafka's coordinator alone."""
    mutant = Mutant("coordinator/share/service.py", 1, "test", "", "", "")
    checks = coordinator.checks_of(ROOT, mutant, [], False, False, with_tests=True)
    folders = {path.relative_to(ROOT).parts[1] for path in (ROOT / "traces").rglob("*.itf.json")}
    replayed = {name.removeprefix("traces/") for name in checks["committed traces"]}
    assert replayed == folders - {"dialects", "kafka"}
    assert "tests/share/test_share_groups.py" in checks[TESTS_OF_ITS_OWN]


def test_mutants_of_members() -> None:
    """Few traces have a member; simulations of one client and of whole groups notice."""
    machine, state = "coordinator/members/consumer/machine.py", "if self._state is State.JOINING:"
    mutants = {
        changed(machine, state, "if self._state is not State.JOINING:"): "client, seed ",
        changed(machine, state, "if self._state is State.JOINING and True:"): simulated.Client.name,
    }
    given = {
        done.task: done.verdict
        for done in run_all(
            list(mutants), lambda mutant: coordinator.judge(mutant, simulated.SIMULATIONS), 2, 60.0
        )
    }
    for mutant, by in mutants.items():
        got = given[mutant]
        assert got and got.by.startswith(by), (mutant.after, got)


def test_mutants_of_the_specification() -> None:
    checks = spec.read_checks(ROOT, 60.0)
    names = [(spec.SCENARIOS, frozenset({"Coordinator.tla"}))]
    few = spec.with_behaviours(spec.Checks(ROOT, checks.scenarios[:2], names, 60.0))
    of_coordinator = checks.of("Coordinator.tla")
    assert of_coordinator[:2] == ["MCTour", "MCKafka42GivesUp"] and set(of_coordinator[-2:]) == set(spec.LAST)
    assert not set(spec.LAST) & set(spec.read_checks(ROOT, 60.0, 400).of("Coordinator.tla"))
    path = "spec/Coordinator.tla"
    assigned = "TargetOf(g, m) \\ HeldByOthers(g, m),"

    def judge(mutant: Mutant) -> Verdict:
        return spec.judge((mutant, [spec.SCENARIOS]), few)

    outcome, by, on = judge(changed(path, assigned, "TargetOf(g, m),"))
    assert on == spec.SCRIPTS
    assert outcome == KILLED, by
    assert "basic.yaml" in by or "incremental.yaml" in by
    outcome, by, _ = judge(changed(path, assigned, "TargetOf(g, m) ) HeldByOthers(g, m),"))
    assert outcome == UNVIABLE, by
    outcome, by, _ = judge(changed(path, '# old.epoch THEN "advance"', '# old.epoch THEN "moves"'))
    assert outcome == KILLED and "another state" in by, "what no document prints counts, too"


def test_a_model_that_cannot_notice_is_not_run() -> None:
    path = "spec/Coordinator.tla"
    few, no_time = (spec.Checks(ROOT, [], [], limit_s) for limit_s in (60.0, 0.001))
    kafka = changed(path, "ELSE IF holder = {} THEN UnknownError(g)", 'ELSE IF holder = {} THEN "NONE"')
    assert spec.judge((kafka, ["MCTour", "MCOpen"]), no_time) == Verdict(SURVIVED, "MCTour, MCOpen")
    both = changed(path, "new.subscription # old.subscription", "FALSE")
    assert spec.judge((both, ["MCTour"]), no_time).outcome == TIMED_OUT
    assert spec.judge((both, ["MCTour"]), few)[:2] == (KILLED, "MCTour: property TargetIsLegal violated")


def test_a_step_that_is_lost_is_noticed_where_no_state_is() -> None:
    few = spec.Checks(ROOT, [], [], 60.0)
    without = changed("spec/OpenGroup.tla", "  \\/ SessionTimeout\n", "")
    outcome, by, on = spec.judge((without, ["MCTour"]), few)
    assert (outcome, on) == (KILLED, ("MCTour",))
    assert by.startswith("MCTour: generated_states ") and spec.by_figure(by)


def test_mutants_that_only_a_figure_notices_are_counted_apart() -> None:
    given = [
        "MCTour: property TargetIsLegal violated",
        "MCTour: distinct_states 311, not 312",
        "scenarios: x.yaml, step 2",
    ]
    of_spec = [Mutant("spec/A.tla", line, "o", "", "", str(line)) for line in range(len(given))]
    of_python = Mutant("coordinator/a.py", 1, "o", "", "", "")
    judged = [Judged(mutant, KILLED, by, 0.1) for mutant, by in zip(of_spec, given, strict=True)]
    outcome = Mutated(
        [*of_spec, of_python], [*judged, Judged(of_python, KILLED, "a.itf.json: depth", 0.1)], [], []
    )
    assert [one.by for one in outcome.by_figures] == given[1:2]
    [sentence] = figures(outcome)
    assert sentence.startswith("1 of 3 mutants of the specification")
    assert [row["by"] for row in to_json(outcome, 0)["by_figures"]] == given[1:2]


def test_a_task_that_takes_too_long_is_ended() -> None:
    def work(seconds: float) -> Verdict:
        time.sleep(seconds)
        return Verdict("slept", str(os.getpid()))

    done = {one.task: one.verdict for one in run_all([0.0, 600.0, 0.01], work, 3, 1.0)}
    assert done[600.0] is None
    assert done[0.0] and done[0.0][0] == "slept"
    assert done[0.01] and done[0.01][1] != str(os.getpid())


def test_none_is_begun_when_the_time_is_up() -> None:
    assert list(run_all([1, 2], lambda _: Verdict("", ""), 2, 1.0, time.monotonic() - 1)) == []


def result(known_toml: str, folder: Path) -> Mutated:
    mutants = [Mutant("a.py", line, "o", f"old {line}", f"new {line}", str(line)) for line in range(1, 6)]
    outcomes = [KILLED, SURVIVED, SURVIVED, TIMED_OUT, UNVIABLE]
    judged = [Judged(*one, "a check", 0.1) for one in zip(mutants, outcomes, strict=True)]
    path = folder / "equivalent.toml"
    path.write_text(known_toml)
    known = read_equivalent(path)
    return Mutated(mutants, judged, known, list(stale(known, mutants, judged)))


def entry(before: str, after: str, reason: str = "why") -> str:
    return f"[[equivalent]]\npath = 'a.py'\nbefore = '{before}'\nafter = '{after}'\nreason = '{reason}'\n"


def test_score_and_survivors(tmp_path: Path) -> None:
    outcome = result(entry("old 2", "new 2"), tmp_path)
    assert outcome.counts() == {
        "mutants": 5,
        "judged": 5,
        "killed": 2,
        "timed_out": 1,
        "survived": 1,
        "equivalent": 1,
        "unviable": 1,
        "score": 66.7,
    }
    assert list(survivors(outcome)) == ["a.py:3 (o) survived a check", "  - old 3", "  + new 3"]
    assert next(rows(outcome))[0] == "a.py"
    written = to_json(outcome, 0)
    assert json.loads(json.dumps(written)) == written
    assert [row["reason"] for row in written["equivalent"]] == ["why"]


def test_an_entry_that_is_not_true_any_more_is_stale(tmp_path: Path) -> None:
    gone, killed = entry("old 9", "new 9"), entry("old 1", "new 1")
    problems = result(gone + killed, tmp_path).problems
    assert len(problems) == 2
    assert "any more" in problems[0] and "killed by a check" in problems[1]


def test_an_entry_without_a_reason_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConformError, match="say why"):
        result(entry("old 1", "new 1", " "), tmp_path)


def test_a_sample_follows_from_the_seed() -> None:
    mutants = [Mutant("a.py", line, "o", "", "", str(line)) for line in range(100)]
    assert sampled(mutants, 10, 1) == sampled(mutants, 10, 1) != sampled(mutants, 10, 2)
    assert sampled(mutants, None, 1) == mutants
