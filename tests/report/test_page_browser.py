"""The report in a browser: no error, nothing is fetched, links lead somewhere, filters filter, it fits."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chromium import CHROMIUM, MISSING, Chromium
from results_folder import (
    ROOT,
    by_evidence,
    fails_as_expected,
    good_build,
    holds,
    write,
    wrong_trace,
)
from typer.testing import CliRunner
from verb_results import DIFFERED, MUTATED, PAIR, SIMULATED

from harness.cli.main import app
from harness.replay.files import replay_files
from harness.replay.report import to_json

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=MISSING)
MANIFEST = ROOT / "spec" / "manifest.json"
WIDE, HALF, NARROW = 1400, 800, 420
COUNTEREXAMPLE = ROOT / "traces" / "counterexamples" / "MCNoR9.itf.json"
DIALECT = f"stdio:{sys.executable} -m coordinator --stdio --dialect kafka-4.2"
MIXED = "kafka-4.2," + ",".join(
    f"{name}=AsTheBrokerHasItInEveryCase" for name in ("Unknown", "Stale", "Fenced")
)
"""A dialect with departures of its own, which has no blank."""

Browse = Callable[..., Any]


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with everything in it: findings, models of all kinds, a picture, seeded bugs."""
    folder = tmp_path_factory.mktemp("report")
    failing = replace(fails_as_expected("MCNoR9", "NoDoubleOwnership"), counterexample=COUNTEREXAMPLE)
    checked = [holds("MCSmall"), failing, by_evidence("ProofOpen2Step")]
    build = good_build(folder, checked, trace=wrong_trace(folder))
    golden = replay_files(sorted((ROOT / "traces" / "golden").glob("*.itf.json"))[:4], DIALECT, "kafka-4.2")
    write(build / "results" / "replay-dialect.json", to_json(golden, DIALECT, "kafka-4.2"))
    write(build / "results" / "replay-mixed.json", to_json(golden, DIALECT, MIXED))
    write(build / "results" / "graph-MCTour.json", {"name": "MCTour", "states": 7, "depths": [1, 4, 2]})
    bug = {"mutant": "01", "target": "coordinator", "bug": "b", "requirement": "R1", "caught_by": None}
    write(build / "mutants.json", [bug])
    for name, data in (
        ("simulate-groups", SIMULATED),
        ("simulate-two", PAIR),
        ("mutate", MUTATED),
        ("diff", DIFFERED),
    ):
        write(build / "results" / f"{name}.json", data)
    made = CliRunner().invoke(app, ["report", "--results", str(build), "--manifest", str(MANIFEST)])
    shown = build / "report" / "index.html"
    assert shown.exists(), made.output
    return shown


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with Chromium(tmp_path_factory.mktemp("profile")) as started:
        yield started


@pytest.fixture
def browse(chromium: Chromium, page: Path, tmp_path: Path) -> Browse:
    """The value of a script that runs in the loaded page; an error on the console fails."""

    def look(script: str, fragment: str = "", width: int = WIDE) -> Any:
        text = page.read_text(encoding="utf-8")
        # Requests that would leave the page, and errors in the page, are counted from its first moment.
        watch = (
            "<script>window.wrong = []; addEventListener('error', (one) => wrong.push(one.message), true);"
            "console.error = (...words) => wrong.push(words.join(' '));</script>"
        )
        done = (
            "<script>addEventListener('load', async () => {"
            f"const did = await (async () => {{ {script} }})();"
            "const fetched = performance.getEntriesByType('resource').map((one) => one.name);"
            "document.body.dataset.did = JSON.stringify([did, wrong, fetched]); });</script>"
        )
        file = tmp_path / "used.html"
        file.write_text(
            text.replace("<head>", f"<head>{watch}").replace("</body>", f"{done}</body>"), encoding="utf-8"
        )
        tab = chromium.open(f"{file.as_uri()}#{fragment}", width)
        did, wrong, fetched = json.loads(tab.value_when_there("document.body && document.body.dataset.did"))
        assert tab.console == []
        tab.close()
        assert (wrong, fetched) == ([], [])
        return did

    return look


