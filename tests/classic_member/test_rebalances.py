"""Groups of eager and cooperative members beside a coordinator: the moving partitions, the staying ones, and
upgrades under schedules of failures (C3, C4)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rebalance_world import World

from coordinator.members.consumer import MemberError


def owned(world: World) -> dict[str, int]:
    return {name: len(consumer.member.owned) for name, consumer in world.consumers.items()}


def stable(**configs: str) -> World:
    """A group whose members are all up and at rest."""
    world = World(configs)
    for name in configs:
        world.start(name)
    world.settle()
    world.heard.taken()
    return world


@pytest.mark.parametrize(
    ("config", "generations", "kept"), [("new", 2, {"a": 2, "b": 0}), ("old", 1, {"a": 0, "b": 0})]
)
def test_document_example_a_member_joins(config: str, generations: int, kept: dict[str, int]) -> None:
    """KIP-429: the old member revokes the moving partitions, once, and keeps the rest all the time; this
    takes two rebalances. An eager member revokes all, and gets some again."""
    world = stable(a=config)
    group = world.coordinator.others.classic.groups["g"]
    world.configs["b"] = config
    world.start("b")
    least = {"a": 4, "b": 4}
    while not world.converged():
        for name in ("a", "b"):
            world.receive(name)
            world.send(name)
            least[name] = min(least[name], len(world.consumers[name].member.owned))
        world.advance(500)
    assert owned(world) == {"a": 2, "b": 2}
    assert least == kept
    assert world.coordinator.others.classic.groups["g"].generation == group.generation + generations


def test_only_what_moves_is_revoked() -> None:
    """A third member gets 1 of 4 partitions: no member gives up more."""
    world = stable(a="new", b="new")
    before = {name: consumer.member.owned for name, consumer in world.consumers.items()}
    world.configs["c"] = "new"
    world.start("c")
    world.settle()
    moved = sum(len(before[name] - world.consumers[name].member.owned) for name in before)
    assert owned(world)["c"] == moved == 1
    assert sorted(world.heard.taken().split()).count("revoked") == 1


def test_partitions_of_a_member_that_left_go_to_others_at_once() -> None:
    """Ready to migrate: one rebalance, and no member revokes anything."""
    world = stable(a="new", b="new")
    generation = world.coordinator.others.classic.groups["g"].generation
    world.leave("b")
    world.heard.taken()
    world.settle()
    assert owned(world) == {"a": 4}
    assert world.coordinator.others.classic.groups["g"].generation == generation + 1
    assert world.heard.taken() == "assigned"


@pytest.mark.parametrize("killed", [False, True])
def test_the_two_rolling_bounces(killed: bool) -> None:
    """No process is refused, whether processes leave or are killed, as each bounce waits for the group."""
    world = stable(a="old", b="old", c="old")
    for config in ("both", "new"):
        for name in ("a", "b", "c"):
            if not killed:
                world.leave(name)
            world.configs[name] = config
            world.start(name)
            world.settle()
    assert not world.failed
    assert sum(owned(world).values()) == 4
    group = world.coordinator.others.classic.groups["g"]
    assert group.protocol == "cooperative-sticky"


def test_a_single_bounce_is_refused_with_a_reason() -> None:
    """C4: no partition is owned twice, the others go on, and the application of the bounced process gets the
    reason."""
    world = stable(a="old", b="old")
    world.leave("b")
    world.configs["b"] = "new"
    world.start("b")
    world.settle()
    assert owned(world) == {"a": 4}
    (error,) = world.failed
    assert isinstance(error, MemberError) and error.code == 23
    assert "(cooperative-sticky)" in str(error)


def test_the_second_bounce_before_the_first_is_complete_is_refused() -> None:
    world = stable(a="old", b="old", c="old")
    for name, config in [("a", "both"), ("a", "new")]:
        world.leave(name)
        world.configs[name] = config
        world.start(name)
        world.settle()
    assert len(world.failed) == 1 and set(owned(world)) == {"b", "c"}


def refused_as(world: World, name: str, config: str) -> bool:
    """Tell if a process is refused for its assignors when it starts with that configuration now."""
    world.configs[name] = config
    world.start(name)
    world.turn(name)
    return any(isinstance(error, MemberError) and error.code == 23 for error in world.failed)


@pytest.mark.parametrize("waits", [False, True])
def test_hazard_a_killed_process_of_old(waits: bool) -> None:
    """MCUpgradeEarly: all processes have had their first bounce, but a killed old one is in the group until
    its session ends."""
    world = stable(a="old", b="old")
    world.kill("b")
    world.configs["b"] = "both"
    world.start("b")
    world.leave("a")
    world.configs["a"] = "both"
    world.start("a")
    if waits:
        world.settle()
    world.kill("a")
    assert refused_as(world, "a", "new") == (not waits)


@pytest.mark.parametrize("fails", [False, True])
def test_hazard_a_new_coordinator_knows_one_assignor_of_each(fails: bool) -> None:
    """MCUpgradeFailOver: the log has no more; so where only bounced processes are in the group, one that is
    not bounced yet is refused until they rejoin."""
    world = stable(a="both")
    if fails:
        world.fail_over()
    assert refused_as(world, "b", "old") == fails


EVENTS = ["send", "receive", "turn", "lose", "kill", "leave", "bounce", "fail over", "time", "much time"]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.sampled_from(["old", "both", "new"]),
    st.lists(st.tuples(st.sampled_from(EVENTS), st.sampled_from("abc")), max_size=60),
)
def test_any_schedule_of_bounces_and_failures(config: str, schedule: list[tuple[str, str]]) -> None:
    """C4: no double ownership after any event, with any bounces; a failed process was refused for its
    assignors; and with one configuration for all the rebalances end (C3)."""
    world = World(dict.fromkeys("abc", config))
    for name in "abc":
        world.start(name)
    for event, name in schedule:
        happens(world, event, name)
    for error in world.failed:
        assert isinstance(error, MemberError) and error.code == 23
    last = max(world.configs.values(), key=["old", "both", "new"].index)
    for name in "abc":
        if world.configs[name] != last or name not in world.consumers:
            world.consumers.pop(name, None)
            world.configs[name] = last
    world.advance(60_000)
    for name in "abc":
        if name not in world.consumers:
            world.start(name)
    world.settle()
    assert sorted(owned(world).values()) == [1, 1, 2]


def happens(world: World, event: str, name: str) -> None:
    """Do one event; an event of a process that is not up does nothing."""
    if event == "fail over":
        world.fail_over()
    elif event in ("time", "much time"):
        world.advance(1_000 if event == "time" else 12_000)
    elif name not in world.consumers:
        world.start(name)
    elif event == "bounce":
        world.leave(name)
        world.configs[name] = {"old": "both"}.get(world.configs[name], "new")
        world.start(name)
    else:
        getattr(world, event)(name)
