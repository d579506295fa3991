"""Dumps that runs share: under the key of all their inputs, and no other dump is taken."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from harness import dumps
from harness.dumps import FOLDER, shared_dump
from harness.engines.base import Limits, Model
from harness.transitions import dump

MODULE = """---- MODULE Counter ----
EXTENDS Integers
CONSTANT Most
VARIABLES
  \\* @type: Int;
  count,
  \\* @type: Str;
  step
Init == count = 0 /\\ step = "Init"
Next == count' = count + 1 /\\ step' = "Count"
BoundedNext == Next /\\ count' <= Most
Spec == Init /\\ [][BoundedNext]_<<count, step>>
====
"""


@pytest.fixture
def model(tmp_path: Path) -> Model:
    module = tmp_path / "Counter.tla"
    module.write_text(MODULE)
    (tmp_path / "Counter.cfg").write_text("SPECIFICATION Spec\nCONSTANT Most = 3\n")
    return Model("Counter", module, None)


def dumped(model: Model, tmp_path: Path, *, beyond_bounds: bool = False) -> tuple[int, str, bool]:
    """The number of states, the dump, and if the log says that the dump was taken."""
    dot, log = tmp_path / "graph.dot", tmp_path / "log"
    dot.unlink(missing_ok=True)
    states = dump(model, dot, limits=Limits(), log=log, beyond_bounds=beyond_bounds)
    return states, dot.read_text(), "is taken" in log.read_text()


def test_a_dump_is_taken_again_where_nothing_that_it_depends_on_has_changed(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "dumps"))
    first = dumped(model, tmp_path)
    assert not first[2]
    assert dumped(model, tmp_path) == (*first[:2], True)

    assert not dumped(model, tmp_path, beyond_bounds=True)[2]
    (tmp_path / "Counter.cfg").write_text("SPECIFICATION Spec\nCONSTANT Most = 4\n")
    larger = dumped(model, tmp_path)
    assert larger[0] > first[0] and not larger[2]
    model.module.write_text(MODULE.replace("count + 1", "count + 2"))
    assert not dumped(model, tmp_path)[2]

    model.module.write_text(MODULE.replace("Integers", "Integers, More"))
    library = tmp_path / "library"
    library.mkdir()
    (library / "More.tla").write_text("---- MODULE More ----\n====\n")
    above = Model("Counter", model.module, None, libraries=(library,))
    assert [dumped(above, tmp_path)[2] for _ in range(2)] == [False, True]
    (library / "More.tla").write_text("---- MODULE More ----\nOther == 1\n====\n")
    assert not dumped(above, tmp_path)[2]


def test_without_a_folder_nothing_is_shared(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(FOLDER)
    assert [dumped(model, tmp_path)[2] for _ in range(2)] == [False, False]
    assert not (tmp_path / "dumps").exists()


def test_a_run_that_fails_leaves_nothing_to_take(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "dumps"))
    model.module.write_text(MODULE.replace("count + 1", "count + nothing"))
    with pytest.raises(Exception, match="nothing"):
        dumped(model, tmp_path)
    assert not list((tmp_path / "dumps").iterdir())


def test_several_processes_take_and_remove_dumps_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "dumps"))
    monkeypatch.setattr(dumps, "KEPT", 2)

    def share(number: int) -> str:
        dot, log = tmp_path / f"{number}.dot", tmp_path / f"{number}.log"

        def write() -> int:
            dot.write_text(f"graph {number % 5}")
            log.write_text("written")
            return number % 5

        assert shared_dump(dot, [str(number % 5)], write, log=log, progress=lambda _: None) == number % 5
        return dot.read_text()

    with ThreadPoolExecutor(8) as pool:
        graphs = list(pool.map(share, range(400)))
    assert graphs == [f"graph {number % 5}" for number in range(400)]
    assert len(list((tmp_path / "dumps").iterdir())) <= 2 * (2 + 8)
