"""The page of a big graph: its content, and the places of its states."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from counters import counter_with_a_trace
from frozendict import frozendict
from graph_states import chain, foo, group_state, member, step
from typer.testing import CliRunner, Result
from web_graphs import synthetic

from harness.cli.main import app
from harness.errors import USAGE, ConformError
from harness.graph.draw import Subject
from harness.graph.dump import path_edges, trace_graph, trace_path
from harness.graph.layout import layout
from harness.graph.web import (
    FAILED,
    NOT_REACHED,
    PARTLY,
    TESTED,
    WebEdge,
    WebState,
    draw_page,
    state_statuses,
    web_page,
    web_states,
)
from harness.itf import Trace, read_trace
from harness.values import State

ROOT = Path(__file__).parent.parent.parent
MEMBERS, TARGET = {"m1": member(1, foo(0, 1))}, {0: "m1", 1: "m1"}
LIFE = [
    group_state(0, {}, {}),
    group_state(1, MEMBERS, TARGET, step("Join", "m1", "advance")),
    group_state(2, {}, {}, step("Leave", "m1", "leave")),
]


def conform(*args: str) -> Result:
    return CliRunner().invoke(app, ["graph", *args])


def data_of(page: str) -> Any:
    """The data that the script of the page reads."""
    result = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert result
    return json.loads(result[1])


def test_states_and_edges_of_a_state_graph() -> None:
    states, edges = web_states(chain(LIFE))
    assert [(state.title, state.depth) for state in states] == [("Dead", 0), ("Stable", 1), ("Empty", 2)]
    assert states[1].text.split("\n") == [
        "group epoch 1, assignment epoch 1",
        "partitions: foo 2",
        "m1: epoch 1, assigned foo-0 foo-1, target foo-0 foo-1",
    ]
    assert edges == [
        WebEdge(0, 1, "Join advance m1", NOT_REACHED),
        WebEdge(1, 2, "Leave leave m1", NOT_REACHED),
    ]


def test_edges_that_were_tested_and_failed() -> None:
    graph = chain(LIFE)
    first, second = graph.edges(keys=True)
    _, edges = web_states(graph, tested={first, second}, failed={second})
    assert [edge.status for edge in edges] == [TESTED, FAILED]


def test_hidden_parts_of_a_closed_model_are_on_the_card_too() -> None:
    states, _ = web_states(chain([group_state(0, {}, {}, pending=(), late=frozenset({"m1"}))]))
    assert states[0].text.split("\n")[-2:] == ['late = {"m1"}', "pending = <<>>"]


def test_states_of_another_specification_say_their_variables() -> None:
    values: list[State] = [frozendict(pc="a", queue=()), frozendict(pc="b", queue=(1,))]
    graph, _ = trace_graph(Trace({}, ("pc", "queue"), values))
    states, edges = web_states(graph)
    assert states == [WebState("", 'pc = "a"\nqueue = <<>>', 0), WebState("", 'pc = "b"\nqueue = <<1>>', 1)]
    assert [edge.label for edge in edges] == ["step"]


@pytest.mark.parametrize(
    ("out", "into", "status"),
    [
        ([TESTED, TESTED], NOT_REACHED, TESTED),
        ([TESTED, FAILED, NOT_REACHED], TESTED, FAILED),
        ([TESTED, NOT_REACHED], NOT_REACHED, PARTLY),
        ([NOT_REACHED], TESTED, PARTLY),
        ([NOT_REACHED], FAILED, PARTLY),
        ([NOT_REACHED], NOT_REACHED, NOT_REACHED),
        ([], TESTED, TESTED),
        ([], NOT_REACHED, NOT_REACHED),
    ],
)
def test_the_status_of_a_state_is_that_of_its_edges(out: list[str], into: str, status: str) -> None:
    edges = [WebEdge(0, 1, "in", into), *(WebEdge(1, 2, "out", one) for one in out)]
    assert state_statuses(3, edges)[1] == status


def test_the_edges_of_a_trace_in_a_graph() -> None:
    graph = chain(LIFE)
    trace = Trace({}, tuple(LIFE[0]), LIFE[:2])
    path = trace_path(graph, trace, "The trace")
    assert path_edges(graph, trace, path) == {(0, 1, ("Join", "advance", "m1"))}


def test_a_step_that_a_trace_does_not_name_is_every_edge_between_its_states() -> None:
    states: list[State] = [frozendict(x=0), frozendict(x=1)]
    unnamed, named = Trace({}, ("x",), states), Trace({}, ("x",), states, ("Init", "Inc"))
    graph, _ = trace_graph(named)
    graph.add_edge(0, 1, key=("Add", "", ""), action="Add", branch="", member="")
    assert len(path_edges(graph, unnamed, [0, 1])) == 2
    assert path_edges(graph, named, [0, 1]) == {(0, 1, ("Inc", "", ""))}


def test_the_page_counts_what_there_is() -> None:
    states = [WebState("Dead", "", 0), WebState("Stable", "", 1)]
    statuses = [TESTED, TESTED, FAILED, NOT_REACHED, NOT_REACHED, NOT_REACHED]
    page = web_page("Graph of A", states, [WebEdge(0, 1, "a", status) for status in statuses], ["One note."])
    words = " ".join(re.sub(r"<[^>]*>", " ", page).split())
    assert "Graph of A 2 states, 6 edges; of the edges, 1 failed, 2 tested, 3 not reached. One note." in words


def test_a_status_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="maybe"):
        web_page("A", [WebState("", "", 0)], [WebEdge(0, 0, "a", "maybe")], [])


def test_texts_cannot_end_the_script_or_become_elements() -> None:
    hostile = "</script><script>alert(1)</script> & \u2028 'x' \"y\" <!--"
    page = web_page(hostile, [WebState(hostile, hostile, 0)], [WebEdge(0, 0, hostile, TESTED)], [hostile])
    assert page.count("<script") == page.count("</script>") == 2
    data = data_of(page)
    assert (data["name"], data["titles"], data["lines"], data["labels"]) == (hostile, *[[hostile]] * 3)


def test_the_page_fetches_nothing() -> None:
    page = web_page("A", [WebState("Dead", "text", 0)], [], [])
    assert not re.search(r"https?:|\bsrc=|\bhref=|@import|\burl\(|\bfetch\(|XMLHttpRequest", page)


def test_a_big_page_has_every_line_once_and_every_state_in_a_place_of_its_own() -> None:
    states, edges = synthetic(20_000)
    page = web_page("Big", states, edges, [])
    data = data_of(page)
    assert len(page.encode()) < 15_000_000
    assert len(data["lines"]) == len(set(data["lines"])) < len(states)
    assert len(set(zip(data["states"]["x"], data["states"]["y"], strict=True))) == len(states)
    back = ["\n".join(data["lines"][line] for line in lines) for lines in data["states"]["lines"]]
    assert back == [state.text for state in states]
    assert page == web_page("Big", list(states), list(edges), [])


def test_columns_are_by_depth_and_lanes_by_title() -> None:
    states, edges = synthetic(2_000)
    data = data_of(web_page("Big", states, edges, []))
    titles, places = data["titles"], data["states"]
    assert titles == ["Dead", "Empty", "Assigning", "Reconciling", "Stable"]
    assert sorted(data["layers"]) == data["layers"] and sorted(data["lanes"]) == data["lanes"]
    for state, x, y in zip(states, places["x"], places["y"], strict=True):
        left, right = data["layers"][state.depth]
        top, bottom = data["lanes"][titles.index(state.title)]
        assert left <= x <= right and top <= y <= bottom
    width, height = data["layers"][-1][1] + 1, data["lanes"][-1][1] + 1
    assert 0.5 < width / height < 2


def test_inside_a_lane_states_are_beside_those_before_them() -> None:
    """Three states, then three whose only predecessors are in the opposite order."""
    placed = layout([0] * 6, [0] * 3 + [1] * 3, [(0, 5), (1, 4), (2, 3), (5, 5), (3, 0)])
    assert list(placed.y[:3]) == sorted(placed.y[:3])
    assert [placed.y[5], placed.y[4], placed.y[3]] == sorted(placed.y[3:])


def test_depths_and_titles_need_not_be_without_gaps() -> None:
    data = data_of(web_page("A", [WebState("b", "", 7), WebState("a", "", 2)], [], []))
    assert (data["titles"], data["depths"]) == (["b", "a"], ["2", "7"])
    assert data["states"]["x"][0] > data["states"]["x"][1]


def test_a_page_of_a_trace_needs_no_graphviz(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    golden = ROOT / "traces" / "golden" / "basic.itf.json"
    result = conform("--trace", str(golden), "--page", "--out", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["basic.html"]
    data = data_of((tmp_path / "out" / "basic.html").read_text())
    assert set(data["edges"]["status"]) == {data["edgeStatuses"].index(TESTED)}
    assert len(data["states"]["x"]) <= len(read_trace(golden).states)


def test_a_page_of_a_model_with_the_steps_of_a_trace(tmp_path: Path) -> None:
    result = conform(
        *(*counter_with_a_trace(tmp_path), "--page"),
        *("--out", str(tmp_path / "out"), "--memory", "512m"),
        *("--json", str(tmp_path / "graph.json")),
    )
    assert result.exit_code == 0, result.output
    drawn = json.loads((tmp_path / "graph.json").read_text())
    assert (drawn["name"], drawn["tested"], drawn["files"]) == (
        "Counter-up",
        1,
        [str(tmp_path / "out" / "Counter-up.html")],
    )
    data = data_of((tmp_path / "out" / "Counter-up.html").read_text())
    tested = [
        at for at, status in enumerate(data["edges"]["status"]) if data["edgeStatuses"][status] == TESTED
    ]
    assert [data["labels"][data["edges"]["label"][at]] for at in tested] == ["Inc"]
    assert (len(data["states"]["x"]), len(data["edges"]["source"])) == (drawn["states"], drawn["edges"])


def test_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConformError, match="cannot be written") as caught:
        draw_page(Subject("all", chain(LIFE)), None, tmp_path / "file", "page")
    assert caught.value.exit_code == USAGE


@pytest.mark.parametrize("option", [("--fold", "state"), ("--fold-by", "pc")])
def test_a_page_is_not_folded_beforehand(option: tuple[str, str], tmp_path: Path) -> None:
    result = conform("MCTour", "--page", *option, "--out", str(tmp_path))
    assert result.exit_code == USAGE
    assert "leave out --fold" in result.output
    assert not list(tmp_path.iterdir())
