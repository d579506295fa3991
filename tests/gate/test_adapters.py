"""Adapters in other languages: each has the level that its README says, and conforms on a case study."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from harness.errors import HOLDS, NOT_CONFORMANT

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
GO: Final = {"GOTOOLCHAIN": "local", "GOFLAGS": "-buildvcs=false"}
SOURCES: Final = {"java": "Adapter.java", "rust": "src/main.rs", "cpp": "adapter.cpp"}
RIGHT: Final = {
    "java": "minus(minus(member.assigned, other.assigned), other.revoking)",
    "rust": "&(&member.assigned - &other.assigned) - &other.revoking",
    "cpp": "minus(minus(member.assigned, other.assigned), other.revoking)",
}
"""The code by which a member does not get partitions that others hold (R7)."""
WRONG: Final = {"java": "member.assigned", "rust": "member.assigned.clone()", "cpp": "member.assigned"}


JOIN: Final = (
    b'{"op":"request","api":"ConsumerGroupHeartbeat","version":0,"client":{"id":"c"},"body":{"groupId":"g",'
    b'"memberId":"m","memberEpoch":%s,"rebalanceTimeoutMs":5000,"subscribedTopicNames":["foo"]}}'
)
WRONG_LINES: Final = (
    *(b'{"op":"\xff"}', b'{"op":"topics","upsert":[{"name":"foo","id":"%s","partitions":-3}]}'),
    *(JOIN % epoch for epoch in (b"0.5", b'"0"', b"true")),
)
FOR_ANOTHER: Final = b'{"op":"assign","group":"g","target":{"another":[]}}'


def answers(command: str, *lines: bytes) -> list[Any]:
    """The answers of a program to some lines."""
    ended = subprocess.run(shlex.split(command), input=b"\n".join(lines), capture_output=True, cwd=ROOT)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def conform(*words: str, json_file: Path) -> tuple[int, Any]:
    command = [sys.executable, "-m", "harness", *words, "--json", str(json_file)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert json_file.is_file(), ended.stderr
    return ended.returncode, json.loads(json_file.read_text())


def built(language: str, folder: Path) -> str:
    """The command that starts an adapter, built by its README; skips where that cannot be done here."""
    readme = (EXAMPLES / language / "README.md").read_text()
    command, start = re.search(r"```\n(.*)\nconform doctor --target \"stdio:(.*)\"", readme).groups()  # type: ignore[union-attr]
    if shutil.which(command.split()[0]) is None:
        pytest.skip(f"the adapter in {language} needs {command.split()[0]}, which is not there")
    quiet = [*command.split(), "--quiet"] if language != "cpp" else ["make", "--silent"]
    done = subprocess.run(quiet, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        output = (done.stdout + done.stderr).strip()
        missing = re.search(
            "json.hpp: No such|Could not (resolve|transfer)|download|network|registry", output
        )
        assert missing, f"{command}\n{output}"
        pytest.skip(f"the adapter in {language}: {command}: {output[-300:]}")
    return re.sub(r"(^|[ :])(\./|(?=target))", rf"\g<1>{folder}/", start)


@pytest.mark.maven
@pytest.mark.parametrize("language", SOURCES)
def test_an_adapter_has_the_level_of_its_readme_and_no_difference(tmp_path: Path, language: str) -> None:
    folder = tmp_path / language
    built_files = shutil.ignore_patterns("target", "adapter")
    shutil.copytree(EXAMPLES / language, folder, ignore=built_files)
    command = built(language, folder)
    target = ("--target", f"stdio:{command}")
    oks = [answer["ok"] for answer in answers(command, *WRONG_LINES, FOR_ANOTHER, JOIN % b"0")]
    assert oks == [False] * len(WRONG_LINES) + [True, True]
    code, examined = conform("doctor", *target, json_file=tmp_path / "doctor.json")
    (level,) = re.findall(r"calls it \*(.+?)\*", (folder / "README.md").read_text())
    assert (code, examined["level"]) == (HOLDS, level)
    golden = "traces/golden/basic.itf.json"
    code, replayed = conform("replay", golden, *target, json_file=tmp_path / "replay.json")
    (steps,) = re.findall(r"no difference in (\d+) steps", (folder / "README.md").read_text())
    assert (code, replayed["differences"], replayed["target_steps"]) == (HOLDS, 0, int(steps))
    static = "traces/golden/bugs/KAFKA-20641.itf.json"
    code, replayed = conform("replay", golden, static, *target, json_file=tmp_path / "static.json")
    assert (code, list(replayed["skipped"])) == (HOLDS, ["static members"])

    source = folder / SOURCES[language]
    text = source.read_text()
    assert text.count(RIGHT[language]) == 1
    source.write_text(text.replace(RIGHT[language], WRONG[language]))
    built(language, folder)
    code, replayed = conform("replay", golden, *target, json_file=tmp_path / "bug.json")
    assert (code, replayed["differences"] > 0) == (NOT_CONFORMANT, True)


@pytest.mark.skipif(not shutil.which("go"), reason="Go is not on this machine: the program is in Go")
def test_the_smallest_program_of_the_page_is_a_black_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program than the coordinator beside it imports the package, as the page shows."""
    (program,) = re.findall(r"```go\n(.*?)```", (ROOT / "docs/adapter.md").read_text(), re.DOTALL)
    shutil.copytree(EXAMPLES / "go" / "lineprotocol", tmp_path / "lineprotocol")
    shutil.copy(EXAMPLES / "go" / "go.mod", tmp_path)
    (tmp_path / "main.go").write_text(program)
    for name, value in GO.items():
        monkeypatch.setenv(name, value)
    subprocess.run(["go", "build", "-o", "mine", "."], cwd=tmp_path, check=True)
    code, examined = conform("doctor", "--target", f"stdio:{tmp_path}/mine", json_file=tmp_path / "d.json")
    assert (code, examined["level"]) == (HOLDS, "black box")