def test_every_link_leads_to_something_that_is_shown_then(browse: Browse, page: Path) -> None:
    links, lost = browse(
        """
        const lost = [], links = [...document.querySelectorAll("a")].map((one) => one.getAttribute("href"));
        for (const link of new Set(links)) {
          const target = link.startsWith("#") && document.getElementById(link.slice(1));
          if (!target) { lost.push(link); continue; }
          location.hash = link;
          await new Promise((done) => setTimeout(done, 20));
          const { top, bottom, height } = target.getBoundingClientRect();
          if (!height || bottom < 0 || top > innerHeight) lost.push([link, top, height]);
        }
        return [links.length, lost];
        """
    )
    assert links > 20 and lost == ["specification.html"]
    assert (page.parent / "specification.html").is_file()


def test_a_finding_is_a_page_of_its_own(browse: Browse) -> None:
    seen = (
        "const all = [...document.querySelectorAll('main, .page')];"
        "return all.filter((one) => one.offsetHeight).map((one) => one.id)"
    )
    assert browse(seen) == [""]
    assert browse(seen, "finding-2") == ["finding-2"]
    assert browse(
        "return document.querySelector('#finding-1 svg.sequence').getBBox().height > 60", "finding-1"
    )


FILTER = """
    const box = document.querySelector(`[data-filters=${of}]`);
    const shown = () => [...document.querySelectorAll(`#${of} tbody tr`)].filter((one) => !one.hidden);
    const write = (words) => {
      const search = box.querySelector("[type=search]");
      search.value = words; search.dispatchEvent(new Event("input"));
      return shown().length;
    };
"""


def test_the_filters_of_requirements(browse: Browse) -> None:
    everything, letters, only, both, words, given, all_again = browse(
        f"""
        const of = "requirements"; {FILTER}
        const everything = shown().length, letters = {{}};
        for (const button of box.querySelectorAll("[data-letter]")) {{
          button.click();
          const names = shown().map((one) => one.id);
          const right = names.every((one) => one.startsWith(button.dataset.letter));
          letters[button.dataset.letter] = [names.length, right];
        }}
        box.querySelector("[data-letter='']").click();
        box.querySelector("[type=checkbox]").click();
        const only = shown().map((one) => one.id);
        box.querySelector("[data-letter=D]").click();
        const both = shown().length;
        box.querySelector("[type=checkbox]").click(); box.querySelector("[data-letter='']").click();
        const words = write("narrow_revocation"), said = box.querySelector("output").textContent;
        return [everything, letters, only, both, words, said, write("")];
        """
    )
    assert everything == all_again > 40
    assert all(right and 0 < count <= everything for count, right in letters.values())
    assert sum(count for name, (count, _) in letters.items() if name) == letters[""][0] == everything
    assert "D3" in only and "R1" not in only and 0 < both < len(only)
    assert 0 < words < 5 and given == f"{words} of {everything}"


def test_the_filter_of_models_unfolds_what_it_finds(browse: Browse) -> None:
    count, folded = browse(
        f"""
        const of = "models"; {FILTER}
        const count = write("MCKafka44Live");
        return [count, shown().filter((one) => !one.checkVisibility()).length];
        """
    )
    assert (count, folded) == (1, 0)


def test_a_link_to_a_row_that_is_filtered_away_shows_it(browse: Browse) -> None:
    shown = browse(
        f"""
        const of = "requirements"; {FILTER}
        write("nothing has these words");
        location.hash = "#R1";
        await new Promise((done) => setTimeout(done, 50));
        return document.getElementById("R1").offsetHeight;
        """
    )
    assert shown > 0


