"""The command line as a whole: its version, names that are no commands, and how it ends."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from harness.cli.main import RENAMED, VERBS, app


def options(verb: str) -> list[tuple[str, str]]:
    """The options of a verb, and of the verbs inside it: name and help."""

    def of(command: Any) -> list[tuple[str, str]]:
        inner = [one for name in getattr(command, "commands", ()) for one in of(command.commands[name])]
        params = [one for one in command.params if one.param_type_name == "option" and one.name != "help"]
        return inner + [(one.opts[0], one.help or "") for one in params]

    conform_itself: Any = get_command(app)
    return list(
        dict.fromkeys(of(conform_itself.get_command(conform_itself.make_context("conform", [verb]), verb)))
    )


def conform(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "harness", *words], capture_output=True, text=True)


def test_the_version_is_printed() -> None:
    assert conform("--version").stdout == f"conform {version('group-conformance')}\n"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("replya", "There is no command 'replya'. Did you mean replay?"),
        ("xyzzy", "There is no command 'xyzzy'. There are check, scenario, "),
    ],
)
def test_a_name_that_is_no_command_gets_a_suggestion(name: str, sentence: str) -> None:
    ended = conform(name)
    assert ended.returncode == 2
    assert sentence in " ".join(ended.stderr.split())


@pytest.mark.parametrize(
    "words", [("--against", "python"), ("--seed", "3", "--steps=5"), ("--target", "python")]
)
def test_an_option_of_a_verb_that_was_split_is_answered_with_the_new_name(words: tuple[str, ...]) -> None:
    ended = conform("simulate", *words)
    assert ended.returncode == 2
    option = next(word for word in words if word != "--seed" and word.startswith("--")).partition("=")[0]
    sentence = " ".join(ended.stderr.split())
    assert f"no option {option} any more: two implementations are compared by conform compare" in sentence
    assert option in conform("compare", "--help").stdout


@pytest.mark.parametrize(
    ("verb", "old", "new"), [(verb, *names) for verb, table in RENAMED.items() for names in table.items()]
)
def test_an_old_name_of_an_option_is_answered_with_the_new_one(verb: str, old: str, new: str) -> None:
    answered = CliRunner().invoke(app, [verb, "thing", f"{old}=here"])
    assert answered.exit_code == 2
    assert f"{verb} has no option {old} any more: its name is {new} now" in " ".join(answered.output.split())
    names = [name for name, _ in options(verb)]
    assert new in names and old not in names


SHARED = {
    "--conf": "^A setting of Spark",
    "--config": "^The configuration",
    "--dialect": "^The dialect of (both|the target|the broker)",
    "--fresh": "^Take no recorded result",
    "--jobs": "(Models|Runs of TLC|Mutants|schedules) at a time|in N processes",
    "--json": "as JSON, too|^The result",
    "--kept": "^The folder of earlier failures",
    "--library": "^A folder with more modules",
    "--manifest": "^The manifest",
    "--master": "^Spark's master: ",
    "--max-differences": "N (kinds of )?differences",
    "--memory": "^Memory for (TLC|an engine|the engine)",
    "--minutes": "^Time for everything|^Begin no mutant after",
    "--no-kept": "^Try no earlier failure",
    "--only": "[Oo]nly th(is|ese) ",
    "--out": "^(Folder|File|Place) for ",
    "--package": "^The package that a cluster's workers run",
    "--page": "^Write a page ",
    "--record": "^Write the requests (of|to) ",
    "--record-evidence": "in evidence/",
    "--replay": "^Run this schedule ",
    "--seed": "^Seed of |^The same seed",
    "--seeds": "^The number of (schedules of )?seeds",
    "--spark-memory": "^Memory for Spark",
    "--target": "^(An|The) implementation|^Replay them, too: on ",
    "--tier": r"small\b.*\bsoak",
    "--timeout": "^Stop .* after S seconds",
    "--traces": "^(Traces of closed models|Folder with golden)",
    "--tour": "^Replay (tours|every step) of ",
    "--waivers": "^Differences that are accepted",
    "--wait": "^Wait at most so long, ",
    "--workers": "^Threads of TLC",
}
"""Name of each option that several verbs have -> what the help of that option, and of no other, says."""


def test_an_option_has_one_meaning_and_a_meaning_one_name() -> None:
    listed = [(verb, *option) for verb in VERBS for option in options(verb)]
    verbs = Counter(name for _, name, _ in listed)
    assert not [name for name in verbs if verbs[name] > 1 and name not in SHARED], (
        "a row is missing in SHARED"
    )
    assert not [name for name in SHARED if verbs[name] < 2], "a row of SHARED is of one verb alone"
    mixed = [
        f"conform {verb} {name}: {text}  [{means}]"
        for verb, name, text in listed
        for means, pattern in SHARED.items()
        if bool(re.search(pattern, text)) != (name == means)
    ]
    assert not mixed, "\n".join(mixed)


def test_the_rules_of_options_see_two_names_and_two_meanings() -> None:
    """Options of earlier versions: a second name for a known meaning, and a known name with a second
    meaning."""
    assert re.search(SHARED["--manifest"], "The manifest, beside which the modules are.")
    assert not re.search(SHARED["--timeout"], "Seconds that an answer of stdio:COMMAND may take.")
    assert not re.search(SHARED["--tour"], "Write behaviours that take every edge of the state graph.")


def test_a_name_that_is_no_model_gets_a_suggestion() -> None:
    ended = conform("check", "MCTuor")
    assert ended.returncode == 2
    assert "Did you mean MCTour?" in " ".join(ended.stderr.split())


def test_a_name_like_no_other_gets_a_few_models_and_not_hundreds() -> None:
    ended = conform("check", "xyzzy")
    assert (
        ended.returncode,
        re.search(r"; it has: MC\w+, .* and \d+ more\.\n$", ended.stderr) is not None,
    ) == (2, True)
    assert len(ended.stderr) < 400


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("replay", "--tagret", "python"), "--target"),
        (("replay", "traces/golden/basic.itf.json", "--target", "pyhton"), "Did you mean python?"),
        (
            ("replay", "traces/golden/basic.itf.json", "--target", "brokr:localhost:9092"),
            "Did you mean broker?",
        ),
        (("replay", "traces/golden/basic.itf.json", "--dialect", "kafka-44"), "Did you mean kafka-4.4?"),
        (("graph", "MCTuor"), "Did you mean MCTour?"),
        (("gate", "--only", "replya"), "Did you mean replay?"),
        (("diff", "spec", "spec", "--model", "MCTuor"), "Did you mean MCTour?"),
    ],
)
def test_other_names_get_a_suggestion_too(words: tuple[str, ...], hint: str) -> None:
    ended = conform(*words)
    assert ended.returncode == 2
    assert hint in " ".join(ended.stderr.split())


def test_a_target_without_what_it_needs_gets_no_suggestion() -> None:
    ended = conform("replay", "traces/golden/basic.itf.json", "--target", "stdio:")
    assert (ended.returncode, "Did you mean" in ended.stderr) == (2, False)


STOPPED = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # the program that starts the tests may ignore both
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from harness.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("answer", "code"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_stopped_run_ends_with_the_code_of_the_list(
    answer: signal.Signals, code: int, tmp_path: Path
) -> None:
    """A target that never answers, and so says that it is asked."""
    request, kit = tmp_path / "asked", Path(__file__).parents[1]
    target = f"stdio:sh -c {shlex.quote(f'touch {shlex.quote(str(request))}; exec sleep 60')}"
    words = ["replay", str(kit / "traces/golden/basic.itf.json"), "--target", target]
    with subprocess.Popen(
        [sys.executable, "-c", STOPPED, *words], cwd=kit, text=True, stderr=subprocess.PIPE
    ) as run:
        while not request.exists() and run.poll() is None:
            time.sleep(0.02)
        run.send_signal(answer)
        _, output = run.communicate()
    assert run.returncode == code
    assert (f"conform: stopped by {answer.name}.\n" in output) is (answer is not signal.SIGINT)
    for page in (conform("--help").stdout, (kit / "README.md").read_text()):
        assert f"{code} " in " ".join(page.partition("Exit codes")[2].partition("\n\n")[0].split())


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full")
@pytest.mark.parametrize("words", ["dialects", "replay traces/golden/basic.itf.json"])
def test_a_full_standard_output_ends_in_a_sentence(words: str) -> None:
    """A verb of many lines once ended in a traceback, and one of few lines in a message of Python's end."""
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "harness", *words.split()]
        ended = subprocess.run(
            command, cwd=Path(__file__).parents[1], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == 2
    assert ended.stderr.splitlines()[-1].startswith("conform: No space left on device: standard output, or ")
