"""Commands of README.md and docs/ work, end with the stated exit code, and print the shown output."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT, all_text

from coordinator.members.consumer.types import State
from harness.cli.main import VERBS, app

BLOCK = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [
    pytest.param(line, marks=pytest.mark.sparks) if re.search("conform exhaust|--master", line) else line
    for line in dict.fromkeys(line for block in BLOCK.findall(all_text()) for line in block.splitlines())
    if line.startswith(("conform ", "python -m coordinator groups", "python -m coordinator serve --help"))
    and "conform.pex" not in line  # those: tests/pipeline/test_cluster.py
    and not re.search(r"conform broker |--target (broker:|mock)", line)  # tests/broker/test_broker_readme.py
    and not re.search(
        r"examples/clients/(franzgo|platformatic)/", line
    )  # tests/clients/test_other_clients.py
    and not re.search(r"--agent .*--findings", line)  # tests/clients/test_findings_page.py
    and "--target tcp:" not in line  # tests/replay/test_tcp.py
    and not re.search(r"Adapter\b|/adapter\b", line)  # tests/gate/test_adapters.py
    and "build/kip-1101" not in line  # tests/diff/test_worked_change.py
    and "build/clients.jsonl" not in line  # tests/proxy/test_proxy_page.py
    and not re.search(r"--(target|against) kafka:", line)  # tests/kafka/test_kafka_readme.py
]
PAIR = re.compile(r"^```\n((?:(?!```).*\n)+)```\n\n```\n((?:(?!```).*\n)+)```$", re.MULTILINE)
"""A block of commands, and directly after it what one of them prints."""


def shown() -> dict[str, list[str]]:
    """Command -> the lines that a document shows of its output: those of a block's last command, or of the
    one with a seed."""
    results = {}
    for commands, printed in PAIR.findall(all_text()):
        lines = commands.splitlines()
        command = next((line for line in lines if re.search("--seed 7|exhaust MCTour", line)), lines[-1])
        results[command] = printed.splitlines()
    return results


def is_printed(lines: list[str], output: str) -> str:
    """The first line of a transcript that the output does not have, in this order; "" if it has them all.

    `...` stands for anything, and hashes of the specification may be others.
    """
    at = 0
    printed = output.splitlines()
    for line in lines:
        parts = (re.escape(part) for part in re.split(r"\.\.\.", line.rstrip()))
        pattern = re.sub(r"spec\\ [0-9a-f]{12}", "spec [0-9a-f]{12}", ".*".join(parts))
        place = next((n for n in range(at, len(printed)) if re.fullmatch(pattern, printed[n].rstrip())), None)
        if place is None:
            return line
        at = place if line.strip() == "..." else place + 1
    return ""


ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 30


@pytest.mark.parametrize("command", COMMANDS)
def test_command_gives_what_the_documents_say(
    command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """In this process, where the words are of `conform`: a program for each would load the kit each time."""
    if command.startswith("conform graph") and not shutil.which("dot"):
        pytest.skip("graphviz (its program dot) is not on this machine")
    program, *words = shlex.split(command)
    if program == "conform":
        monkeypatch.chdir(ROOT)
        monkeypatch.setenv("PATH", ENVIRONMENT["PATH"])  # its `python` is this one
        monkeypatch.setattr(sys, "argv", [program, *words])
        with pytest.raises(SystemExit) as ended:
            app()
        code, given = ended.value.code, capfd.readouterr()
        printed, errors = given.out, given.err
    else:
        run = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True
        )
        code, printed, errors = run.returncode, run.stdout, run.stderr
    of_the_text = command.startswith(("conform replay traces/golden", "conform shrink traces/golden"))
    departs = of_the_text and "--dialect kafka" in command
    assert code == (11 if departs else 0), printed + errors
    assert not is_printed(shown().get(command, []), printed), printed


def test_transcripts_are_read_and_a_stale_figure_fails() -> None:
    assert len(shown()) >= 4
    transcript = ["17 traces, 128 steps, 1 of them ...", "...", "verdict (spec 0123456789ab)"]
    printed = "17 traces, 128 steps, 1 of them on python\nother\nverdict (spec ba9876543210)\n"
    assert not is_printed(transcript, printed)
    assert is_printed(transcript, printed.replace("128", "342")) == transcript[0]
    assert is_printed([transcript[2], transcript[0]], printed) == transcript[0]


def test_the_demonstration(tmp_path: Path) -> None:
    """The edit that README shows, and what the replay prints after it; the edit is made in a copy."""
    text = (ROOT / "README.md").read_text()
    edit = re.search(r"^```diff\n-(.*)\n\+(.*)\n```$", text, re.MULTILINE)
    transcript = re.search(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert edit and transcript
    for folder in ("harness", "spec", "traces"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    shutil.copytree(ROOT / "coordinator", tmp_path / "coordinator")
    path = tmp_path / "coordinator/consumer/reconcile.py"
    assert path.read_text().count(f"{edit[1]}\n") == 1
    path.write_text(path.read_text().replace(f"{edit[1]}\n", f"{edit[2]}\n"))
    words = ["-m", "harness", "replay", "traces/golden", "--target", "python", "--max-differences", "1"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, *words], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 11, ended.stderr
    assert not is_printed(transcript[1].splitlines(), ended.stdout), ended.stdout


@pytest.mark.parametrize(
    ("picture", "trace"),
    [
        ("basic.svg", "golden/basic"),
        ("kafka-migration-back.svg", "kafka/kafka-4.2/MCKafka42MigrationBack"),
    ],
)
def test_the_picture_of_a_trace_is_what_the_command_draws(picture: str, trace: str, tmp_path: Path) -> None:
    words = ["graph", "--trace", f"traces/{trace}.itf.json", "--sequence", "--out", str(tmp_path)]
    subprocess.run([sys.executable, "-m", "harness", *words], cwd=ROOT, check=True, capture_output=True)
    drawn = tmp_path / f"{Path(trace).name}-sequence.svg"
    assert (ROOT / "docs/pictures" / picture).read_text() == drawn.read_text()


def test_the_page_of_dialects_is_what_the_command_prints() -> None:
    words = [sys.executable, "-m", "harness", "dialects", "--markdown"]
    printed = subprocess.run(words, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert (ROOT / "docs/dialects.md").read_text().endswith(printed), "write the tables anew"


def test_the_pictures_of_states_have_the_states_that_there_are() -> None:
    pictures = ROOT / "docs/pictures"
    for name, states in (
        ("member", {state.value for state in State}),
        ("group", {"Dead", "Empty", "Assigning", "Reconciling", "Stable"}),
    ):
        source = (pictures / f"{name}-states.dot").read_text()
        named = {word for edge in re.findall(r"^  (\w+) -> (\w+)", source, re.MULTILINE) for word in edge}
        assert named == states
        drawn = re.findall(r'class="node">\n<title>(\w+)<', (pictures / f"{name}-states.svg").read_text())
        assert set(drawn) == states


def test_each_command_has_a_place_in_the_documents() -> None:
    text = all_text()
    assert [verb for verb in VERBS if f"conform {verb}" not in text] == []


def test_readme_is_short_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    links = re.findall(r"\]\(([^)#]+)\)", text)
    assert links and [link for link in links if not (ROOT / link).exists()] == []


@pytest.mark.parametrize(
    "target", ["all", "docs", "test", "test-sparks", "fuzz", "measure", "bench", "gate", "wheel", "soak"]
)
def test_make_knows_its_targets(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
