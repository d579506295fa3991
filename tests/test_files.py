"""Files are written whole or not at all; what is no file stays what it is."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.files import is_stream, read_lines, write_text
from harness.proxy.faults import from_file
from harness.validate.log import lines_of

SEPARATORS = "\u2028\u2029\x85"
"""Characters that a text of JSON may have as they are, and at which `str.splitlines` splits."""


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    write_text(pipe, "text\n")
    assert pipe.is_fifo()
    reader.join(timeout=10)
    assert read == ["text\n"]
    assert is_stream(Path("/dev/stdout")) and not is_stream(tmp_path)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == "new"


def test_a_folder_is_no_place_for_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(ConformError, match="folder cannot be written: "):
        write_text(tmp_path / "folder", "text")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_half_a_pair_is_written_as_json_has_it(tmp_path: Path) -> None:
    write_text(tmp_path / "file", '{"a": "\ud800"}')
    assert json.loads((tmp_path / "file").read_bytes()) == {"a": "\ud800"}
    assert [one.name for one in tmp_path.iterdir()] == ["file"]


def test_lines_of_json_end_at_line_ends_alone(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(f'{{"op":"{SEPARATORS}"}}\r\n\n{{"op":"b"}}\n'.encode())
    assert read_lines(log, "The log") == [(1, f'{{"op":"{SEPARATORS}"}}'), (3, '{"op":"b"}')]
    assert lines_of(log) == [(1, {"op": SEPARATORS}), (3, {"op": "b"})]
    fault = {"client": 1, "api": "Heartbeat", "nth": 1, "fault": "delay", "group": SEPARATORS}
    log.write_text(json.dumps({"op": "fault", **fault}, ensure_ascii=False))
    assert from_file(log)(1, "Heartbeat", 1) is not None
