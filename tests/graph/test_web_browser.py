"""The page of a big graph in a browser: its content, its address, and the effects of mouse and keys."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from chromium import CHROMIUM, MISSING, Chromium
from typer.testing import CliRunner
from web_graphs import synthetic

from harness.cli.main import app
from harness.graph.web import FAILED, TESTED, WebEdge, WebState, web_page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
STATES, EDGES = synthetic(20_000)
HOSTILE = "</script><img src=x onerror=\"document.body.dataset.broken='yes'\">"

Browse = Callable[..., "Seen"]


class Seen(HTMLParser):
    """A page after its script ran: the data of its body, the words of its panel, the elements that it has."""

    def __init__(self, dumped: str) -> None:
        super().__init__()
        self.body: dict[str, str] = {}
        self.elements: set[str] = set()
        self.panel = ""
        self._in_panel = False
        self.feed(dumped)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self._in_panel |= tag == "aside"
        if tag == "body":
            self.body = {name.removeprefix("data-"): value or "" for name, value in attrs}

    def handle_endtag(self, tag: str) -> None:
        self._in_panel &= tag != "aside"

    def handle_data(self, data: str) -> None:
        self.panel += data if self._in_panel else ""

    def number(self, name: str) -> int:
        return int(self.body[name])


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


def look(
    chromium: Chromium, page: Path, fragment: str = "", dark: bool = False, until: str = "ready"
) -> Seen:
    """Open a page, and return its content once its body has the data of the name `until`."""
    tab = chromium.open(f"{page.as_uri()}#{fragment}", dark=dark)
    tab.value_when_there(f"document.readyState === 'complete' && document.body.dataset.{until}")
    seen = Seen(tab.value("document.documentElement.outerHTML"))
    assert seen.body["ready"] == "yes", tab.console
    tab.close()
    return seen


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a graph of 20,000 states and 100,000 edges."""
    file = tmp_path_factory.mktemp("page") / "big.html"
    file.write_text(web_page("Big", STATES, EDGES, ["One note."]), encoding="utf-8")
    return file


@pytest.fixture
def browse(chromium: Chromium, page: Path, tmp_path: Path) -> Browse:
    """Look at the big page, with a script that runs when it is ready and returns `did` as the body's data."""

    def look_at(fragment: str = "", script: str = "", dark: bool = False, until: str = "ready") -> Seen:
        file = page
        if script:
            file = tmp_path / "used.html"
            did = (
                f"<script>\ndocument.body.dataset.did = JSON.stringify((() => {{ {script} }})());\n</script>"
            )
            file.write_text(
                page.read_text(encoding="utf-8").replace("</body>", f"{did}</body>"), encoding="utf-8"
            )
        return look(chromium, file, fragment, dark, until)

    return look_at


def did(seen: Seen) -> Any:
    return json.loads(seen.body["did"])


def test_every_state_is_there_and_not_too_many_edges_are_drawn(browse: Browse) -> None:
    seen = browse()
    assert (seen.number("states"), seen.number("groups"), seen.number("edges")) == (20_000, 0, 100_000)
    failed = sum(edge.status == FAILED for edge in EDGES)
    assert 0 < failed <= seen.number("drawn-edges") <= 6_000
    assert seen.number("hits") == 0
    assert "How to read this" in seen.panel


@pytest.mark.parametrize("words", ["m2: EPOCH 12", "stable m1", "serial 4999", "no such words"])
def test_search_finds_states_by_their_text_and_the_steps_out_of_them(words: str, browse: Browse) -> None:
    low = words.lower()
    edges = [edge for edge in EDGES if low in edge.label.lower()]
    texts = {number for number, state in enumerate(STATES) if low in state.text.lower()}
    seen = browse(f"search={words.replace(' ', '+')}")
    assert seen.number("hits") == seen.number("states") == len(texts | {edge.source for edge in edges})
    assert seen.number("edges") == len(edges)


@pytest.mark.parametrize("fold", ["state", "depth"])
def test_folded_by_group_state(fold: str, browse: Browse) -> None:
    def group(number: int) -> tuple[str, int]:
        return STATES[number].title, STATES[number].depth if fold == "depth" else 0

    bundles = {(group(edge.source), group(edge.target)) for edge in EDGES}
    seen = browse(f"fold={fold}")
    assert (seen.number("states"), seen.body["fold"]) == (0, fold)
    assert seen.number("groups") == len({group(number) for number in range(len(STATES))})
    assert seen.number("bundles") == sum(source != target for source, target in bundles)


@pytest.mark.parametrize("status", ["failed", "tested", "not-reached"])
def test_only_edges_of_one_status_and_their_states(status: str, browse: Browse) -> None:
    edges = [edge for edge in EDGES if edge.status == status.replace("-", " ")]
    seen = browse(f"show={status}")
    assert seen.number("edges") == len(edges)
    assert seen.number("states") == len({end for edge in edges for end in (edge.source, edge.target)})


def test_search_among_the_edges_of_one_status(browse: Browse) -> None:
    edges = [edge for edge in EDGES if edge.status == FAILED and "narrow" in edge.label]
    seen = browse("search=narrow&show=failed")
    assert (seen.number("edges"), seen.number("hits")) == (len(edges), len({edge.source for edge in edges}))


def test_a_selected_state_says_everything_about_itself(browse: Browse) -> None:
    seen = browse("select=7000&fold=state")
    assert seen.number("selected") == 7000
    assert f"{STATES[7000].title} #7000" in seen.panel and STATES[7000].text in seen.panel
    for edge in EDGES:
        if edge.source == 7000:
            assert f"{edge.label} → {STATES[edge.target].title} #{edge.target}" in " ".join(
                seen.panel.split()
            )
    assert 0 < seen.number("states") < 20_000  # it was unfolded to be seen


