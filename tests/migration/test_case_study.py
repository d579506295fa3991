"""KIP-848's case study of online migration on the coordinator, state by state as printed, corrected where the
text contradicts itself (M1, M2, M3); there the printed state does not come."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from mixed_driver import FOO, MixedDriver, assigned, numbers, subscribed

from harness.itf import read_trace

ROOT = Path(__file__).parents[2]
STUDY = Path(__file__).parent / "studies" / "online-migration.yaml"
Shown = dict[str, tuple[int, set[int]]]


def started(text: dict[str, Any]) -> MixedDriver:
    """The classic group at the start of the study, loaded from its record."""
    driver = MixedDriver(text["partitions"])
    first = text["first"]
    members = [
        {
            "memberId": name,
            "groupInstanceId": name.lower() if name in first["static"] else None,
            "clientId": name,
            "clientHost": "/h",
            "rebalanceTimeout": 60_000,
            "sessionTimeout": 10_000,
            "subscription": subscribed(),
            "assignment": assigned(owned),
        }
        for name, owned in first["members"].items()
    ]
    value = {"protocolType": "consumer", "generation": first["generation"], "protocol": "range"}
    value |= {"leader": "A", "currentStateTimestamp": 0, "members": members}
    record = {"offset": 0, "key": {"type": "GroupMetadata", "group": "g"}, "value": value}
    topics = [{"name": "foo", "id": FOO, "partitions": text["partitions"]}]
    driver.coordinator.load([record], topics, {})
    return driver


def do(driver: MixedDriver, step: dict[str, Any], static: list[str]) -> None:
    if "assignor" in step:
        driver.target(**step["assignor"])
    if "upgrade" in step:
        name = step["upgrade"]
        driver.upgraded(name, **({"instanceId": name.lower()} if name in static else {}))
    elif "leave" in step:
        assert driver.leave(step["leave"])["members"][0]["errorCode"] == 0
    elif "told to rejoin" in step:
        name = step["told to rejoin"]
        assert driver.beat(name, driver.epoch(name)) == 27
    elif "join" in step:
        name = step["join"]
        assert driver.joined(name, step["owns"], driver.epoch(name)) == step["generation"]
    elif "sync" in step:
        assert driver.synced(step["sync"], driver.epoch(step["sync"])) == set(step["gets"])
    else:
        name = step["heartbeat"]
        answer = driver.heartbeat(name, driver.epoch(name), step["owns"])
        if "told" in step:
            assert numbers(answer["assignment"]["assignedTopicPartitions"]) == set(step["told"])


def shown(driver: MixedDriver) -> Shown:
    """Each member's epoch and partitions: its held ones; after it has converged, those of its target that are
    free."""
    held = {one["memberId"]: driver.held(one["memberId"]) for one in driver.group["members"]}
    results: Shown = {}
    for one in driver.group["members"]:
        name = one["memberId"]
        others = set().union(*(owned for other, owned in held.items() if other != name))
        converged = one["memberEpoch"] == driver.group["assignmentEpoch"] and not one["pendingRevocation"]
        results[name] = one["memberEpoch"], numbers(one["target"]) - others if converged else held[name]
    return results


def printed(members: dict[str, list[Any]]) -> Shown:
    return {name: (epoch, set(owned)) for name, (epoch, owned) in members.items()}


def test_the_case_study_goes_as_printed() -> None:
    text = yaml.safe_load(STUDY.read_text())
    driver = started(text)
    corrected = 0
    for step in text["steps"]:
        do(driver, step, text["first"]["static"])
        group = driver.group
        target = {one["memberId"]: numbers(one["target"]) for one in group["members"]}
        assert (group["groupEpoch"], group["assignmentEpoch"]) == (step["epoch"], step["epoch"]), step
        assert target == {name: set(owned) for name, owned in step["target"].items()}, step
        assert shown(driver) == printed(step["members"]), step
        assert driver.phases() == step["classic"], step
        if "uncorrected" in step:
            corrected += 1
            assert shown(driver) != printed(step["uncorrected"])
    assert driver.group["state"] == "Stable"
    assert corrected


def test_g7_tlc_plays_the_case_study() -> None:
    """TLC gives the epochs and targets of the case study, step by step, in the trace of the model that has
    the printed states."""
    text = yaml.safe_load(STUDY.read_text())
    (file,) = (ROOT / "traces" / "migration").glob("MCOnlineMigration-*.itf.json")
    states: list[Any] = read_trace(file).states[1:]
    assert len(states) == len(text["steps"])
    for state, step in zip(states, text["steps"], strict=True):
        group = state["consumer"]
        target: dict[str, set[int]] = {}
        for (_, number), member in group["target"].items():
            target.setdefault(member.upper(), set()).add(number)
        assert target == {name: set(owned) for name, owned in step["target"].items()}, step
        epochs = {name.upper(): one["epoch"] for name, one in group["members"].items() if one["epoch"] >= 0}
        assert epochs == {name: epoch for name, (epoch, _) in step["members"].items()}, step
        assert (group["epoch"], group["assignmentEpoch"]) == (step["epoch"], step["epoch"]), step
