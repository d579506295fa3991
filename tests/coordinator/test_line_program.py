"""The program `python -m coordinator --stdio`: lines in, lines out, and its command line."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from line_requests import FOO, join


def run(*arguments: str, lines: str = "", seed: str = "0") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "coordinator", *arguments]
    return subprocess.run(
        command, input=lines, capture_output=True, text=True, check=False, env={"PYTHONHASHSEED": seed}
    )


def test_program_answers_line_by_line_and_the_same_bytes_for_every_hash_seed() -> None:
    operations = [{"op": "hello"}, {"op": "topics", "upsert": [{**FOO, "partitions": 7}]}]
    operations += [join(name, observe="g") for name in ("", "b", "a")] + [
        {"op": "advance", "ms": 50_000, "observe": "g"}
    ]
    lines = "\n\n".join(map(json.dumps, operations)) + "\n{"
    outputs = {run("--stdio", lines=lines, seed=seed).stdout for seed in ("0", "1", "2")}
    assert len(outputs) == 1
    answers = [json.loads(line) for line in outputs.pop().splitlines()]
    assert [answer["ok"] for answer in answers] == [True] * 6 + [False]
    assert len(answers[5]["fired"]) == 3


def test_program_speaks_the_dialect_it_is_given() -> None:
    result = run(
        "--stdio",
        "--dialect",
        "kafka-4.2",
        "--clock",
        "real",
        lines='{"op":"hello"}\n{"op":"advance","ms":1}',
    )
    hello, advance = map(json.loads, result.stdout.splitlines())
    assert (hello["dialect"], advance["ok"]) == ("kafka-4.2", False)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--stdio", "--dialect", "kafka"), "there is no dialect 'kafka'; there are kip-848"),
        ((), "--stdio"),
        (("--stdio", "--clock", "sun"), "sun"),
    ],
)
def test_wrong_command_line_ends_with_2_and_a_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    result = run(*arguments)
    assert (result.returncode, sentence in result.stderr, result.stdout) == (2, True, "")


def test_help_has_an_example_that_works() -> None:
    text = run("--help").stdout
    example = text[text.index("<<'END'\n") + len("<<'END'\n") : text.index("    END\n")]
    answers = [json.loads(line) for line in run("--stdio", lines=example).stdout.splitlines()]
    assert [answer["ok"] for answer in answers] == [True] * 4
    assert answers[3]["group"]["state"] == "Empty"
