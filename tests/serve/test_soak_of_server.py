"""The long run of the served coordinator, in short: its counts, and the faults that it notices."""

from __future__ import annotations

import argparse
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import serve_soak as soak
from test_serve_fuzz import Fuzzed

from harness.sources import verify


def test_kills_are_counted(tmp_path: Path) -> None:
    counts = soak.kill_again_and_again(3, 1, tmp_path)
    assert counts["killed"] == 3
    assert counts["commits answered"] >= 0


def test_a_commit_that_is_lost_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeps = soak.program

    def forgets(*words: str, port: int) -> AbstractContextManager[Any]:
        return keeps(*words[: words.index("--log")], port=port)

    monkeypatch.setattr(soak, "program", forgets)
    monkeypatch.setattr(soak, "MOST_S", 2.0)
    with pytest.raises(soak.Lost, match=r"-1 is committed, [0-9]+ was answered"):
        soak.kill_again_and_again(3, 1, tmp_path)


def test_a_group_that_changes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert soak.send_frames(argparse.Namespace(many=500))["frames"] == 500
    monkeypatch.setattr(Fuzzed, "watched", lambda _: object())
    with pytest.raises(soak.Lost, match="has changed"):
        soak.send_frames(argparse.Namespace(many=500))


@pytest.mark.parametrize("part", soak.PARTS)
def test_a_result_is_evidence_until_the_code_changes(part: str, tmp_path: Path) -> None:
    path, files = tmp_path / "Serve.json", soak.hashes(part)
    assert verify(path, files) == 12
    path.write_text(json.dumps({"files": files}))
    assert verify(path, files) == 0
    path.write_text(json.dumps({"files": files | {"coordinator/serve/server.py": "another"}}))
    assert verify(path, files) == 12
