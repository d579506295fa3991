"""The commands of docs/proxy.md, in their order, at free ports; the table of faults."""

from __future__ import annotations

import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from served import ROOT
from test_proxy_clients import consumer, share

from harness.proxy.faults import KINDS
from harness.targets.broker.local import free_port

PAGE = (ROOT / "docs/proxy.md").read_text()


def test_the_commands_of_the_page(tmp_path: Path) -> None:
    shown = re.findall(r"^```text\n(.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
    ports = {port: str(free_port()) for port in ("9092", "9192", "9193")}
    (tmp_path / "build").mkdir()
    words = [shlex.split(re.sub(r"\b9\d{3}\b", lambda match: ports[match[0]], one)) for one in shown]
    assert [one[:3] for one in words[:2]] == [
        ["python", "-m", "coordinator"],
        ["conform", "proxy", "--listen"],
    ]
    programs = {"python": [sys.executable], "conform": [sys.executable, "-m", "harness"]}
    commands = [[*programs[program], *rest] for program, *rest in words]
    with ExitStack() as running:
        ends = []
        for command in commands[:2]:
            process = subprocess.Popen(
                command,
                cwd=tmp_path,
                env={"PYTHONPATH": str(ROOT), "PATH": ""},
                stdout=subprocess.PIPE,
                text=True,
            )
            running.enter_context(process)
            running.callback(process.kill)
            assert process.stdout is not None and "listening" in process.stdout.readline()
            ends.append(process)
        share(consumer(int(ports["9192"])), lambda: consumer(int(ports["9193"])))
        for process in reversed(ends):
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
    [last] = commands[2:]
    judged = subprocess.run(
        [*last, "--manifest", str(ROOT / "spec/manifest.json")], cwd=tmp_path, capture_output=True, text=True
    )
    assert judged.returncode == 0, judged.stdout + judged.stderr
    assert "a behaviour of the specification" in judged.stdout


def test_the_page_has_the_faults() -> None:
    assert (
        dict(re.findall(r"^\| `([a-z ]+)` \| (.+) \|$", re.sub(r" \(`\w+`\)", "", PAGE), re.MULTILINE))
        == KINDS
    )


def test_an_address_that_is_taken_is_named_and_the_record_of_before_stays(tmp_path: Path) -> None:
    record = tmp_path / "run.jsonl"
    record.write_text("a record of before")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        options = ["--listen", address, "--upstream", "127.0.0.1:9", "--record", str(record)]
        command = [sys.executable, "-m", "harness", "proxy", *options]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert ended.returncode == 3
    assert f"--listen {address} cannot be used: Address already in use" in ended.stderr
    assert record.read_text() == "a record of before"