def test_a_trace_is_explored_step_by_step(browse: Browse, page: Path) -> None:
    """From the failing step, which is the last, with buttons, keys, a click on the diagram, and by a link."""
    longest = re.search(r'id="(finding-\d+)-step-17"', page.read_text(encoding="utf-8"))
    assert longest
    name = longest[1]
    look = """
        const page = [...document.querySelectorAll(".page")].find((one) => one.offsetHeight);
        const seen = () => {
          const shown = [...page.querySelectorAll(".stage")].filter((one) => one.offsetHeight);
          const marked = [...page.querySelectorAll(".at.now")].map((one) => one.dataset.step);
          return [shown.map((one) => one.dataset.step).join(), marked.join(), location.hash];
        };
        const press = (key) =>
          document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
        const [back, on] = page.querySelectorAll("[data-by]"), picture = page.querySelector(".picture");
        const inBox = () => {
          const box = picture.getBoundingClientRect();
          const at = page.querySelector(".at.now").getBoundingClientRect();
          return at.top >= box.top && at.bottom <= box.bottom;
        };
    """
    opened, at_end, stepped, pressed, clicked, first, inside = browse(
        look
        + """
        const opened = [...seen(), inBox()], atEnd = on.disabled;
        back.click();
        const stepped = seen();
        press("ArrowLeft"); press("ArrowLeft"); press("ArrowRight");
        const pressed = [...seen(), inBox()];
        const { top, left } = page.querySelector(".at[data-step='12']").getBoundingClientRect();
        picture.firstElementChild.dispatchEvent(
          new MouseEvent("click", { clientX: left + 5, clientY: top + 5, bubbles: true }));
        const clicked = [...seen(), inBox()];
        for (let times = 0; times < 20; times += 1) back.click();
        return [opened, atEnd, stepped, pressed, clicked, [...seen(), back.disabled], picture.scrollTop];
        """,
        name,
    )
    assert opened == ["17", "17", f"#{name}", True] and at_end
    assert stepped == ["16", "16", f"#{name}-step-16"]
    assert pressed == ["15", "15", f"#{name}-step-15", True]
    assert clicked == ["12", "12", f"#{name}-step-12", True]
    assert first == ["0", "", f"#{name}-step-0", True] and inside == 0
    at_a_step = look + "return [...seen(), inBox(), page.querySelector('.walk a').getAttribute('href')]"
    assert browse(at_a_step, f"{name}-step-14") == [
        *("14", "14", f"#{name}-step-14", True),
        f"#{name}-step-14",
    ]


def test_a_long_dialect_leaves_the_columns_after_it_in_sight(browse: Browse) -> None:
    right = """
        const table = document.querySelector("#replay table"), box = table.parentElement;
        return [table.offsetWidth, box.clientWidth];
    """
    table, box = browse(right)
    assert 0 < table <= box


@pytest.mark.parametrize("width", [WIDE, HALF, NARROW])
def test_no_page_is_wider_than_its_window(width: int, browse: Browse) -> None:
    """Tables and diagrams that are wider scroll by themselves; no page does. Where there is room for it,
    what a step changes is seen without scrolling."""
    pages = browse(
        """
        for (const one of document.querySelectorAll("details")) one.open = true;
        const seen = [];
        for (const name of ["", ...[...document.querySelectorAll(".page")].map((one) => one.id)]) {
          location.hash = name;
          await new Promise((done) => setTimeout(done, 20));
          const all = document.documentElement;
          const tables = [...document.querySelectorAll(`#${name || "none"} .scroll`)];
          let over = 0;
          const stages = [...document.querySelectorAll(`#${name || "none"} .stage`)];
          for (const stage of stages.length ? stages : [null]) {
            if (stage) location.hash = stage.id;
            if (stage) await new Promise((done) => setTimeout(done, 5));
            over = Math.max(over, ...tables.map((one) => one.scrollWidth - one.clientWidth));
          }
          seen.push([name, all.scrollWidth - all.clientWidth, over]);
        }
        return seen;
        """,
        "",
        width,
    )
    assert len(pages) > 3 and [name for name, over, _ in pages if over > 0] == []
    assert width == NARROW or [name for name, _, over in pages if over > 0] == []


def test_the_page_is_dark_where_the_reader_wants_it(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.count("@media (prefers-color-scheme: dark)") == 2
