"""The dialect of an implementation is identified for any mix of departures."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.cli.options import named
from harness.errors import ConformError
from harness.identify import probes
from harness.identify.judge import Identified, identify, with_changes
from harness.identify.probes import read_probes
from harness.replay.features import SERVER_SIDE, STATIC
from harness.targets import start_target
from harness.targets.base import Answer, Capabilities, Json, Target
from harness.targets.python import PythonTarget, departures, named_dialects, spoken, values_of

ROOT = Path(__file__).parent.parent.parent
PROBES = read_probes()
UNPROBED = {"TargetMayLag", "OtherKindError"}
"""The first needs a clock between targets, the second groups of other kinds: no schedule has either."""


def identified(dialect: str) -> Identified:
    return identify(PythonTarget(dialect), PROBES)


@pytest.mark.parametrize("dialect", [name for name in named_dialects() if name != "kafka-4.1"])
def test_a_dialect_is_identified(dialect: str) -> None:
    result = identified(dialect)
    assert (result.dialect, result.inconsistent, result.unknown) == (dialect, {}, {})
    assert result.as_well == (["kafka-4.1"] if dialect == "kafka-4.0" else [])


@pytest.mark.parametrize(
    "mix",
    [
        "kafka-4.2,FirstGroupEpoch=2,PendingInResponse=yes,InstanceChecked=unreleased,MetadataChange=at-once",
        "kip-848,FencedMemberIsRemoved=no,AwaySession=runs on,PartitionEpochs=yes,AwayCommits=yes",
    ],
)
def test_a_mix_of_four_departures_is_identified(mix: str) -> None:
    result = identified(mix)
    assert (result.dialect, result.inconsistent, result.unknown) == (spoken(mix), {}, {})
    assert len(result.changes) == 4


def test_every_departure_has_a_probe() -> None:
    assert {probe.departure for probe in PROBES} == departures().keys() - UNPROBED
    assert set(identified("kafka-4.2").undecided) == UNPROBED


class Moody(PythonTarget):
    """A target that speaks another dialect in each probe, so that each change which fits some probes better
    fits others worse."""

    def __init__(self) -> None:
        self._random = Random(0)
        super().__init__("kafka-4.2")

    def load(self, records: Sequence[Json], topics: Sequence[Json], volatile: Json) -> None:
        base = self._random.choice(named_dialects())
        name, values = self._random.choice(sorted(departures().items()))
        value = self._random.choice(values)
        changes = {} if value == values_of(base)[name] else {name: value}
        super().__init__(with_changes(base, changes))
        super().load(records, topics, volatile)


def test_an_implementation_like_no_dialect_is_identified_all_the_same() -> None:
    """Each change makes it fit all probes better, so the search ends."""
    given: list[str] = []
    result = identify(Moody(), PROBES, given.append)
    fitting = [int(line.split()[0]) for line in given if " fit " in line]
    assert fitting == sorted(fitting) and result.unknown


class Fickle(PythonTarget):
    """A target with another epoch in every third answer: no dialect does that."""

    count = 0

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        answer = super().request(api, version, client, body, observe)
        self.count += 1
        if self.count % 3 or not answer.body:
            return answer
        return answer._replace(body={**answer.body, "memberEpoch": 77})


class Poor(PythonTarget):
    """A target that has requests and topics alone, as a broker."""

    def hello(self) -> Capabilities:
        known = super().hello()
        return Capabilities(
            "poor", "kafka-4.2", known.apis, frozenset({"topics", "fresh", "describe", "ids"})
        )


class Constant(PythonTarget):
    """A target that answers each request alike, with parts that lack their fields."""

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        return Answer({}, {"groupId": "g", "members": [{}]}, [{}], fired=[{}, {}])


def test_a_target_that_speaks_no_dialect_gets_no_name() -> None:
    with pytest.raises(ConformError, match="speaks no dialect: none of ") as caught:
        identify(Constant("kafka-4.2"), PROBES)
    assert caught.value.exit_code == 11


def test_an_answer_of_the_protocols_form_that_a_probe_cannot_read_is_a_fault_of_the_kit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def careless(target: Target, operation: Json, end: int) -> Answer:
        raise TypeError("careless")

    monkeypatch.setattr(probes, "perform", careless)
    with (
        closing(start_target(f"stdio:{sys.executable} -m coordinator --stdio")) as target,
        pytest.raises(ConformError, match=r"fault of the kit: .* \(TypeError: careless\)") as caught,
    ):
        identify(target, PROBES)
    assert caught.value.exit_code == 3


def test_answers_that_no_value_explains_are_reported() -> None:
    result = identify(Fickle("kafka-4.2"), PROBES)
    assert result.unknown.total() > 20


def test_a_target_that_can_do_little_gets_the_probes_that_it_can_be_given() -> None:
    result = identify(Poor("kafka-4.2"), PROBES)
    assert result.left_out.keys() >= {"assign", "configure"} and result.probes
    assert result.probes + result.left_out.total() == len(PROBES)
    assert (result.dialect, result.unknown.total()) == ("kafka-4.2", 0)
    assert result.not_told_apart == ["kafka-4.0", "kafka-4.1"]
    assert {"RevocationRestart", "MetadataChange", "AwaySession"} <= set(result.undecided)


@pytest.mark.parametrize("feature", [STATIC, SERVER_SIDE + "range"])
def test_probes_of_a_feature_are_not_for_a_target_that_lacks_it(feature: str) -> None:
    class Lacking(PythonTarget):
        def hello(self) -> Capabilities:
            return replace(super().hello(), lacks=frozenset({feature}))

    result = identify(Lacking("kafka-4.2"), PROBES)
    assert result.left_out[feature] >= 5
    assert (result.probes + result.left_out.total(), result.unknown.total()) == (len(PROBES), 0)


@pytest.mark.parametrize("target", [Fickle, Poor])
def test_probes_without_a_value_and_probes_left_out_are_in_the_json(target: type[PythonTarget]) -> None:
    result = identify(target("kafka-4.2"), PROBES)
    written = json.loads(json.dumps(result.to_json()))
    assert result.unknown or result.left_out
    assert (written["unknown"], written["left_out"]) == (dict(result.unknown), dict(result.left_out))


def test_a_target_that_can_be_given_no_probe_is_refused() -> None:
    class Nothing(PythonTarget):
        def hello(self) -> Capabilities:
            return Capabilities("nothing", "kip-848", {}, frozenset())

    with pytest.raises(ConformError, match=r"can be given no probe: it lacks load"):
        identify(Nothing("kip-848"), PROBES)


def test_the_command_prints_a_name_that_other_commands_take(tmp_path: Path) -> None:
    program = f"stdio:{sys.executable} -m coordinator --stdio --dialect kafka-4.2,MetadataChange=at-once"
    written = tmp_path / "identified.json"
    result = CliRunner().invoke(app, ["identify", "--target", program, "--json", str(written)])
    assert result.exit_code == 0, result.output
    assert "kafka-4.2 except MetadataChange=at-once" in result.output
    assert '--dialect "kafka-4.2,MetadataChange=at-once"' in result.output
    assert json.loads(written.read_text())["changes"] == {"MetadataChange": "at-once"}


def test_the_file_that_the_command_writes_is_taken_by_other_commands(tmp_path: Path) -> None:
    mix = "kafka-4.2,MetadataChange=at-once"
    program = f"stdio:{sys.executable} -m coordinator --stdio --dialect {mix}"
    file, trace = tmp_path / "dialect.txt", ROOT / "traces" / "golden" / "basic.itf.json"
    result = CliRunner().invoke(app, ["identify", "--target", program, "--out", str(file)])
    assert result.exit_code == 0, result.output
    assert file.read_text().splitlines()[:2] == [
        "# kafka-4.2 except MetadataChange=at-once",
        "# undecided, for want of a probe that tells their values apart: TargetMayLag, OtherKindError",
    ]
    assert named(str(file)) == mix == named(mix)
    for verb in (["replay", str(trace)], ["doctor"]):
        done = CliRunner().invoke(app, [*verb, "--target", program, "--dialect", str(file)])
        assert not isinstance(done.exception, ConformError) or done.exception.exit_code != 2, done.output
        assert "speaks the dialect" not in done.output


def test_a_file_without_one_name_is_refused(tmp_path: Path) -> None:
    for text in ("", "# nothing\n", "kip-848\nkafka-4.2\n"):
        (tmp_path / "a").write_text(text)
        with pytest.raises(ConformError, match="must have one line") as caught:
            named(str(tmp_path / "a"))
        assert caught.value.exit_code == 2


@pytest.mark.parametrize("name", ["kafka-4.5", "kafka4.4", "4.4"])
@pytest.mark.parametrize("verb", ["doctor", "replay", "gate"])
def test_a_name_that_no_dialect_has_is_refused_first(verb: str, name: str) -> None:
    done = CliRunner().invoke(app, [verb, "--target", "broker:127.0.0.1:1", "--dialect", name])
    assert done.exit_code == 2 and not done.stdout
    assert f"There is no dialect {name!r}; there are kip-848, kafka-4.0" in done.stderr
    assert done.stderr.endswith("Did you mean kafka-4.4?\n")
