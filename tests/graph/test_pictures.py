"""Pictures as graphviz draws them, and `conform graph` as it is used."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from counters import counter_with_a_trace
from frozendict import frozendict
from graph_states import chain, foo, group_state, member, step
from typer.testing import CliRunner, Result

from harness.cli.main import app
from harness.errors import ENGINE_FAILED, USAGE, ConformError
from harness.graph.draw import Subject, draw, of_trace
from harness.graph.render import render
from harness.itf import Trace
from harness.values import State

ROOT = Path(__file__).parent.parent.parent
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not on this machine")


def test_the_first_example_of_the_help_is_a_small_model() -> None:
    """The first example is the one that a newcomer tries: MCOpen takes minutes."""
    output = CliRunner().invoke(app, ["graph", "--help"], env={"COLUMNS": "200"}).output
    first = re.search(r"conform graph (MC\w+)", output)
    assert first
    evidence = json.loads((ROOT / "spec" / "evidence" / f"{first[1]}.json").read_text())
    assert evidence["seconds"] < 10


def life() -> list[State]:
    """Dead, Stable, the same once more, Empty."""
    members, target = {"m1": member(1, foo(0, 1))}, {0: "m1", 1: "m1"}
    return [
        group_state(0, {}, {}),
        group_state(1, members, target, step("Join", "m1", "advance")),
        group_state(1, members, target, step("Heartbeat", "m1", "stable")),
        group_state(2, {}, {}, step("Leave", "m1", "leave")),
    ]


def words(svg: Path) -> list[str]:
    """All texts of a picture, in its order."""
    tree = ElementTree.parse(svg)
    return [(text.text or "").strip("\u00a0 ") for text in tree.iter("{http://www.w3.org/2000/svg}text")]


def conform(*args: str) -> Result:
    return CliRunner().invoke(app, ["graph", *args])


@needs_dot
def test_a_trace_as_a_picture(tmp_path: Path) -> None:
    trace = Trace({"violated": "NeverBoth"}, tuple(life()[0]), life())
    drawn = draw(of_trace("example", trace), tmp_path, "picture", "auto", None)
    output = words(tmp_path / "picture.svg")
    assert {"Dead", "Stable", "Empty", "foo-0 foo-1", "step 1", "Join m1 (advance)", "step 3"} <= set(output)
    assert "Counterexample example: NeverBoth is violated" in output
    assert "step 2 here" in output
    assert "stays: Heartbeat m1 (stable)" in output
    assert "Reconciling" not in output  # the legend has only what there is
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert drawn["files"] == [str(tmp_path / "picture.svg"), str(tmp_path / "picture.png")]
    assert drawn["group_states"] == {"Dead": 1, "Stable": 1, "Empty": 1}
    assert (drawn["states"], drawn["path"], drawn["folded_by"]) == (3, [0, 1, 1, 2], None)


@needs_dot
def test_a_folded_picture_counts_states_and_steps(tmp_path: Path) -> None:
    graph = chain(
        [*life(), group_state(3, {"m1": member(3, foo(0, 1))}, {0: "m1", 1: "m1"}, step("Join", "m1"))]
    )
    drawn = draw(Subject("all", graph), tmp_path, "picture", "state", None)
    output = words(tmp_path / "picture.svg")
    once = [f"{kind} \u00d71" for kind in ("Leave (leave)", "Join", "stays: Heartbeat (stable)")]
    assert {"3 states", "1 state", *once} <= set(output)
    assert "5 states, 4 edges, folded by group state" in output
    assert (drawn["nodes"], drawn["actions"]) == (3, {"Heartbeat": 1, "Join": 2, "Leave": 1})


@needs_dot
def test_words_that_mean_something_to_graphviz_are_drawn_as_they_are(tmp_path: Path) -> None:
    states: list[State] = [frozendict(x='<B>&"\\N'), frozendict(x="]>;")]
    draw(of_trace('<a> & "b"', Trace({}, ("x",), states)), tmp_path, "picture", "none", None)
    output = words(tmp_path / "picture.svg")
    assert 'Trace <a> & "b"' in output
    assert {r'"<B>&\"\\N"', '"]>;"'} <= set(output)


@needs_dot
def test_the_same_graph_gives_the_same_picture(tmp_path: Path) -> None:
    for name in "ab":
        draw(Subject("all", chain(life())), tmp_path / name, "picture", "none", None)
    first, second = ((tmp_path / name / "picture.svg").read_bytes() for name in "ab")
    assert first == second


@needs_dot
def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConformError, match="cannot be written") as caught:
        draw(Subject("all", chain(life())), tmp_path / "file", "picture", "none", None)
    assert caught.value.exit_code == USAGE


def test_without_graphviz_one_sentence_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConformError, match="apt-get install graphviz") as caught:
        render(chain(life()), tmp_path / "out", "picture")
    assert caught.value.exit_code == ENGINE_FAILED
    assert not (tmp_path / "out").exists()


@needs_dot
def test_a_model_by_path_with_the_path_of_a_trace(tmp_path: Path) -> None:
    """Another specification: three counters' states, by TLC's own labels."""
    result = conform(
        *counter_with_a_trace(tmp_path),
        *("--out", str(tmp_path / "out"), "--memory", "512m"),
        *("--fold-by", "x", "--json", str(tmp_path / "out" / "graph.json")),
    )
    assert result.exit_code == 0, result.output
    data = json.loads((tmp_path / "out" / "graph.json").read_text())
    assert (data["command"], data["name"], data["exit_code"]) == ("graph", "Counter-up", 0)
    assert not list((tmp_path / "out").glob("*.log"))
    assert (data["nodes"], data["folded_by"], len(data["path"])) == (9, "the value of x", 2)
    assert set(data["actions"]) == {"Inc", "Dec", "Reset"}
    output = words(tmp_path / "out" / "Counter-up.svg")
    assert "State graph of Counter with the path of up" in output
    assert {"step 1", "x = [p |-> 1, q |-> 0]"} <= set(output)


@needs_dot
def test_a_specification_that_tlc_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "Broken.tla").write_text("---- MODULE Broken ----\nInit == x = \n====\n")
    (tmp_path / "Broken.cfg").write_text("INIT Init\n")
    result = conform(str(tmp_path / "Broken.tla"), "--out", str(tmp_path / "out"), "--memory", "512m")
    assert result.exit_code == USAGE
    assert "TLC cannot parse Broken.tla" in result.output
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["Broken.log"]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "Say what to draw"),
        (["MCOpen", "--fold", "all"], "There is no folding 'all'"),
        (["no/such.tla"], "does not exist"),
        (["--trace", "no.itf.json"], "does not exist"),
    ],
)
@needs_dot
def test_wrong_command_lines(
    args: list[str], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = conform(*args)
    assert result.exit_code == USAGE
    assert sentence in result.output
    assert not list(tmp_path.rglob("*.svg"))
