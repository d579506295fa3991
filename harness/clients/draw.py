"""The configuration of the client and some steps, the first of which starts the client. The steps are those
of `docs/clients.md`."""

from __future__ import annotations

from random import Random
from typing import Final

from harness.clients.timeline import Setup
from harness.targets.base import Json

TOPICS: Final = {"foo": 3, "bar": 2}
_SUBSCRIPTIONS: Final = (["foo"], ["bar"], ["bar", "foo"])
_WEIGHTS: Final = {
    "wait": 10,
    "release": 10,
    "ghost": 6,
    "refuse": 4,
    "lose": 3,
    "remove": 2,
    "hold": 2,
    "consume": 4,
    "commit": 3,
    "stale": 2,
    "subscribe": 2,
    "grow": 1,
    "crash": 1,
    "unreleased": 1,
}
REFUSALS: Final = (14, 15, 16, 16, 25, 110, 110)


def draw(seed: int) -> tuple[Setup, list[Json]]:
    """The configuration of the client and some steps, the first of which starts the client. The steps are
    those of `docs/clients.md`."""
    random = Random(f"client {seed}")
    setup = Setup(
        instance=random.choice((None, None, "i")),
        auto_commit=random.random() < 0.5,
    )
    steps: list[Json] = [{"do": "start", "topics": random.choice(_SUBSCRIPTIONS)}]
    if random.random() < 0.7:
        steps += [{"do": "wait", "ms": 300}, {"do": "release"}, {"do": "wait", "ms": 1_000}]
    for _ in range(random.randint(3, 15)):
        step = _step(random, setup)
        if step["do"] == "stale":
            steps += [step, {"do": "consume"}, {"do": "commit"}]
        elif step["do"] == "commit":
            steps += [{"do": "consume"}, step]
        else:
            steps.append(step)
    if random.random() < 0.3:
        steps.append({"do": "close"})
    return setup, steps


def _step(random: Random, setup: Setup) -> Json:
    kind = random.choices(list(_WEIGHTS), list(_WEIGHTS.values()))[0]
    if kind == "unreleased" and setup.instance is None:
        kind = "wait"
    match kind:
        case "wait":
            return {"do": "wait", "ms": random.choice((10, 300, 1_000, 2_500))}
        case "ghost":
            return {"do": "ghost", "who": random.choice(("G1", "G2"))}
        case "refuse":
            return {
                "do": "refuse",
                "error": random.choice(REFUSALS),
                "times": random.choice((1, 1, 1, 4)),
            }
        case "lose":
            return {"do": "lose", "what": random.choice(("request", "answer"))}
        case "hold":
            return {"do": "hold", "ms": random.choice((200, 700))}
        case "subscribe":
            return {"do": "subscribe", "topics": random.choice(_SUBSCRIPTIONS)}
        case "crash":
            return {"do": "crash"}
    return {"do": kind}
