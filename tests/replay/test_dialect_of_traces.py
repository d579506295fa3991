"""Traces of one dialect are replayed on a target that speaks the dialect, without an option that names it."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from frozendict import frozendict
from spec_model import NOTHING, Model

from harness.cli.replay import command
from harness.errors import ConformError
from harness.itf import Trace, read_meta, write_trace
from harness.targets import open_target

FOO = frozenset({"foo"})


def written(file: Path, operator: str) -> Path:
    """A trace of that dialect in which a member joins, and heartbeats."""
    model = Model(topics={"foo": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    made = model.trace()
    meta = {**made.meta, "constants": {**made.meta.get("constants", {}), "Dialect": operator}}
    write_trace(file, replace(shifted(made) if operator == "Kafka44" else made, meta=meta))
    return file


def shifted(made: Trace) -> Trace:
    """A trace in which a group begins at epoch 1, as in Kafka 4.3 and later (E1)."""
    after: Any = made.states[1]
    group, step = after["group"], after["step"]
    members = group["members"].set("m1", group["members"]["m1"].set("epoch", 2))
    group = group.set("epoch", 2).set("assignmentEpoch", 2).set("members", members)
    step = step.set("response", step["response"].set("epoch", 2))
    return replace(made, states=[made.states[0], frozendict({**after, "group": group, "step": step})])


def replayed(tmp_path: Path, *files: Path, **words: Any) -> Any:
    command(list(files), json_file=tmp_path / "result.json", **words)
    return json.loads((tmp_path / "result.json").read_text())


def test_the_dialect_is_that_of_the_traces(tmp_path: Path) -> None:
    files = [written(tmp_path / f"{name}.itf.json", "Kafka44") for name in "ab"]
    result = replayed(tmp_path, *files)
    assert (result["dialect"], result["target_steps"], result["differences"]) == ("kafka-4.4", 2, 0)
    again = replayed(tmp_path, *files, dialect="kafka-4.4")
    assert again == result


def test_where_there_are_several_those_of_the_text_are_replayed(tmp_path: Path) -> None:
    files = [
        written(tmp_path / "a.itf.json", "Kafka44"),
        written(tmp_path / "b.itf.json", "KIP848"),
    ]
    result = replayed(tmp_path, *files)
    assert (result["dialect"], result["target_steps"], result["differences"]) == ("kip-848", 1, 0)
    assert result["skipped"] == {"dialect kafka-4.4": {"traces": 1, "steps": 1}}


def test_another_dialect_is_a_wrong_command_line(tmp_path: Path) -> None:
    file = written(tmp_path / "a.itf.json", "Kafka44")
    with pytest.raises(ConformError, match=r"Every trace is of the dialect 'kafka-4\.4', not") as c:
        replayed(tmp_path, file, dialect="kafka-4.2")
    assert c.value.exit_code == 2 and not (tmp_path / "result.json").exists()
    with pytest.raises(ConformError, match=r"a\.itf\.json: there is no dialect 'Kafka9'"):
        replayed(tmp_path, written(file, "Kafka9"))


def test_traces_of_the_text_are_for_every_dialect(tmp_path: Path) -> None:
    file = written(tmp_path / "a.itf.json", "KIP848")
    with pytest.raises(ConformError, match="does not conform") as caught:
        replayed(tmp_path, file, dialect="kafka-4.2")
    assert caught.value.exit_code == 11
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["dialect"], result["target_steps"]) == ("kafka-4.2", 1)


@pytest.mark.parametrize(
    ("text", "meta"),
    [
        ('{"#meta": {"a": 1}, "vars": [', {"a": 1}),
        ('{"vars": [], "states": [{"#meta": {"index": 0}}], "#meta": {"a": 1}}', {"a": 1}),
        ('{"vars": [], "states": [{"#meta": {"index": 0}}]}', {}),
        ('{"#meta": 1}', {}),
        ('{"#meta": {"a', {}),
        ("[]", {}),
        ("", {}),
    ],
)
def test_meta_is_read_wherever_it_is(tmp_path: Path, text: str, meta: dict[str, int]) -> None:
    file = tmp_path / "a.itf.json"
    file.write_text(text, encoding="utf-8")
    assert read_meta(file) == meta


def test_with_departures_a_dialect_takes_the_traces_of_its_name(tmp_path: Path) -> None:
    file = written(tmp_path / "a.itf.json", "Kafka44")
    assert replayed(tmp_path, file, dialect="kafka-4.4,MetadataChange=at-once")["differences"] == 0
    with pytest.raises(ConformError, match="does not conform"):
        replayed(tmp_path, file, dialect="kafka-4.4,FirstGroupEpoch=1")
    with pytest.raises(
        ConformError, match=r"is of the dialect 'kafka-4\.4', not 'kafka-4\.3,AwayCommits=no'"
    ):
        replayed(tmp_path, file, dialect="kafka-4.3,AwayCommits=no")


def test_a_target_bears_the_departures_that_it_does_not_name() -> None:
    """A target that says kafka-4.2 in `hello` may depart from that dialect: its authors need not know."""
    program = f"stdio:{sys.executable} -m coordinator --stdio --dialect "
    for given in ("kafka-4.2", "kafka-4.2,MetadataChange=at-once"):
        with closing(open_target(program + given, "kafka-4.2,MetadataChange=at-once")) as target:
            assert target.hello().dialect == given
    with pytest.raises(
        ConformError, match=r"speaks the dialect 'kafka-4\.3', not 'kafka-4\.2,AwayCommits=no'"
    ):
        open_target(program + "kafka-4.3", "kafka-4.2,AwayCommits=no")
    with pytest.raises(ConformError, match="did you mean AwayCommits\\?"):
        open_target(program + "kafka-4.2", "kafka-4.2,AwayCommit=no")
