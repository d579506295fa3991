"""Coverage of a specification: the arms, the copy of the model that counts them, the record, the page."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.coverage.arms import Arm, extents
from harness.coverage.follow import follow, traces_by_model
from harness.coverage.instrument import instrumented
from harness.coverage.measure import Reached, measure
from harness.coverage.record import read_record, write_record
from harness.engines.base import EngineError, Limits, silent
from harness.errors import ConformError
from harness.itf import Trace, write_trace
from harness.manifest import Entry, read_manifest
from harness.report.specification import gaps, page

HERE = Path(__file__).parent
LIMITS = Limits("500m", 120, brief=True)


@pytest.fixture(scope="module")
def specification(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("coverage") / "spec"
    folder.mkdir()
    for name in ("Small.tla", "Small.cfg", "SmallParts.tla", "manifest.json"):
        shutil.copy(HERE / name, folder)
    return folder


@pytest.fixture(scope="module")
def reached(specification: Path) -> Reached:
    result = Reached()
    measure(read_manifest(specification / "manifest.json").entry("Small"), result, LIMITS, silent)
    return result


def _text(arm: Arm, specification: Path) -> str:
    lines = (specification / f"{arm.module}.tla").read_text().splitlines()
    part = lines[arm.begin[0] - 1 : arm.end[0]]
    part[-1] = part[-1][: arm.end[1]]
    return " ".join("\n".join([part[0][arm.begin[1] - 1 :], *part[1:]]).split())


def test_arms_that_no_model_reaches(specification: Path, reached: Reached) -> None:
    open_arms = reached.open_arms(sorted(reached.extents))
    assert [(arm.definition, arm.what, _text(arm, specification)) for arm in open_arms] == [
        ("Step", "THEN", "{}"),
        ("Step", "a conjunct", "UNCHANGED vars"),
        ("Sort", "a value of CASE", '"never"'),
        ("Sort", "the definition", "count - 1"),
        ("Sort", "ELSE", '"never"'),
        ("Vacuous", "the right side of =>", 'seen = {"c"}'),
        ("Unused", "the definition", 'name = "c"'),
    ]


def test_reached_arms_are_not_listed(specification: Path, reached: Reached) -> None:
    texts = {(arm.what, _text(arm, specification)) for arm in reached.by}
    assert {
        ("the body of \\A", "n \\in Names"),
        ("the condition of a set", "count > 0 /\\ Later(n, count)"),
        ("a disjunct", "at > 1"),
        ("a conjunct", "at < 100"),
        ("THEN", '"later"'),
    } <= texts


def test_constants_and_tuples_have_no_arms(reached: Reached) -> None:
    assert not {"Names", "vars", "Spec"} & {extent.name for extent in reached.extents}


def test_each_word_keeps_its_column(specification: Path) -> None:
    text = (specification / "Small.tla").read_text()
    results = [one for one in extents(specification / "Small.tla", LIMITS) if one.module == "Small"]
    arms = [arm for one in results for arm in one.arms]
    copy = instrumented(text, {arm: number for number, arm in enumerate(arms, start=1)})
    before = [(line.index(word[0]), word) for line in text.splitlines() for word in [line.split()] if word]
    kept = [line for line in copy.splitlines() if line.strip()]
    for column, words in before:
        assert any(line.find(words[0]) == column for line in kept), words


def followed(specification: Path, counts: int) -> Reached:
    """A begun model that goes on from states up to this count."""
    nobody: frozenset[str] = frozenset()
    states = [{"count": count, "seen": nobody} for count in range(counts)]
    trace = Trace({"model": "Small"}, ("count", "seen"), states)
    result = Reached(begun={"Small": 0.1})
    entry = read_manifest(specification / "manifest.json").entry("Small")
    assert follow(entry, [trace], result, LIMITS, silent) == len(result.by)
    assert result.followed == {"Small": 1}
    return result


def test_traces_of_a_begun_model_reach_the_arms_of_their_states_alone(
    specification: Path, reached: Reached
) -> None:
    one, two = followed(specification, 1), followed(specification, 2)
    assert set(one.by) < set(two.by) <= set(reached.by)
    more = {_text(arm, specification) for arm in two.by.keys() - one.by.keys()}
    assert more == {"n \\in Names", "at > 1", "Later(n, count)"}


def test_traces_are_chosen_by_the_model_that_they_name(tmp_path: Path) -> None:
    assert traces_by_model(tmp_path / "none") == {}
    (tmp_path / "deep").mkdir()
    for name in ("a", "b"):
        write_trace(tmp_path / "deep" / f"{name}.itf.json", Trace({"model": name}, ("x",), [{"x": 1}]))
    assert {name: len(traces) for name, traces in traces_by_model(tmp_path).items()} == {"a": 1, "b": 1}


def test_a_copy_that_gives_other_figures_is_an_error(specification: Path) -> None:
    entry = read_manifest(specification / "manifest.json").entry("Small")
    with pytest.raises(
        EngineError, match="The copy of Small with counted arms gives distinct_states 4, expected 5"
    ):
        measure(replace(entry, distinct_states=5), Reached(), LIMITS, silent)


def test_a_model_with_nothing_to_add_does_not_run(specification: Path, reached: Reached) -> None:
    entry = replace(read_manifest(specification / "manifest.json").entry("Small"), name="Again")
    known = Reached(by=dict.fromkeys((arm for one in reached.extents for arm in one.arms), "Small"))
    assert measure(entry, known, LIMITS, silent) == 0
    assert (known.models, known.idle) == ([], ["Again"])


def test_the_record_gives_back_what_was_measured(
    specification: Path, reached: Reached, tmp_path: Path
) -> None:
    write_record(tmp_path / "Coverage.json", reached, specification)
    recorded = read_record(tmp_path / "Coverage.json", specification)
    assert recorded.reached == reached
    assert not recorded.changed


@pytest.mark.parametrize("modules", [[], 3, {"Small": []}, {"Small": {"Sort": 1}}])
def test_a_damaged_record_is_a_sentence(specification: Path, modules: object, tmp_path: Path) -> None:
    path = tmp_path / "Coverage.json"
    path.write_text(json.dumps({"models": [], "idle": [], "files": {}, "modules": modules}))
    with pytest.raises(ConformError, match="is not a record of coverage"):
        read_record(path, specification)


def test_an_edited_definition_counts_as_not_measured(
    specification: Path, reached: Reached, tmp_path: Path
) -> None:
    write_record(tmp_path / "Coverage.json", reached, specification)
    edited = shutil.copytree(specification, tmp_path / "spec")
    module = edited / "Small.tla"
    module.write_text(module.read_text().replace("Sort ==", "\n\nSort ==").replace("count = 7", "count = 8"))
    recorded = read_record(tmp_path / "Coverage.json", edited)
    assert recorded.changed == (("Small", "Vacuous"),)
    assert [(arm.definition, _text(arm, edited)) for arm in gaps(recorded) if arm.definition == "Sort"] == [
        ("Sort", '"never"'),
        ("Sort", "count - 1"),
        ("Sort", '"never"'),
    ]


def test_the_page_marks_unreached_expressions(specification: Path, reached: Reached, tmp_path: Path) -> None:
    write_record(tmp_path / "Coverage.json", reached, specification)
    shown = page(read_record(tmp_path / "Coverage.json", specification), specification, 1)
    assert ">UNCHANGED vars</mark>" in shown
    assert ">count + 1</mark>" not in shown
    assert "Vacuous: the right side of =&gt; is never evaluated" in shown


def test_the_verb_measures_models_now(specification: Path, tmp_path: Path) -> None:
    out = tmp_path / "coverage"
    ended = CliRunner().invoke(
        app,
        [
            *("coverage", "Small", "--manifest", str(specification / "manifest.json"), "--out", str(out)),
            *("--json", str(tmp_path / "coverage.json")),
        ],
    )
    assert ended.exit_code == 0, ended.output
    assert "Small.tla, line 23: THEN in Step" in ended.output
    assert (out / "index.html").is_file()
    assert len(json.loads((tmp_path / "coverage.json").read_text())["unreached"]) == 7


def test_the_verb_records_and_shows_the_record(specification: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(specification, tmp_path / "spec")
    (copy / "evidence").mkdir()
    options = ["--manifest", str(copy / "manifest.json"), "--out", str(tmp_path / "coverage")]
    missing = CliRunner().invoke(app, ["coverage", *options])
    assert missing.exit_code == 2
    assert "conform coverage --record-evidence" in missing.output
    assert CliRunner().invoke(app, ["coverage", "--record-evidence", *options]).exit_code == 0
    shown = CliRunner().invoke(app, ["coverage", *options])
    assert shown.exit_code == 0
    assert "nothing was measured now" in shown.output


def test_a_record_that_was_stopped_goes_on(
    specification: Path, reached: Reached, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(specification, tmp_path / "spec")
    entries = json.loads((copy / "manifest.json").read_text())["models"]
    again = entries[0] | {"name": "Again", "config": "Small.cfg", "seconds": 2}
    (copy / "manifest.json").write_text(json.dumps({"models": [*entries, again]}))
    (copy / "evidence").mkdir()
    write_record(copy / "evidence" / "Coverage.json", reached, copy)
    ran = []

    def counted(entry: Entry, *rest: Any) -> int:
        ran.append(entry.name)
        return measure(entry, *rest)

    monkeypatch.setattr("harness.cli.coverage.measure", counted)
    options = ["--manifest", str(copy / "manifest.json"), "--out", str(tmp_path / "coverage")]
    shown = CliRunner().invoke(app, ["coverage", *options])
    assert "1 of 2 models of TLC are not measured" in shown.output
    assert CliRunner().invoke(app, ["coverage", "--record-evidence", *options]).exit_code == 0
    assert ran == ["Again"]
    parts = copy / "SmallParts.tla"
    parts.write_text(parts.read_text().replace("Unused(name)", "\\* not used\nUnused(name)"))
    assert CliRunner().invoke(app, ["coverage", "--record-evidence", *options]).exit_code == 0
    parts.write_text(parts.read_text().replace('name = "c"', 'name = "c"  \\* not used'))
    assert not read_record(copy / "evidence" / "Coverage.json", copy).changed
    assert CliRunner().invoke(app, ["coverage", "--record-evidence", *options]).exit_code == 0
    assert ran == ["Again"], "a comment costs nothing"
    module = copy / "Small.tla"
    module.write_text(module.read_text().replace("count = 7", "count = 8"))
    assert CliRunner().invoke(app, ["coverage", "--record-evidence", *options]).exit_code == 0
    assert ran == ["Again", "Small", "Again"]


def test_a_real_model_keeps_its_figures() -> None:
    """The lists of the real modules are nested in many ways; a moved column would give other states."""
    result = Reached()
    measure(read_manifest(Path("spec/manifest.json")).entry("MCTour"), result, LIMITS, silent)
    assert {"Heartbeat", "Reconcile", "BranchOf"} <= {arm.definition for arm in result.by}


def test_the_committed_record_can_be_read() -> None:
    recorded = read_record(Path("spec/evidence/Coverage.json"), Path("spec"))
    modules = {extent.module for extent in recorded.reached.extents}
    assert {"Coordinator", "ClassicCoordinator", "Connect", "Migration", "ShareGroups"} <= modules


def test_a_model_that_does_not_end_is_begun_and_measured_longer_later(
    specification: Path, tmp_path: Path
) -> None:
    endless = shutil.copytree(specification, tmp_path / "spec")
    settings = (endless / "Small.cfg").read_text()
    endless_settings = re.sub("Limit = .*", "Limit = 99999999", settings).replace("Vacuous", "")
    (endless / "Small.cfg").write_text(endless_settings)
    verb = ["coverage", "--manifest", str(endless / "manifest.json"), "--out", str(tmp_path / "page")]
    ended = CliRunner().invoke(app, [*verb, "--record-evidence", "--timeout", "3"])
    assert ended.exit_code == 0, ended.output
    assert "0 models ran to their end, 1 were stopped before their end, 0 had nothing to add" in ended.output
    assert "in Unused (a model that did not end may reach it)" in ended.output
    recorded = read_record(endless / "evidence" / "Coverage.json", endless)
    assert recorded.reached.begun == {"Small": 3}
    assert "some may still be reached" in (tmp_path / "page" / "index.html").read_text()
    assert "1 of 1: " not in CliRunner().invoke(app, [*verb, "--record-evidence", "--timeout", "3"]).output
