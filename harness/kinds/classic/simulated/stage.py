"""The stage of classic groups."""

from __future__ import annotations

from typing import Final

from harness.kinds.classic.simulated.draw import Draw, drawn_settings
from harness.kinds.classic.simulated.parts import CONFIGURATIONS
from harness.kinds.classic.simulated.settle import settle
from harness.kinds.classic.simulated.world import EVENTS, World
from harness.simulate.groups.parts import shown
from harness.simulate.stage import HOW, Stage
from harness.targets.base import Json


def snapshot(world: World) -> dict[str, Json]:
    """Each group as `describe` of the line protocol has it, with its processes."""
    return {
        name: {
            **(world.cluster.describe(name) if world.cluster.group(name) is not None else {}),
            "processes": [
                {
                    "memberId": process.name,
                    "state": process.state,
                    "generation": process.machine.generation,
                    "owned": shown(process.machine.owned),
                }
                for _, process in sorted(world.processes.items())
                if process.consumer.group == name
            ],
        }
        for name in world.settings.groups
    }


CHOICES: Final = {"how": HOW, "configuration": tuple(CONFIGURATIONS)}
STAGE: Final = Stage(EVENTS, drawn_settings, World, Draw, settle, snapshot, ("exemption",), CHOICES)
