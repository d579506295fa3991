"""Sequence diagrams: the sender and the receiver of each message of a trace, lost and late messages, and the
step that fails."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest
from results_folder import GOLDEN, ROOT
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import USAGE
from harness.itf import read_trace
from harness.kinds.classic.description import CLASSIC
from harness.report.mermaid import mermaid
from harness.report.sequence import Message, Note, Step, sequence
from harness.report.trace_sequence import sequence_of_trace

SVG = "{http://www.w3.org/2000/svg}"


@dataclass(frozen=True)
class Arrow:
    """An arrow as it is drawn: its classes, its words, and where it begins and ends."""

    kinds: tuple[str, ...]
    label: str
    x1: float
    y1: float
    x2: float
    y2: float


class Drawn:
    """The texts and marks of a picture."""

    def __init__(self, text: str) -> None:
        self.text = text
        root = ElementTree.fromstring(text)
        labels = [one for one in root.iter(f"{SVG}text") if "label" in one.get("class", "").split()]
        groups = [one for one in root.iter(f"{SVG}g") if "message" in one.get("class", "").split()]
        self.arrows = [
            Arrow(
                tuple(group.get("class", "").split()[1:]),
                "".join(label.itertext()),
                *(float(group.find(f"{SVG}line").get(end)) for end in ("x1", "y1", "x2", "y2")),  # type: ignore[union-attr, arg-type]
            )
            for group, label in zip(groups, labels, strict=True)
        ]
        heads = [one for one in root.iter(f"{SVG}text") if one.get("class") == "name"]
        self.lanes = {"".join(one.itertext()): float(one.get("x", "")) for one in heads}
        self.words = ["".join(one.itertext()) for one in root.iter(f"{SVG}text")]

    def says(self, label: str) -> Arrow:
        (result,) = [arrow for arrow in self.arrows if arrow.label == label]
        return result


def drawn(name: str) -> Drawn:
    return Drawn(sequence_of_trace(read_trace(ROOT / "traces" / f"{name}.itf.json"), name))


def test_every_request_of_an_open_model_is_answered_in_its_step() -> None:
    result = drawn("golden/basic")
    assert list(result.lanes) == ["A", "B", "C", "coordinator"]
    assert len(result.arrows) == 24
    for request, answer in zip(result.arrows[::2], result.arrows[1::2], strict=True):
        assert (request.kinds, answer.kinds) == (("request", "arrives"), ("answer", "arrives"))
        assert (request.x1, request.x2) == (answer.x2, answer.x1)
        assert request.x2 == result.lanes["coordinator"]
        assert request.y1 == request.y2 < answer.y1 == answer.y2
    assert result.says("heartbeat e1 owns foo-0,1,2").x1 == result.lanes["A"]
    assert {"e1 assign foo-0,1", "e3 assign foo-1"} <= {arrow.label for arrow in result.arrows}
    assert {"A e1 has foo-0,1, revokes foo-2", "group e3, Stable"} <= set(result.words)
    assert 'class="band"' not in result.text


def test_answers_of_a_closed_model_arrive_later_and_requests_are_lost_and_late() -> None:
    result = drawn("counterexamples/MCNoR9")
    (lost,) = [arrow for arrow in result.arrows if "lost" in arrow.kinds]
    (late,) = [arrow for arrow in result.arrows if "late" in arrow.kinds]
    assert result.lanes["m2"] < lost.x2 < result.lanes["coordinator"]
    assert (late.x1, late.y1) == (lost.x2, lost.y2)
    assert late.x2 == result.lanes["coordinator"] and late.y2 > late.y1
    assert late.label == "late: heartbeat e2 owns nothing topics foo"
    answer = result.says("e2 assign nothing, pending foo-1")
    assert answer.x2 == result.lanes["m2"] and answer.y2 - answer.y1 > 200
    assert "owns foo-0,1; m2 owns foo-1, too" in result.words
    assert "NoDoubleOwnership is violated" in result.words and result.text.count('class="band"') == 1


def test_a_removed_member_that_does_not_know_of_its_removal() -> None:
    result = drawn("counterexamples/MCNoExemption")
    assert {"session of m1 runs out", "removed, and does not know"} <= set(result.words)
    assert "owns foo-0; m1 owns foo-0, too" in result.words


@pytest.mark.parametrize(
    ("trace", "words"),
    [
        ("corpus/MCOpen-goal-0002-join-without-a-member-id", ["join without an id topics none"]),
        ("corpus/MCOpen-goal-0002-join-without-a-member-id", ["e1 as m1 assign nothing"]),
        ("corpus/MCStatic-goal-0008-leavetemporarily", ["leave for a while as i1", "left"]),
        (
            "corpus/MCStatic-goal-0004-failover-that-finds-a-topic-grown",
            ["a new coordinator loads the log, topic foo has 2 partitions"],
        ),
        ("corpus/MCRefused-goal-0009-group-full", ["GROUP_MAX_SIZE_REACHED"]),
        ("corpus/MCOffsets-goal-0010-fetch-of-what-was-committed", ["commit foo-0 at 0, e1", "offset 0"]),
        ("corpus/MCOffsets-goal-0002-commit-without-a-member-group-empty", ["no member", "committed"]),
        ("members/MCSmall-goal-0001-acknowledged", ["gives up foo-0, keeps nothing"]),
        (
            "migration/MCMigrationTour-goal-0001-the-first-consumer-heartbeat-converts-the-group",
            ["Init", "group g1, Stable, leader a"],
        ),
    ],
)
def test_words(trace: str, words: list[str]) -> None:
    assert set(words) <= set(drawn(trace).words)


def test_every_committed_trace_can_be_drawn() -> None:
    kinds = set()
    for path in sorted((ROOT / "traces").rglob("*.itf.json")):
        trace = read_trace(path)
        assert sequence_of_trace(trace, path.name).startswith("<svg")
        kinds.add(CLASSIC.has(trace))
    assert kinds == {True, False}


def test_a_worker_computes_hears_of_lost_work_and_installs() -> None:
    """W1, W2."""
    result = drawn("golden/connect/worker-leaves")
    assert result.says("e35, compute").kinds == ("answer", "arrives")
    assert result.says("prepare e35").kinds == ("request", "arrives")
    assert result.says("group e36, W2 lost B-0,1").kinds == ("answer", "arrives")
    assert result.says("install e35, group e36: W1 A-0,1, W3 A-2").kinds == ("request", "arrives")


def test_a_request_of_a_classic_group_waits_for_its_answer() -> None:
    result = drawn("classic/MCClassic-goal-0008-both-are-assigned")
    assert list(result.lanes) == ["m1", "m2", "coordinator"]
    syncs = {one.x1: one.y1 for one in result.arrows if one.label == "sync g1"}
    answers = {one.x2: one.y1 for one in result.arrows if one.label == "no assignment"}
    first, second = (result.lanes[name] for name in ("m2", "m1"))
    assert syncs[first] < syncs[second] < answers[second] < answers[first]
    assert {"m2 waits", "MEMBER_ID_REQUIRED: m1", "g1, leader m1 of m1, m2"} <= set(result.words)


def test_an_answer_of_a_closed_classic_model_is_on_the_way() -> None:
    result = drawn("classic/MCClassicRecovery-goal-0008-leader-failure")
    answers = [one for one in result.arrows if one.x1 == result.lanes["coordinator"]]
    assert len(answers) >= 8 and all(one.y2 > one.y1 for one in answers)
    assert {"process dies", "session of m1 runs out"} <= set(result.words)


def test_messages_under_way_at_the_end_do_not_arrive() -> None:
    trace = read_trace(ROOT / "traces" / "counterexamples" / "MCNoR9.itf.json")
    del trace.states[2:]
    result = Drawn(sequence_of_trace(trace, "cut", {}))
    assert result.says("e1 assign foo-0,1").kinds == ("answer", "underway")
    assert result.says("e1 assign foo-0,1").x2 > result.lanes["m1"]


def test_words_of_a_trace_are_no_markup() -> None:
    text = sequence(
        "<b>", ["<i>", "c"], [Step(1, "<u>", failing=("<s>",))], [Message(1, "<i>", "c", "a<b", "request")]
    )
    assert {"<b>", "<i>", "<u>", "<s>", "a<b"} <= set(Drawn(text).words)


def test_a_long_title_is_not_cut() -> None:
    def width(title: str) -> float:
        return float(ElementTree.fromstring(sequence(title, ["A", "c"], [Step(1, "x")], [])).get("width", ""))

    assert width("n" * 200) > 200 * 8 > width("short") == width("")


def test_long_words_of_a_message_have_room_and_longer_ones_are_cut() -> None:
    """Words of 90 letters reach no other lane. A tooltip has all of 300 letters, the picture the first."""

    def picture(label: str) -> tuple[Drawn, Arrow]:
        message = Message(1, "A", "coordinator", label, "request")
        seen = Drawn(sequence("", ["A", "coordinator"], [Step(1, "x")], [message]))
        return seen, seen.arrows[0]

    seen, arrow = picture("n" * 90)
    assert arrow.label == "n" * 90 and seen.lanes["coordinator"] - seen.lanes["A"] > 90 * 6.4
    longer, cut = picture("n" * 300)
    assert cut.label.endswith("n" * 300) and f"<title>{'n' * 300}</title>" in longer.text
    assert longer.lanes["coordinator"] - longer.lanes["A"] > len(cut.label.split("…")[0]) * 6.4 > 600


@pytest.mark.parametrize(
    "event", [Note(2, "A", "x"), Note(1, "B", "x"), Message(1, "A", "B", "x", "request")]
)
def test_an_event_without_a_lane_is_an_error(event: Note | Message) -> None:
    with pytest.raises(ValueError, match="no such step or lane"):
        sequence("", ["A", "coordinator"], [Step(1, "x")], [event])


def test_the_command(tmp_path: Path) -> None:
    words = ["graph", "--trace", str(GOLDEN), "--sequence", "--out", str(tmp_path)]
    ended = CliRunner().invoke(app, [*words, "--json", str(tmp_path / "drawn.json")])
    assert ended.exit_code == 0, ended.output
    file = tmp_path / "basic-sequence.svg"
    assert json.loads((tmp_path / "drawn.json").read_text())["files"] == [str(file)]
    assert len(Drawn(file.read_text()).arrows) == 24
    assert "prefers-color-scheme: dark" in file.read_text()


def test_the_diagram_as_mermaid_text(tmp_path: Path) -> None:
    """Lost, late, under way, wrong: MCNoR9-sequence.mmd, which was looked at as a picture, has all."""
    words = ["graph", "--trace", str(ROOT / "traces/counterexamples/MCNoR9.itf.json"), "--mermaid"]
    ended = CliRunner().invoke(app, [*words, "--out", str(tmp_path), "--json", str(tmp_path / "drawn.json")])
    assert ended.exit_code == 0, ended.output
    file = tmp_path / "MCNoR9-sequence.mmd"
    assert json.loads((tmp_path / "drawn.json").read_text())["files"] == [str(file)]
    assert file.read_text() == Path(__file__).with_name(file.name).read_text()


def test_signs_that_mermaid_reads_itself_are_escaped() -> None:
    odd = 'a;b#1 <x> & "q" %%{end}`'
    text = mermaid([odd, "c"], [Step(1, odd, failing=(odd, "second"))], [Note(1, odd, odd)])
    safe = "a#59;b#35;1 #60;x#62; #38; #34;q#34; #37;#37;#123;end#125;#96;"
    assert text.splitlines() == [
        *("sequenceDiagram", f"  participant L0 as {safe}", "  participant L1 as c"),
        *("  rect rgba(230, 126, 34, 0.2)", f"    Note over L0: 1. {safe}"),
        *(f"    Note over L0,L1: {safe}<br/>second", "  end"),
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["--sequence"],
        ["MCTour", "--sequence"],
        ["MCTour", "--mermaid"],
        ["--trace", str(GOLDEN), "--page", "--sequence"],
    ],
)
def test_a_diagram_is_of_a_trace_alone(words: list[str], tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, ["graph", *words, "--out", str(tmp_path)])
    assert ended.exit_code == USAGE and not list(tmp_path.iterdir())
