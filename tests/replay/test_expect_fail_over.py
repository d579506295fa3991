"""Expected values of a fail-over (P2) and of offsets (O1, O2, O4, T2), by hand; faults are noticed."""

from __future__ import annotations

from typing import Any

import pytest
from expected_steps import FOO, decoded, failures, kinds, steps, wire_partitions
from spec_model import NOTHING, Model

from harness.errors import ConformError
from harness.replay import wire
from harness.replay.compare import differences
from harness.replay.decode import Decoder
from harness.replay.prepared import Step
from harness.replay.run import Replayer
from harness.targets.base import Answer, Capabilities, Json
from harness.targets.python import PythonTarget

F0, F1 = ("foo", 0), ("foo", 1)


def joined(topics: int = 2) -> Model:
    model = Model(topics={"foo": topics})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO)
    return model


def timers(step: Step) -> dict[str, int]:
    assert step.expected.group is not None
    return {timer["timer"]: timer["deadlineMs"] for timer in step.expected.group["timers"]}


def test_a_fail_over_writes_nothing_where_nothing_changed_and_arms_all_timers_anew() -> None:
    model = joined()
    model.heartbeat("m1", 1, owned=frozenset({F0, F1}), subscription=NOTHING)
    model.heartbeat("m1", 1, owned=None)
    model.fail_over()
    revoking, later, over = steps(model)[1:]
    assert timers(revoking) == {"session": 45_002, "rebalance": 300_002}
    assert timers(later) == {"session": 45_003, "rebalance": 300_002}
    assert timers(over) == {"session": 45_004, "rebalance": 300_004}
    assert (kinds(over), over.script, over.lost, over.expected.body) == ([], None, None, None)
    assert over.expected.group is not None
    assert [member["previousMemberEpoch"] for member in over.expected.group["members"]] == [0]
    assert over.call.operation() == {"op": "restart", "after": None}


def test_an_empty_group_waits_anew_for_its_end() -> None:
    model = joined()
    model.heartbeat("m1", -1)
    model.fail_over()
    assert timers(steps(model)[-1]) == {"group": wire.EMPTY_RETENTION_MS + 3}


def test_a_topic_that_changed_meanwhile_is_noticed_by_the_new_coordinator_alone() -> None:
    model = joined()
    model.fail_over("foo", 3)
    over = steps(model)[-1]
    assert kinds(over) == ["4", "3", "7m1", "6"]
    assert over.lost is not None and over.lost.operation() == {
        "op": "topics",
        "upsert": [{"name": "foo", "id": wire.topic_id("foo"), "partitions": 3}],
        "delete": [],
    }
    assert over.script == {"m1": wire_partitions(0, 1, 2)}
    model.fail_over("foo", -1)
    assert kinds(steps(model)[-1]) == ["4", "3", "7m1", "6"]
    model.fail_over("bar", 1)
    assert kinds(steps(model)[-1]) == []


def test_topics_that_change_unsaid_are_a_contradiction() -> None:
    model = joined()
    model.fail_over("foo", 3)
    step = model.states[-1]["step"]
    model.states[-1] = model.states[-1].set("step", step.set("topic", ""))
    with pytest.raises(ConformError, match="the topics change in a fail-over that names no topic"):
        steps(model)


def committed() -> Model:
    model = joined()
    model.commit("m1", 1, F1, 7)
    return model


def test_a_commit_is_one_record_and_no_heartbeat() -> None:
    model = committed()
    model.commit("m1", 1, F1, 7)
    first, again = steps(model)[1:]
    for step, now_ms in ((first, 2), (again, 3)):
        (record,) = step.expected.records
        assert record["key"] == {"type": "OffsetCommit", "groupId": "g", "topic": "foo", "partition": 1}
        assert record["value"] == {
            "offset": 7,
            "leaderEpoch": -1,
            "metadata": "",
            "commitTimestamp": now_ms,
            "topicId": wire.topic_id("foo"),
        }
        assert timers(step) == {"session": 45_001}
    partition = {"partitionIndex": 1, "errorCode": 0}
    topic = {"name": None, "topicId": wire.topic_id("foo"), "partitions": [partition]}
    assert first.expected.body == {"throttleTimeMs": 0, "topics": [topic]}
    operation = first.call.operation()
    assert (operation["api"], operation["version"]) == ("OffsetCommit", 9)
    assert operation["body"]["generationIdOrMemberEpoch"] == 1


