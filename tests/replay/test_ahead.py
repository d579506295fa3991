"""Steps that are written ahead: the reports are those of one operation at a time, and full pipes stop neither
side."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from partial_target import target, without
from spec_model import Model

from harness.errors import ConformError
from harness.mutate.patches import FOLDER, copy_with, read_patch
from harness.replay.ahead import STEPS
from harness.replay.decode import Decoder
from harness.replay.jobs import with_following
from harness.replay.judge import act
from harness.replay.prepared import DecodedTrace
from harness.replay.report import explain, summary, to_json
from harness.replay.run import Replayer
from harness.targets.base import Json, Target
from harness.targets.stdio import StdioTarget
from harness.targets.symbolic import SymbolicIds

ROOT = Path(__file__).parents[2]
LIES = ("error", "group epoch", "greedy", "forgetful", "acknowledged", "records")
COORDINATORS: dict[str, dict[str, Any]] = {
    "conforms": {},
    "makes ids": {"controls": without("ids")},
    "is started anew": {"controls": without("load")},
    "is started anew and makes ids": {"controls": without("load", "ids")},
    "chooses targets": {"controls": without("assign"), "chooses": "last"},
    "lacks records": {"hashes": True, "declared": ["records.ConsumerGroupPartitionMetadata"]},
    "has no restart": {"controls": without("restart")},
    "refuses to move time": {"refuses": "advance"},
}


LENGTHS = (70, 3, 50, 1, 2, 5, 70, 4, 50, 60)


@cache
def traces() -> list[DecodedTrace]:
    """Long ones and short ones, of which one wants the target configured otherwise."""
    decoder, result = Decoder(), []
    for seed, length in enumerate(LENGTHS):
        model = Model(seed, {"foo": seed % 4, "bar": seed % 2}, **({"max_size": 1} if seed == 6 else {}))
        model.walk(length)
        result.append(decoder.decode(model.trace(), f"walk {seed}"))
    return result


def report(opened: StdioTarget, most: int = 1000) -> list[str]:
    """The full report of a replay of the traces, and the whole of `--json`."""
    name = "the target"
    seen: Target = opened if "ids" in opened.hello().controls else SymbolicIds(opened)
    with closing(opened):
        replayer = Replayer(seen, max_differences=most)
        for trace, following in with_following(iter(traces())):
            replayer.replay(trace, following)
    result = replayer.result
    words = [line for failure in result.failures for line in explain(failure, name, "kip-848")]
    return [json.dumps(to_json(result, name, "kip-848")), *summary(result, name), *words]


class OneAtATime(StdioTarget):
    """A target to which nothing is written ahead."""

    def writer(self) -> None:
        """None."""


def assert_alike(command: str, most: int = 1000) -> list[str]:
    ahead, alone = report(StdioTarget(command), most), report(OneAtATime(command), most)
    assert ahead == alone
    return ahead


def command(**options: Any) -> str:
    return target(**options).removeprefix("stdio:")


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "target.py"
    path.write_text(f"import json, os, sys, time\n{text}", encoding="utf-8")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


@pytest.mark.parametrize("kind", COORDINATORS)
def test_reports_of_what_targets_can_do_are_those_of_one_at_a_time(kind: str) -> None:
    read = json.loads(assert_alike(command(**COORDINATORS[kind]))[0])
    assert read["target_steps"] > 20 or read["differences"]


@pytest.mark.parametrize(
    ("kind", "lie"),
    [
        *(("conforms", lie) for lie in LIES),
        *(("makes ids", lie) for lie in LIES[:2]),
        *(("is started anew", lie) for lie in LIES[:2]),
        ("is started anew and makes ids", "error"),
    ],
)
def test_reports_of_many_differences_are_those_of_one_at_a_time(kind: str, lie: str) -> None:
    read = json.loads(assert_alike(command(**COORDINATORS[kind], lie=lie))[0])
    assert read["differences"] > 3


def test_the_report_that_ends_with_enough_differences_is_the_same() -> None:
    assert json.loads(assert_alike(command(lie="acknowledged"), most=3)[0])["not_judged"] > 0


@pytest.mark.parametrize(
    "bug", ["02-previous-epoch-fenced", "05-fenced-member-stays", "10-no-bump-on-new-subscription"]
)
def test_reports_of_seeded_bugs_are_those_of_one_at_a_time(tmp_path: Path, bug: str) -> None:
    copy_with(read_patch(ROOT / FOLDER / "coordinator" / f"{bug}.patch"), ROOT, "coordinator", tmp_path)
    run = f"sys.path.insert(0, {str(tmp_path)!r})\nfrom coordinator.__main__ import main\nmain(['--stdio'])"
    assert json.loads(assert_alike(script(tmp_path, run))[0])["differences"] > 0


def test_the_conforming_target_is_written_far_ahead() -> None:
    underway = []

    class Watched(StdioTarget):
        def _ask(self, operation: Json) -> Json:
            underway.append(len(self._ahead))
            return super()._ask(operation)

    report(Watched(command()))
    assert max(underway) >= STEPS


def test_the_next_trace_is_written_before_the_last_answers_of_one() -> None:
    """But not where the target must be configured for it, or an id is known only from an answer."""

    class Watched(StdioTarget):
        def _ask(self, operation: Json) -> Json:
            if operation["op"] == "load":
                loads.append(bool(self._ahead))
            return super()._ask(operation)

    loads: list[bool] = []
    report(Watched(command()))
    written = [False, *[one.configuration == next_.configuration for one, next_ in pairwise(traces())]]
    assert written.count(False) == 3
    new = [at for at, one in enumerate(written) if at and not one]
    expected = [one for at, one in enumerate(written) for one in ([False] if at in new else []) + [one]]
    assert loads == expected
    loads.clear()
    report(Watched(command(**COORDINATORS["makes ids"])))
    assert not any(loads)


def test_a_difference_in_the_last_step_of_each_trace(tmp_path: Path) -> None:
    """The next trace was begun, and is begun again."""
    last = [trace.steps[-1].call.operation() for trace in traces() if trace.steps]
    lie = f"LAST = {[json.dumps(one, sort_keys=True) for one in last]!r}\n"
    ahead = assert_alike(script(tmp_path, f"{lie}{LAST.format(root=str(ROOT))}"))
    assert json.loads(ahead[0])["differences"] >= len(last)


LAST = """
sys.path.insert(0, {root!r})
from coordinator.stdio import LineProtocol
from coordinator import Coordinator
from coordinator.core.clock import SimulatedClock
protocol = LineProtocol(Coordinator(clock=SimulatedClock()))
for line in sys.stdin:
    operation = json.loads(line)
    said = protocol.answer(operation)
    asked = {{name: value for name, value in operation.items() if name not in ("observe", "id")}}
    if any(asked.items() <= json.loads(one).items() for one in LAST) and "group" in said:
        said["group"]["groupEpoch"] += 100
    print(json.dumps(said), flush=True)
