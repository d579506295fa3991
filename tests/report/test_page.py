"""The page of `conform report`, read with the standard library: nothing is fetched, every anchor resolves."""

from __future__ import annotations

import json
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from results_folder import (
    GOLDEN,
    ROOT,
    by_evidence,
    crashed,
    fails_as_expected,
    good_build,
    holds,
    replayed,
    write,
    wrong_count,
    wrong_trace,
)
from typer.testing import CliRunner, Result

from harness.check import Checked
from harness.cli.main import app
from harness.errors import (
    ENGINE_FAILED,
    EVIDENCE_MISSING,
    HOLDS,
    MODEL_VIOLATED,
    NOT_CONFORMANT,
    USAGE,
)
from harness.evidence import Status

VOID = {"meta", "link", "img", "br", "hr", "input", "wbr"}


class Page(HTMLParser):
    """Texts, tags, attributes and anchors of a page; an element that is not closed fails."""

    def __init__(self, path: Path) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.source = path.read_text(encoding="utf-8")
        self.feed(self.source)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in VOID:
            self._open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", "xlink:href") and tag == "a":
                self.links.append(value or "")
            elif name in ("href", "xlink:href", "src", "srcset", "action", "data"):
                self.fetched.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def report(build: Path, *args: str) -> Result:
    return CliRunner().invoke(app, ["report", "--results", str(build), "--manifest", "none", *args])


def page(build: Path) -> Page:
    return Page(build / "report" / "index.html")


def test_a_run_in_which_everything_holds(tmp_path: Path) -> None:
    build = good_build(tmp_path, [holds("MCSmall"), by_evidence("ProofOpen2Step")])
    result = report(build)
    assert result.exit_code == HOLDS, result.output
    shown = page(build)
    assert "Everything holds" in shown.text
    assert "520,199" in shown.text
    assert (
        "1 of these results were not computed in this run but accepted from recorded evidence" in shown.text
    )
    assert "recorded evidence, accepted" in shown.text
    assert "not reached by these traces: Activate, AddPartitions" in " ".join(shown.text.split())
    assert "drawn" in shown.text
    assert str(build / "report" / "index.html") in result.output


def test_the_page_is_whole_by_itself(tmp_path: Path) -> None:
    build = good_build(tmp_path, [crashed("MCSmall"), wrong_count("MCOpen")], wrong_trace(tmp_path))
    write(build / "mutants.json", [MUTANT])
    report(build)
    shown = page(build)
    assert shown.fetched == []
    assert not {"link", "iframe", "img", "object", "embed"} & set(shown.tags)
    assert shown.tags.count("script") == 1  # of which a src would be in `fetched`
    assert shown.links and all(link.startswith("#") for link in shown.links)
    assert {link[1:] for link in shown.links} <= set(shown.ids)
    assert len(shown.ids) == len(set(shown.ids))
    assert "@import" not in shown.source and "url(" not in shown.source
    assert "http" not in shown.source.replace("http://www.w3.org/2000/svg", "")


def test_words_of_an_engine_are_words_and_no_markup(tmp_path: Path) -> None:
    build = good_build(tmp_path, [crashed("MCSmall")])
    report(build)
    assert "TLC ran out of memory <b>." in page(build).text


MUTANT = {
    "mutant": "01-release-early.patch",
    "target": "coordinator",
    "bug": "Partitions are released before the acknowledgement.",
    "requirement": "R1",
    "real_bug": 3,
    "caught_by": "step 4 of golden/basic.itf.json",
}


