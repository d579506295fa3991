"""`conform check` and evidence, with real engines on small models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_manifest import FAILS, HOLDS, write
from typer.testing import CliRunner, Result

from harness.check import Difference, check_entry, compare
from harness.cli.main import app
from harness.engines.base import Limits, silent
from harness.evidence import Records
from harness.itf import read_trace
from harness.manifest import read_manifest

TYPED = {
    **{key: HOLDS[key] for key in ("purpose", "bounds", "seconds", "tier")},
    "name": "Typed",
    "module": "Typed.tla",
    "engine": "apalache",
    "args": {"inv": "Few", "length": 3},
    "expect": {"outcome": "holds"},
    "depth": 3,
}


def conform(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def check(*args: str) -> tuple[int, dict[str, Any], Result]:
    result = conform(
        "check", *args, "--manifest", "specs/manifest.json", "--memory", "512m", "--json", "out.json"
    )
    assert Path("out.json").exists(), result.output
    return result.exit_code, json.loads(Path("out.json").read_text()), result


def test_models_that_are_as_expected(here: Path) -> None:
    write(here / "specs", HOLDS, FAILS, HOLDS | {"name": "Later", "tier": "soak"})
    exit_code, data, result = check()
    assert (exit_code, data["exit_code"]) == (0, 0)
    holds, fails = data["models"]  # the other one is not of this tier
    assert (holds["distinct_states"], holds["depth"], holds["as_expected"]) == (9, 5, True)
    assert (holds["engine"], holds["version"], holds["bounds"]) == ("tlc", "2.18", HOLDS["bounds"])
    assert (fails["outcome"], fails["property"], fails["length"]) == ("violated", "NotAllFull", 4)
    assert len(read_trace(Path(fails["counterexample"])).states) == 5
    assert "violated NotAllFull" in result.output
    assert (here / "build/check/Counter.log").is_file()


def test_a_model_that_runs_out_of_time_is_undecided(here: Path) -> None:
    write(here / "specs", HOLDS)
    exit_code, data, result = check("--timeout", "0.1")
    assert (exit_code, data["exit_code"]) == (13, 13)
    assert data["models"][0]["failure"] == "time-out"
    assert "undecided" in result.output


def test_a_violated_property_names_its_requirement(here: Path) -> None:
    write(here / "specs", FAILS)
    module = here / "specs" / "Counter.tla"
    module.write_text(module.read_text().replace("NotAllFull ==", "\\* R7: one is left.\nNotAllFull =="))
    _, data, result = check()
    assert data["models"][0]["requirements"] == ["R7"]
    assert "violated NotAllFull (R7)" in " ".join(result.output.split())


def test_every_figure_is_compared(here: Path) -> None:
    wrong = [
        HOLDS | {"distinct_states": 10},
        HOLDS | {"name": "B", "expect": {"outcome": "violated", "property": "TypeOK", "length": 3}},
        FAILS | {"expect": FAILS["expect"] | {"length": 5}},
    ]
    write(here / "specs", *wrong)
    exit_code, data, result = check()
    assert exit_code == 10
    differences = [[tuple(one.values()) for one in model["differences"]] for model in data["models"]]
    assert differences == [
        [("distinct_states", 10, 9)],
        [("outcome", "violated", "holds"), ("property", "TypeOK", None), ("length", 3, None)],
        [("length", 5, 4)],
    ]
    assert "Counter: distinct_states: expected 10, got 9" in result.output


@pytest.mark.parametrize("also", [{}, {"distinct_states": 10}])
def test_a_wrong_depth_is_looked_at_again_with_one_worker(here: Path, also: dict[str, int]) -> None:
    entry = read_manifest(write(here / "specs", HOLDS | also | {"depth": 9})).entries[0]
    checked = check_entry(entry, Records(here / "specs"), here, Limits("512m", workers=2), silent)
    assert Difference("depth", 9, 5) in checked.differences
    assert len(checked.differences) == 1 + len(also)
    assert checked.result is not None
    assert checked.result.args[checked.result.args.index("-workers") + 1] == "1"


def test_compare_lists_what_is_expected_only() -> None:
    assert compare({"outcome": "holds"}, {"outcome": "holds", "depth": 3}) == ()
    assert compare({"depth": 4}, {"outcome": "holds", "depth": 3}) == (Difference("depth", 4, 3),)


def test_a_module_by_path_should_hold(here: Path) -> None:
    exit_code, data, _ = check("specs/Counter.tla")
    assert (exit_code, data["models"][0]["name"]) == (0, "Counter")
    exit_code, data, result = check("specs/Counter.tla", "--config", "specs/CounterFails.cfg", "--out", "o")
    assert (exit_code, data["models"][0]["name"]) == (10, "CounterFails")
    assert "CounterFails: counterexample in o/CounterFails.itf.json" in result.output


def test_one_model_that_fails_does_not_stop_the_others(here: Path) -> None:
    (here / "specs" / "Broken.tla").write_text("---- MODULE Broken ----\nVARIABLE\n====\n")
    write(here / "specs", HOLDS | {"name": "Broken", "module": "Broken.tla"}, HOLDS)
    exit_code, data, result = check()
    assert exit_code == 2
    assert [model["failure"] for model in data["models"]] == ["parse error", None]
    assert "TLC cannot parse Broken.tla." in result.output


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["Nope"], "There is no model Nope in specs/manifest.json; it has: Counter."),
        (["Counter", "--config", "x.cfg"], "--config goes with the path of a module"),
        (["specs/No.tla"], "The module specs/No.tla does not exist."),
        (["specs/Counter.tla", "--config", "No.cfg"], "The configuration No.cfg does not exist."),
        (["specs/Typed.tla"], "There is no Typed.cfg beside specs/Typed.tla"),
        (["specs/Counter.tla", "--library", "none"], "The library none is not a folder."),
        (["--engine", "spin"], "There is no engine 'spin'"),
        (["--tier", "large"], "There is no tier 'large'"),
        (["--tier", "soak"], "No model of specs/manifest.json is of the tier soak"),
        (["--out", "file/x"], "The output folder file/x cannot be written to: Not a directory"),
        (["--json", "file/x/o.json"], "The output folder file/x cannot be written to: Not a directory"),
        (["--manifest", "no.json"], "The manifest no.json does not exist."),
    ],
)
def test_a_wrong_command_line_is_one_sentence(here: Path, args: list[str], message: str) -> None:
    write(here / "specs", HOLDS)
    (here / "file").write_text("")
    result = conform("check", "--manifest", "specs/manifest.json", *args)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"conform: {message}")
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in here.iterdir()) == ["file", "specs"]


def test_without_a_manifest_the_way_out_is_named(here: Path) -> None:
    result = conform("check")
    assert result.exit_code == 2
    assert "There is no spec/manifest.json here" in result.stderr


def test_an_engine_that_is_missing_for_a_path(here: Path) -> None:
    exit_code, data, _ = check("specs/Counter.tla", "--engine", "apalache")
    assert (exit_code, data["models"][0]["failure"]) == (3, "missing engine")


def test_help_has_examples_for_every_verb() -> None:
    for verb in ("check", "generate"):
        result = conform(verb, "--help")
        assert result.exit_code == 0
        assert f"\n  conform {verb} " in result.output
        assert "Exit codes:" in result.output