"""


def test_an_unreadable_file_fails_in_its_turn() -> None:
    def read() -> Iterator[str]:
        yield from "ab"
        raise ConformError("c cannot be read")

    turns, seen = with_following(read()), []
    with pytest.raises(ConformError, match="c cannot be read"):
        for turn in turns:
            seen.append(turn)
    assert seen == [("a", "b"), ("b", None)]


FRAGILE = """
sys.path.insert(0, {root!r})
from coordinator.stdio import LineProtocol
from coordinator import Coordinator
from coordinator.core.clock import SimulatedClock
protocol, requests, lied = LineProtocol(Coordinator(clock=SimulatedClock())), 0, False
for line in sys.stdin:
    operation = json.loads(line)
    lied = lied and operation["op"] != "load"
    if lied and operation["op"] == "request":
        {then}
    said = protocol.answer(operation)
    requests += operation["op"] == "request"
    if operation["op"] == "request" and requests % 7 == 0:
        said["group"]["groupEpoch"] += 100
        lied = True
    print(json.dumps(said), flush=True)
"""


@pytest.mark.parametrize("then", ["sys.exit('too much')", "os.close(1); time.sleep(600)"])
def test_a_target_that_fails_in_what_is_discarded_is_started_anew(tmp_path: Path, then: str) -> None:
    # requests are counted by the process, so a new one lies elsewhere: enough differences end the run before
    run = script(tmp_path, FRAGILE.format(root=str(ROOT), then=then))
    ahead, alone = report(StdioTarget(run), 1), report(OneAtATime(run), 1)
    assert ahead == alone and json.loads(ahead[0])["differences"] == 1
    with closing(StdioTarget(run)) as opened:
        replayer = Replayer(opened, max_differences=2)
        for trace, following in with_following(iter(traces())):
            replayer.replay(trace, following)
    paths = {one.path for failure in replayer.result.failures for one in failure.differences}
    assert paths == {"group.groupEpoch"} and replayer.result.differences == 2


HELLO = """
HELLO = {"ok": True, "name": "x", "dialect": "kip-848", "apis": {"ConsumerGroupHeartbeat": [0, 1]},
         "controls": ["load", "advance", "ids", "assign", "fire", "topics", "restart"], "unobserved": []}