def test_seeded_bugs_and_what_caught_them(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    write(build / "mutants.json", [MUTANT])
    assert report(build).exit_code == HOLDS
    shown = page(build)
    assert "1 of 1 are caught." in shown.text
    assert all(str(given) in shown.text for given in MUTANT.values())
    write(build / "mutants.json", [MUTANT, {**MUTANT, "mutant": "02-alive.patch", "caught_by": None}])
    assert report(build).exit_code == EVIDENCE_MISSING
    assert "Seeded bugs that nothing catches: 02-alive.patch." in page(build).text
    assert "1 of 2 are caught." in page(build).text


def test_a_difference_is_shown_with_the_command_that_shows_it_again(tmp_path: Path) -> None:
    trace = wrong_trace(tmp_path)
    build = good_build(tmp_path, trace=trace)
    result = report(build)
    assert result.exit_code == NOT_CONFORMANT
    shown = page(build)
    assert "#finding-1" in shown.links and "finding-1" in shown.ids
    assert "Join/advance/NONE: response.memberEpoch" in shown.text
    assert "response.memberEpoch: 3, got 1" in shown.text
    assert f"conform replay {trace} --target python" in shown.text
    assert (
        "python differs from the specification in 1 step of the traces golden (1 difference)." in shown.text
    )


@pytest.mark.parametrize(
    ("checked", "exit_code", "sentence"),
    [
        ([wrong_count("MCOpen")], MODEL_VIOLATED, "distinct_states: expected 7, got 12"),
        ([crashed("MCOpen"), wrong_count("MCSmall")], ENGINE_FAILED, "MCOpen: TLC ran out of memory"),
        (
            [by_evidence("Proof", Status.STALE, "Coordinator.tla has changed"), holds("MCOpen")],
            EVIDENCE_MISSING,
            "Not checked, and the recorded result is stale: Proof.",
        ),
        ([by_evidence("Proof", Status.MISSING)], EVIDENCE_MISSING, "the recorded result is missing: Proof."),
    ],
)
def test_the_verdict_is_the_worst_of_all(
    checked: list[Checked], exit_code: int, sentence: str, tmp_path: Path
) -> None:
    build = good_build(tmp_path, checked)
    result = report(build)
    assert result.exit_code == exit_code
    assert sentence in page(build).text
    assert sentence in result.output


@pytest.mark.parametrize("kind", ["check", "replay", "generate", "graph"])
def test_missing_results_are_listed_and_leave_no_verdict(kind: str, tmp_path: Path) -> None:
    build = good_build(tmp_path)
    for path in [*(build / "results").glob(f"{kind}*.json"), *(build / "graphs").glob(f"{kind}*")]:
        path.unlink()
    if kind == "graph":
        (build / "graphs" / "MCOpen.svg").unlink()
    result = report(build)
    assert result.exit_code == EVIDENCE_MISSING
    assert f"`conform {kind}`" in page(build).text
    assert f"`conform {kind}`" in result.output


def test_a_goal_that_is_not_reached(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    data = {"model": "MCOpen", "traces": 3, "steps": 30, "unreached": ["narrow"]}
    write(build / "results" / "generate-goals.json", data)
    assert report(build).exit_code == MODEL_VIOLATED
    assert "No behaviour of MCOpen reaches narrow." in page(build).text


def test_models_that_were_not_checked_are_there_with_their_evidence(tmp_path: Path) -> None:
    """The repository's own manifest without its records: every small model is named as not checked."""
    build = good_build(tmp_path, [holds("MCSmall")])
    bare = shutil.copytree(ROOT / "spec", tmp_path / "spec", ignore=shutil.ignore_patterns("evidence"))
    manifest = str(bare / "manifest.json")
    result = CliRunner().invoke(app, ["report", "--results", str(build), "--manifest", manifest])
    assert result.exit_code == EVIDENCE_MISSING
    shown = page(build)
    assert "MCOpen" in shown.text and "not checked" in shown.text
    assert "MCOpen" in result.output


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "is not JSON or is cut off"),
        ("[]", "must be an object"),
        ('{"models": [{"name": 1}]}', 'the field "models[0].name" must be a text, not a whole number.'),
        ('{"models": [{"name": "M"}]}', 'the field "models[0].engine" is missing.'),
    ],
)
def test_a_result_that_is_none_leaves_no_page(text: str, sentence: str, tmp_path: Path) -> None:
    build = good_build(tmp_path)
    (build / "results" / "check.json").write_text(text)
    result = report(build)
    assert result.exit_code == USAGE
    assert sentence in result.output
    assert not (build / "report" / "index.html").exists()


def test_a_picture_that_is_cut_off_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    build = good_build(tmp_path, [fails_as_expected("MCNoR9", "Never")])
    (build / "graphs" / "MCOpen.svg").write_text("<svg>")
    result = report(build)
    assert (result.exit_code, "is not SVG or is cut off" in result.output) == (USAGE, True)
    result = report(tmp_path / "nothing")
    sentence = " ".join(result.output.split())
    assert (result.exit_code, "There is no folder" in sentence) == (USAGE, True)
    assert "conform replay, check, exhaust, generate and others write results with --json" in sentence


def test_the_folder_of_results_is_not_the_build_folder_around_it(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    given = str(build / "results")
    result = CliRunner().invoke(app, ["report", "--results", given])
    sentence = " ".join(result.output.split())
    assert result.exit_code == USAGE
    assert f"conform report --results {build}" in sentence, "the folder that was meant"
    assert not (build / "results" / "report").exists()


def test_steps_that_exhaust_left_out_are_counted_beside_what_holds(tmp_path: Path) -> None:
    build = good_build(tmp_path)
    file = build / "results" / "exhaust-MCTour.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "left_out": {"static members": 1116}}))
    assert report(build).exit_code == 0
    given = (build / "report" / "index.html").read_text()
    assert '<td class="n">1,116</td>' in given and "what was not left out holds" in given


def test_steps_that_a_vendor_need_not_run_do_not_fail(tmp_path: Path) -> None:
    build = tmp_path / "build"
    for target in ("stdio:./mine", "python"):
        write(build / "results" / "replay-own.json", {**replayed(GOLDEN), "target": target})
        result = report(build)
        needed = target == "python"
        assert ("There is no result of `conform exhaust`" in result.output) == needed
        sentence = "not needed to judge stdio:./mine: conform check, conform exhaust, conform generate"
        assert (sentence in " ".join(page(build).text.split())) != needed
