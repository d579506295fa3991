"""Schedules and seeds that failed are kept, tried first, and removed once it passes."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.cli.client import command as client
from harness.cli.compare import command as compare
from harness.cli.simulate import command as simulate
from harness.errors import ConformError
from harness.kept import MOST, Kept
from harness.targets.base import Json

HEAD = {"verb": "client", "target": "t", "dialect": "d"}


def kept(folder: Path, target: str = "t") -> Kept:
    return Kept(folder / "kept", "client", target, "d")


def test_entries_are_kept_by_verb_target_and_dialect_each_once_and_not_too_many(tmp_path: Path) -> None:
    assert kept(tmp_path).read() == [] and not (tmp_path / "kept").exists()
    assert kept(tmp_path).write({"seed": seed % 30} for seed in range(60)) == ""
    assert kept(tmp_path).read() == [{"seed": seed} for seed in range(30 - MOST, 30)]
    for other in ("u", "t\nd"):
        assert kept(tmp_path, other).read() == []
    assert Kept(tmp_path / "kept", "compare", "t", "d").read() == []
    assert Kept(None, "client", "t", "d").write([{"seed": 1}]) == ""
    assert (tmp_path / "kept/.gitignore").read_text() == "*\n"
    kept(tmp_path).write([])
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [".gitignore"]


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 0, "kept": []}', '{"version": 1, "kept": [3]}'])
def test_a_file_that_is_none_is_a_sentence_with_the_way_out(tmp_path: Path, text: str) -> None:
    kept(tmp_path).write([{"seed": 1}])
    path = kept(tmp_path).path
    assert path is not None
    path.write_text(text)
    with pytest.raises(ConformError, match=r"remove it, or give --no-kept") as failed:
        kept(tmp_path).read()
    assert str(path) in failed.value.message


def test_a_result_that_cannot_be_kept_ends_no_command(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("a file where the folder would be")
    assert "not kept for the next run" in kept(tmp_path).write([{"seed": 1}])


def test_a_command_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path\nfrom harness.kept import Kept\n"
        f"kept = Kept(Path({str(tmp_path / 'kept')!r}), 'client', 't', 'd')\n"
        "while True: kept.write({'seed': n, 'schedule': 'x' * 100_000} for n in range(20))"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as writing:
        path = kept(tmp_path).path
        while path is None or (not path.is_file() and writing.poll() is None):
            time.sleep(0.01)
        writing.kill()
    assert len(kept(tmp_path).read()) == 20


def test_seeds_under_which_a_rule_broke_are_tried_first_until_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(Path(__file__).parent / "clients")
    with pytest.raises(ConformError):
        client("faulty:ClosesSilently", seed=5, seeds=3)
    (path,) = Path(".conform").glob("client-*.json")
    ((seed, *_),) = ((one["seed"] for one in json.loads(path.read_text())["kept"]),)
    capsys.readouterr()
    with pytest.raises(ConformError, match="breaks LeavesWhenClosed"):
        client("faulty:ClosesSilently", seed=100, seeds=1)
    output = capsys.readouterr().out
    assert output.startswith("1 kept schedule tried first: 1 still fails\n") and f"  seed {seed};" in output
    with pytest.raises(ConformError):
        client("faulty:ClosesSilently", seed=100, seeds=1, no_kept=True)
    assert "tried first" not in capsys.readouterr().out
    Kept(Path(".conform"), "client", "reference", "kip-848").write([{"seed": seed}])
    client("reference", seed=100, seeds=1)
    output = capsys.readouterr().out
    assert (
        output.startswith("1 kept schedule tried first: none fails any more\n")
        and "2 schedules, no rule" in output
    )
    assert list(Path(".conform").glob("*.json")) == [path]


def test_a_schedule_on_which_two_targets_agree_again_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    heartbeat = {"groupId": "g", "memberId": "m", "memberEpoch": 0, "subscribedTopicNames": ["foo"]}
    request = {"id": "c", "host": "/127.0.0.1", "principal": "User:a"}
    body = {**heartbeat, "rebalanceTimeoutMs": 45_000, "topicPartitions": []}
    operation = {"op": "request", "api": "ConsumerGroupHeartbeat", "client": request, "body": body}
    before = Kept(Path(".conform"), "compare", "python against python", "kip-848")
    before.write([{"settings": {}, "operations": [operation]}])
    compare("python", "python", steps=20, out=tmp_path / "out")
    assert capsys.readouterr().out.startswith("1 kept schedule tried first: none fails any more\n1 runs, 20")
    assert before.read() == []
    before.write([{"settings": {}, "operations": [{"op": "nothing"}]}])
    with pytest.raises(
        ConformError, match=r"compare-\w+\.json, operation 1: there is no operation 'nothing'"
    ):
        compare("python", "python", steps=20, out=tmp_path / "out")


EVENTS = [{"do": "heal", "at": 0}]


@pytest.mark.parametrize(
    ("verb", "entry", "where"),
    [
        ("client", {"seed": "x"}, "seed"),
        ("client", {"trace": ["x"]}, "trace"),
        ("client", {"sead": 1}, "sead"),
        ("simulate", {"seed": "x", "schedule": {"events": EVENTS}}, "seed"),
        ("simulate", {"seed": 1}, "schedule"),
    ],
)
def test_an_entry_of_another_form_is_named(
    verb: str, entry: Json, where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = Kept(Path(".conform"), verb, {"client": "reference", "simulate": "python"}[verb], "kip-848")
    before.write([entry])
    with pytest.raises(ConformError, match=rf'"{where}".*remove it, or give --no-kept') as caught:
        if verb == "client":
            client("reference", seeds=1)
        else:
            simulate(events=10)
    assert caught.value.exit_code == 2
