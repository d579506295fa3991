"""The script that counts the harness's lines by kind of group."""

from __future__ import annotations

from pathlib import Path

import kind_lines


def test_a_file_belongs_to_the_kind_that_its_path_names() -> None:
    assert kind_lines.kind_of_file("replay/classic/state.py") == "classic"
    assert kind_lines.kind_of_file("report/migration_sequence.py") == "migration"
    assert kind_lines.kind_of_file("targets/broker/connection.py") == ""
    assert kind_lines.kind_of_file("kinds/consumer/scenario/load.py") == "consumer"


def test_definitions_that_name_a_kind_are_counted_and_imports_are_not() -> None:
    text = """from classic import state
def decode(trace):
    if is_classic(trace):
        return 1
class Reader:
    def other(self): return "classic"
    def read(self):
        return ConnectState()
connected = 1
"""
    assert kind_lines.lines_about_kinds(text) == 5


def test_lines_of_a_folder_are_counted_once(tmp_path: Path) -> None:
    (tmp_path / "connect").mkdir()
    (tmp_path / "connect" / "wire.py").write_text("A = 1\nB = 2\n")
    (tmp_path / "run.py").write_text("A = 1\nB = CLASSIC\n\n")
    result = kind_lines.counted(tmp_path)
    assert result == {"connect": 2, kind_lines.ELSEWHERE: 1, kind_lines.REST: 2}