@pytest.mark.parametrize(
    ("name", "epoch", "partition", "code"),
    [
        ("m2", 1, F0, 25),
        ("", -1, F0, 25),
        ("m1", 2, F0, 113),
        ("m1", 1, ("bar", 0), 100),
        ("m1", 1, ("foo", 2), 3),
    ],
)
def test_refused_commits_and_fetches_change_nothing(name: str, epoch: int, partition: Any, code: int) -> None:
    model = joined()
    model.commit(name, epoch, partition, 5)
    step = steps(model)[-1]
    assert (kinds(step), step.new_id) == ([], "")
    assert step.expected.body is not None
    assert step.expected.body["topics"][0]["partitions"][0]["errorCode"] == code
    if name:
        model.fetch(name, epoch, partition)
        fetched = steps(model)[-1].expected.body
        assert fetched is not None
        (group,) = fetched["groups"]
        of_topic = code in (3, 100)
        assert group["errorCode"] == (0 if of_topic else code)
        assert [topic["partitions"][0]["errorCode"] for topic in group["topics"]] == [code] * of_topic


def test_a_fetch_answers_what_was_committed_and_writes_nothing() -> None:
    model = committed()
    model.fetch("m1", 1, F1)
    model.fetch("", -1, F0)
    result, none = steps(model)[-2:]
    offsets = []
    for step in (result, none):
        assert step.expected.body is not None
        (group,) = step.expected.body["groups"]
        offsets.append(group["topics"][0]["partitions"][0]["committedOffset"])
        assert kinds(step) == []
    assert offsets == [7, -1]


def test_offsets_go_with_their_topic_and_their_group() -> None:
    model = committed()
    model.change_topic("DeleteTopic", "foo", -1)
    assert sorted(kinds(steps(model)[-1])) == ["-1", "3", "4", "6", "7m1"]
    model = committed()
    model.heartbeat("m1", -1)
    model.delete_group()
    assert sorted(kinds(steps(model)[-1])) == ["-1", "-3", "-4", "-6"]


def test_offsets_are_loaded() -> None:
    records = steps(committed())[-1].load.records
    assert [record["value"]["offset"] for record in records if record["key"]["type"] == "OffsetCommit"] == [7]


# Faults of a target


class Negligent(PythonTarget):
    """A new coordinator that does not look at the topics that changed while no coordinator ran."""

    def restart(self, keep: int | None = None) -> Answer:
        topics = self._coordinator._env.topics
        known = [
            {"name": name, "id": topic.id, "partitions": topic.partitions} for name, topic in topics.items()
        ]
        self.load(self.records(0)[:keep], known, {"clockMs": self._coordinator.clock.now_ms()})
        return Answer()


class Forgetful(PythonTarget):
    """Loses the last batch of records with the old coordinator, although it was acknowledged (P3)."""

    def restart(self, keep: int | None = None) -> Answer:
        return super().restart((keep or 1) - 1)


def test_a_recheck_that_a_fail_over_forgets_is_noticed() -> None:
    model = joined()
    model.fail_over("foo", 3)
    assert failures(PythonTarget("kip-848"), model) == []
    (result,) = failures(Negligent("kip-848"), model)
    assert (result.action, result.index) == ("FailOver", 2)
    paths = {d.path.split("[")[0] for d in result.differences}
    assert {"group.groupEpoch", "records", "scripted target used"} <= paths


def test_an_acknowledged_step_that_a_fail_over_loses_is_noticed() -> None:
    model = joined()
    model.fail_over()
    assert failures(PythonTarget("kip-848"), model) == []
    assert [failure.action for failure in failures(Forgetful("kip-848"), model)] == ["FailOver"]


class Editing(PythonTarget):
    """Changes one field of the requests."""

    def __init__(self, field: str, value: Any) -> None:
        super().__init__("kip-848")
        self.edit = {field: value}

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        edited = {**body, **{name: value for name, value in self.edit.items() if name in body}}
        return super().request(api, version, client, edited, observe)


@pytest.mark.parametrize(
    ("field", "value"), [("instanceId", None), ("instanceId", "i9"), ("subscribedTopicRegex", "fo+")]
)
def test_a_target_with_a_wrong_instance_id_or_regex_is_noticed(field: str, value: Any) -> None:
    model = Model(topics={"foo": 2})
    model.heartbeat("m1", 0, owned=NOTHING, subscription=FOO, instance="i1", regex=".*")
    assert failures(PythonTarget("kip-848"), model) == []
    results = failures(Editing(field, value), model)
    assert f"group.members[m1].{field}" in {d.path for failure in results for d in failure.differences}