print(json.dumps(HELLO), flush=True) if json.loads(sys.stdin.readline())["op"] == "hello" else None
"""


@pytest.mark.parametrize("size", [100, 1_000_000])
def test_a_target_that_writes_much_before_it_reads(tmp_path: Path, size: int) -> None:
    """Both pipes are full: the target does not read before its answer is taken, whose rest comes later."""
    text = f"""
{HELLO}
for line in sys.stdin:
    print(json.dumps({{"ok": True, "body": {{}}, "records": [], "much": "x" * {size}}}), flush=True)
"""
    opened = StdioTarget(script(tmp_path, text), timeout_s=60)
    opened.hello()
    client = {"id": "y" * size, "host": "/127.0.0.1", "principal": ""}
    with closing(opened):
        writer = opened.writer()
        assert writer is not None
        for number in range(20):
            writer.request("A", number, client, {})
        for number in range(20):
            assert opened.request("A", number, client, {}).body == {}
        assert not writer.underway


NEVER = {
    "never answers": ("for line in sys.stdin: pass\ntime.sleep(600)", "did not answer advance within 1 s"),
    "never reads": ("time.sleep(600)", "did not (read|answer) advance within 1 s"),
    "ends": ("sys.stdin.readline()\nsys.exit('gone')", "before it answered advance .exit code 1.*gone"),
    "talks nonsense": (
        "sys.stdin.readline()\nprint('x', flush=True)\nsys.stdin.read()",
        "answered advance with something that is",
    ),
}


@pytest.mark.parametrize("kind", NEVER)
def test_a_target_that_fails_while_much_is_underway(tmp_path: Path, kind: str) -> None:
    does, words = NEVER[kind]
    with closing(StdioTarget(script(tmp_path, HELLO + does))) as opened:
        opened.hello()
        if kind.startswith("never"):
            opened._program._timeout_s = 1
        writer = opened.writer()
        assert writer is not None
        for number in range(50):
            writer.advance(number)
            writer.topics([{"name": "x" * 10_000}], [])
        with pytest.raises(ConformError, match=words) as caught:
            opened.advance(0)
        assert caught.value.exit_code == 3


def test_a_target_may_want_one_operation_at_a_time(tmp_path: Path) -> None:
    """A target that takes all that one read gives for one operation."""
    text = """
while said := os.read(0, 1 << 20):
    operation = json.loads(said)
    alone = {"ok": True, "name": "x", "dialect": "kip-848", "apis": {}, "controls": [], "ahead": False}
    print(json.dumps(alone), flush=True)
"""
    with closing(StdioTarget(script(tmp_path, text))) as opened:
        assert opened.writer() is not None
        opened.hello()
        assert opened.writer() is None


def test_asking_for_what_was_not_written_is_an_error() -> None:
    with closing(StdioTarget(command())) as opened:
        writer = opened.writer()
        assert writer is not None
        writer.advance(1)
        with pytest.raises(RuntimeError, match="was written ahead"):
            opened.advance(2)


def test_after_a_difference_one_step_is_written_and_then_more() -> None:
    steps = traces()[0].steps
    with closing(StdioTarget(command())) as opened:
        replayer = Replayer(opened, max_differences=1)
        ahead, view = replayer._ahead, replayer._view
        far = []
        for _ in range(2):
            for index in range(8):
                ahead.write(steps, index, 0)
                far.append(ahead._written - index)
                act(opened, steps[index], 0, view)
            ahead.discard()
            ahead.begin(traces()[0])
            opened.load([], [], {"clockMs": 0})
    assert far[:8] == far[8:] and far[0] == 1 and max(far) > 4