def test_the_colours_of_states_are_on_the_canvas(browse: Browse) -> None:
    """The middle of a state has the colour of its title, the border of one that failed that of failed."""
    failed = next(edge.source for edge in EDGES if edge.status == FAILED)
    script = f"""
        const at = (state, off) => {{
          view.scale = 40; view.x = states.x[state]; view.y = states.y[state]; draw();
          const x = screenX(states.x[state]) + off, y = screenY(states.y[state]) + off / 2;
          const pixel = context.getImageData(Math.round(x), Math.round(y), 1, 1).data;
          return "#" + [...pixel].slice(0, 3).map((one) => one.toString(16).padStart(2, "0")).join("");
        }};
        const fills = data.fills.map((fill, title) => [at(states.title.indexOf(title), 9), fill]);
        return [fills, at({failed}, -14), colours.state[0]];
    """
    fills, border, of_failed = did(browse(script=script))
    assert fills == [[fill, fill] for _, fill in fills]
    assert border == of_failed


def test_the_page_is_dark_where_the_reader_wants_it(browse: Browse) -> None:
    script = "return [...context.getImageData(2, pixels.height - 2, 1, 1).data].slice(0, 3)"
    assert min(did(browse(script=script))) > 200
    assert max(did(browse(script=script, dark=True))) < 60


def test_mouse_and_keys(browse: Browse) -> None:
    seen = browse(
        script="""
        const key = (name, at = body) =>
          at.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true }));
        const said = [], say = () => said.push({ ...body.dataset, scale: view.scale, x: view.x });
        const press = (x, y, to = x) => {
          const point = (kind, at) => {
            const event = new PointerEvent(kind, { pointerId: 1, bubbles: true });
            Object.defineProperties(event, { offsetX: { value: at }, offsetY: { value: y } });
            canvas.dispatchEvent(event);
          };
          canvas.setPointerCapture = () => {};
          point("pointerdown", x); if (to !== x) point("pointermove", to); point("pointerup", to);
        };
        say();
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -500 })); say();
        key("+"); say();
        press(300, 300, 400); say();
        key("0"); say();
        $("search").value = "epoch 12"; $("search").dispatchEvent(new Event("input")); say();
        key("Enter", $("search")); say();
        key("Enter", $("search")); say();
        key("Escape"); key("Escape"); say();
        document.querySelector("[data-fold=state]").click(); say();
        fit();
        const group = groups[T * L]; press(screenX(group.x), screenY(group.y)); say();
        const inside = groups.findIndex((one, number) => level[number] === 1 && one.states.length);
        press(screenX(groups[inside].x), screenY(groups[inside].y)); say();
        document.querySelector("[data-fold=none]").click(); fit();
        press(screenX(states.x[5]), screenY(states.y[5])); say();
        document.querySelector('[data-status="failed"]').click(); say();
        return [said, groups[inside].states.length];
        """
    )
    given, inside = did(seen)
    start, wheel, plus, dragged, whole, result, first, second, none, folded, title, cell, picked, only = given
    assert start["scale"] < wheel["scale"] < plus["scale"] == dragged["scale"]
    assert dragged["x"] < plus["x"]
    assert whole["scale"] == start["scale"]
    hits = [number for number, state in enumerate(STATES) if "epoch 12" in state.text]
    assert int(result["hits"]) == len(hits)
    assert int(first["selected"]) in hits and int(second["selected"]) in hits
    assert first["selected"] != second["selected"] and first["scale"] > whole["scale"]
    assert (none["selected"], none["hits"]) == ("-1", "0")
    assert (folded["groups"], folded["states"]) == ("5", "0")
    depths = len({state.depth for state in STATES if state.title == "Dead"})
    assert (title["groups"], title["states"]) == (str(4 + depths), "0")
    assert (cell["groups"], cell["states"]) == (str(3 + depths), str(inside))
    assert picked["selected"] == "5"
    assert int(only["edges"]) == sum(edge.status == FAILED for edge in EDGES)


def test_the_chosen_view_becomes_the_address(browse: Browse) -> None:
    """The address is written a moment later; the script reads it then."""
    seen = browse(
        "search=serial+77&show=tested",
        "choose(9); setTimeout(() => { document.body.dataset.address = location.hash; }, 1000); return 1",
        until="address",
    )
    assert seen.body["address"] == "#search=serial+77&show=tested&select=9"


def test_texts_are_texts(chromium: Chromium, tmp_path: Path) -> None:
    file = tmp_path / "hostile.html"
    states = [WebState(HOSTILE, HOSTILE, 0), WebState("Dead", "", 1)]
    file.write_text(web_page(HOSTILE, states, [WebEdge(0, 1, HOSTILE, TESTED)], [HOSTILE]), encoding="utf-8")
    seen = look(chromium, file, "select=0")
    assert seen.panel.count(HOSTILE) == 3
    assert "broken" not in seen.body and "img" not in seen.elements


def test_a_real_model(chromium: Chromium, tmp_path: Path) -> None:
    options = ("MCTour", "--page", "--out", str(tmp_path), "--json", str(tmp_path / "graph.json"))
    result = CliRunner().invoke(app, ["graph", *options])
    assert result.exit_code == 0, result.output
    drawn = json.loads((tmp_path / "graph.json").read_text())
    seen = look(chromium, tmp_path / "MCTour.html", "select=3")
    assert (seen.number("states"), seen.number("edges")) == (drawn["states"], drawn["edges"])
    assert "Shortest way here" in seen.panel
    folded = look(chromium, tmp_path / "MCTour.html", "fold=state")
    assert folded.number("groups") == len(drawn["group_states"])