class Uncommitted(PythonTarget):
    """Fences no commit."""

    def request(self, api: str, version: int, client: Json, body: Json, observe: str | None = None) -> Answer:
        if api == "OffsetCommit":
            body = {**body, "generationIdOrMemberEpoch": 1}
        return super().request(api, version, client, body, observe)


def test_a_commit_that_should_have_been_fenced_is_noticed() -> None:
    model = joined()
    model.commit("m1", 0, F0, 3)
    assert failures(PythonTarget("kip-848"), model) == []
    (result,) = failures(Uncommitted("kip-848"), model)
    assert [d.path.split("[")[0] for d in result.differences] == ["response.topics", "records"]


def test_the_largest_group_is_configured_and_taken_back() -> None:
    replayer = Replayer(PythonTarget("kip-848"), max_differences=1)
    for max_size in (1, 99, 1):
        model = Model(topics={"foo": 2}, max_size=max_size)
        for name in ("m1", "m2"):
            model.heartbeat(name, 0, owned=NOTHING, subscription=FOO)
        replayer.replay(Decoder().decode(model.trace(), f"at most {max_size}"))
    assert replayer.result.failures == []
    assert replayer.result.coverage.errors == {"NONE": 4, "GROUP_MAX_SIZE_REACHED": 2}


def test_a_trace_ends_before_a_step_whose_api_or_operation_the_target_lacks() -> None:
    class Old(PythonTarget):
        def hello(self) -> Capabilities:
            known = super().hello()
            only = {wire.HEARTBEAT: known.apis[wire.HEARTBEAT]}
            return Capabilities(known.name, known.dialect, only, known.controls - {"restart"})

    failing_over = joined()
    failing_over.fail_over()
    replayer = Replayer(Old("kip-848"), max_differences=1)
    for model in (joined(), committed(), failing_over):
        replayer.replay(decoded(model))
    result, length = replayer.result, len(steps(joined()))
    assert (result.failures, result.judged) == ([], 3 * length)
    assert [(one.judged, one.skipped, one.reason) for one in result.ended_early] == [
        (length, len(steps(committed())) - length, "OffsetCommit"),
        (length, 1, "restart"),
    ]


def test_a_fetch_of_something_else_is_a_contradiction() -> None:
    model = committed()
    model.fetch("m1", 1, F1)
    step = model.states[-1]["step"]
    model.states[-1] = model.states[-1].set("step", step.set("offset", 8))
    with pytest.raises(ConformError, match="the offset 7 is committed, but 8 is fetched"):
        steps(model)


def test_defaults_may_be_left_out_of_the_answers_but_nothing_else() -> None:
    model = committed()
    model.fetch("m1", 1, F1)
    model.fetch("m1", 1, F0)
    *_, commit, fetch, nothing = steps(model)
    topic = {"topicId": wire.topic_id("foo")}
    short: Json = {"topics": [{**topic, "partitions": [{"partitionIndex": 1}]}]}
    assert not differences(commit.expected, commit.expected._replace(body=short))
    for step, index, offset in ((fetch, 1, 7), (nothing, 0, -1)):
        partition = {"partitionIndex": index, "committedOffset": offset}
        short = {"groups": [{"groupId": "g", "topics": [{**topic, "partitions": [partition]}]}]}
        assert not differences(step.expected, step.expected._replace(body=short))
        del partition["committedOffset"]
        assert differences(step.expected, step.expected._replace(body=short))


def test_tombstones_of_offsets_come_in_any_order() -> None:
    model = committed()
    model.commit("m1", 1, F0, 5)
    model.change_topic("DeleteTopic", "foo", -1)
    good = steps(model)[-1].expected
    swapped = [
        {**good.records[0], "key": good.records[1]["key"]},
        {**good.records[1], "key": good.records[0]["key"]},
        *good.records[2:],
    ]
    assert [record["key"]["type"] for record in swapped[:3]].count("OffsetCommit") == 2
    assert not differences(good, good._replace(records=swapped))
    assert differences(good, good._replace(records=[swapped[0], swapped[0], *swapped[2:]]))
