"""Programs behind standard input and output: the replay of any of them ends with a sentence."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.errors import ConformError
from harness.targets import open_target
from harness.targets.base import Refused
from harness.targets.program import Program
from harness.targets.stdio import StdioTarget

ROOT = Path(__file__).parents[2]
COORDINATOR = f"{sys.executable} -m coordinator --stdio"
CLIENT = {"id": "c", "host": "/127.0.0.1", "principal": "User:c"}


def program(tmp_path: Path, text: str, timeout_s: float = 20.0) -> StdioTarget:
    path = tmp_path / "target.py"
    path.write_text("import json, os, sys, time\n" + text, encoding="utf-8")
    return StdioTarget(f"{shlex.quote(sys.executable)} {shlex.quote(str(path))}", timeout_s)


def failure(target: StdioTarget) -> ConformError:
    try:
        with pytest.raises(ConformError) as caught:
            target.hello()
    finally:
        target.close()
    assert caught.value.exit_code == 3
    return caught.value


def test_a_target_that_dies_is_reported_with_its_exit_code_and_last_words(tmp_path: Path) -> None:
    sentence = failure(program(tmp_path, "sys.stdin.readline(); sys.exit('the disk is gone')")).message
    assert "closed its output before it answered hello (exit code 1)" in sentence
    assert sentence.endswith("Its standard error ends with: the disk is gone")


@pytest.mark.parametrize(
    "value", ["é", "\ud800", 2**70, -(2**63), ("a", ["b"]), "\x00\x7f\u2028", {"1": None}]
)
def test_a_program_gets_what_json_writes(tmp_path: Path, value: object) -> None:
    """JSON is in ASCII, whatever the module that writes it."""
    echo = "for line in sys.stdin: print(json.dumps({'ok': True, 'said': line}), flush=True)"
    target = program(tmp_path, echo)
    operation = {"op": "hello", "value": value}
    sentence = target._ask(operation)["said"]
    target.close()
    assert sentence.isascii()
    assert json.loads(sentence) == json.loads(json.dumps(operation))


def test_a_target_that_ends_before_its_first_request(tmp_path: Path) -> None:
    target = program(tmp_path, "sys.exit(7)")
    assert isinstance(target._program, Program)
    target._program.process.wait()
    assert "exit code 7" in failure(target).message


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("hello world", "something that is not JSON: hello world"),
        ("[1]", "something that the line protocol does not have: [1]"),
        ('{"name":"x"}', 'something that the line protocol does not have: {"name": "x"}'),
        ('{"ok":true}', 'something that the line protocol does not have: {"ok": true}'),
        ('{"ok":true,"apis":{"A":1},"controls":[]}', "something that the line protocol does not have"),
        ('["\\ud800",' + "[" * 100_000, "something that is not JSON: "),
        ('{"ok":NaN}', "something that is not JSON: "),
        ('{"ok":true}\n{"ok":true}', 'wrote a further line after its answer to hello: {"ok":true}'),
    ],
)
def test_nonsense_is_quoted(tmp_path: Path, line: str, words: str) -> None:
    assert (
        words
        in failure(
            program(
                tmp_path, f"sys.stdin.readline(); os.write(1, {line + chr(10)!r}.encode()); sys.stdin.read()"
            )
        ).message
    )


def test_an_answer_is_utf_8(tmp_path: Path) -> None:
    utf_16 = "sys.stdout.buffer.write('{\"ok\":true}'.encode('utf-16-le') + b'\\n'); sys.stdout.flush()"
    assert (
        "not JSON" in failure(program(tmp_path, f"sys.stdin.readline(); {utf_16}; sys.stdin.read()")).message
    )


def test_an_answer_without_an_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.targets.program.LONGEST", 3 << 20)
    endless = program(tmp_path, "while True: sys.stdout.write('x' * 10_000)")
    assert "wrote more than 3 MiB without the end of a line" in failure(endless).message


def assert_ended(process: int) -> None:
    with pytest.raises(ProcessLookupError):
        for _ in range(1000):  # the system takes a moment
            os.kill(process, 0)
            time.sleep(0.01)


def test_a_program_is_ended_with_those_that_it_started(tmp_path: Path) -> None:
    """A wrapper, such as a script of a shell, waits for the program that does not answer."""
    target = StdioTarget(f"sh -c 'sleep 600 & echo $! > {tmp_path}/started; wait'", 0.3)
    assert "did not answer hello" in failure(target).message
    assert_ended(int((tmp_path / "started").read_text()))


def test_a_program_that_does_not_answer_ends_with_a_stopped_command(tmp_path: Path) -> None:
    target = (
        f"stdio:sh -c 'sleep 600 & echo $! > {tmp_path}/begun; mv {tmp_path}/begun {tmp_path}/started; wait'"
    )
    command = [sys.executable, "-m", "harness", "replay", "traces/golden/basic.itf.json", "--target", target]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        while not (tmp_path / "started").exists():
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        run.communicate()
    assert run.returncode == 130
    assert_ended(int((tmp_path / "started").read_text()))


def test_a_target_whose_second_hello_fails_is_closed(tmp_path: Path) -> None:
    hello = json.dumps({"ok": True, "dialect": "kip-848", "apis": {}, "controls": []})
    (tmp_path / "target.py").write_text(
        f"import os, sys\nopen({str(tmp_path / 'started')!r}, 'w').write(str(os.getpid()))\n"
        f"for answer in ({hello!r}, 'nonsense'): sys.stdin.readline(); print(answer, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with pytest.raises(ConformError, match="not JSON: nonsense"):
        open_target(f"stdio:{sys.executable} {tmp_path}/target.py")
    assert_ended(int((tmp_path / "started").read_text()))


def test_a_silent_target_runs_into_the_time_out(tmp_path: Path) -> None:
    sentence = failure(program(tmp_path, "time.sleep(600)", timeout_s=0.3)).message
    assert "did not answer hello within 0.3 s" in sentence
    assert sentence.endswith("Its standard error is empty.")


def test_a_target_that_does_not_read_runs_into_the_time_out(tmp_path: Path) -> None:
    target = program(tmp_path, "time.sleep(600)", timeout_s=0.3)
    try:
        with pytest.raises(ConformError, match="did not read load within"):
            target.load([], [{"name": "x" * 1_000_000, "id": "", "partitions": 1}], {})
    finally:
        target.close()


@pytest.mark.parametrize(
    "answer", ['{"ok":true,"body":7,"group":{}}', '{"ok":true,"group":[]}', '{"ok":true,"fired":3}']
)
def test_answers_of_the_wrong_form(tmp_path: Path, answer: str) -> None:
    target = program(tmp_path, f"sys.stdin.readline(); print({answer!r}, flush=True); sys.stdin.read()")
    try:
        with pytest.raises(ConformError, match="answered request with something that the line protocol"):
            target.request("ConsumerGroupHeartbeat", 0, CLIENT, {}, "g")
    finally:
        target.close()


def test_ok_false_is_a_refusal_with_its_reason_and_not_the_end() -> None:
    target = StdioTarget(COORDINATOR)
    try:
        with pytest.raises(Refused) as caught:
            target.fire("session", "g", "m1")
        assert (caught.value.operation, caught.value.exit_code) == ("fire", 3)
        assert "not armed" in caught.value.reason
        assert target.describe("g")["state"] == "Dead"
    finally:
        target.close()


def test_every_operation_reaches_the_program() -> None:
    target = StdioTarget(COORDINATOR)
    foo = {"name": "foo", "id": "11111111-1111-1111-1111-111111111111", "partitions": 1}
    join = {"groupId": "g", "memberId": "", "memberEpoch": 0, "rebalanceTimeoutMs": 5000,
            "subscribedTopicNames": ["foo"], "topicPartitions": []}  # fmt: skip
    try:
        target.configure({"group.consumer.session.timeout.ms": 60_000})
        target.topics([foo], [])
        target.ids(["m7"])
        target.assign("g", {"m7": [{"topicId": foo["id"], "partitions": [0]}]})
        answer = target.request("ConsumerGroupHeartbeat", 0, CLIENT, join, "g")
        assert answer.consumed and answer.body is not None and answer.body["memberId"] == "m7"
        assert answer.group == target.describe("g") and answer.records == target.records(0)
        target.restart()
        assert [member["memberId"] for member in target.describe("g")["members"]] == ["m7"]
        assert target.background().records == []
        target.commit("fail")
        refused = target.request("ConsumerGroupHeartbeat", 0, CLIENT, join).body
        assert refused == {**answer.body, "errorCode": 15} | {
            "errorMessage": "The log took no records; try again.", "memberId": None, "memberEpoch": 0,
            "heartbeatIntervalMs": 0, "assignment": None,
        }  # fmt: skip
        target.commit("auto")
        assert target.advance(60_000).fired == [{"timer": "session", "group": "g", "member": "m7"}]
        target.load([], [], {"clockMs": 0})
        assert target.describe("g")["state"] == "Dead"
    finally:
        target.close()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("kafka-4.2.1", "There is no target 'kafka-4.2.1'; there are python"),
        ("stdio:", "There is no target 'stdio:'"),
        ("stdio:/no/such/program", "cannot be started: .*No such file"),
        ("stdio:'", "cannot be started: No closing quotation"),
        (
            f"stdio:{COORDINATOR} --dialect kafka-4.2",
            "The traces of kafka-4.2 are traces/dialects/kafka-4.2;",
        ),
    ],
)
def test_targets_that_cannot_be_opened(name: str, words: str) -> None:
    with pytest.raises(ConformError, match=words) as caught:
        open_target(name)
    assert caught.value.exit_code == 2


def test_a_dialect_that_there_is_not() -> None:
    with pytest.raises(ConformError, match="there is no dialect 'kafka-9'") as caught:
        open_target("python", "kafka-9")
    assert caught.value.exit_code == 2


def test_half_of_a_surrogate_pair_is_shown_escaped(tmp_path: Path) -> None:
    hello = json.dumps({"ok": True, "dialect": "kip-848", "apis": {}, "controls": ["topics"]})
    (tmp_path / "target.py").write_text(
        f"import sys\nfor line in sys.stdin: print({hello!r} if 'hello' in line else "
        """'{"ok":false,"error":"\\\\ud800"}', flush=True)\n"""
    )
    target = f"stdio:{sys.executable} {tmp_path}/target.py"
    command = [sys.executable, "-m", "harness", "doctor", "--target", target]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (ended.returncode, "\\ud800" in ended.stdout, "Traceback" in ended.stderr) == (11, True, False)
