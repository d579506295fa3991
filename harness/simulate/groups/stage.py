"""The stage of consumer groups."""

from __future__ import annotations

from typing import Final

from harness.simulate.groups.draw import Draw, drawn_settings
from harness.simulate.groups.schedule import EVENTS
from harness.simulate.groups.settle import settle
from harness.simulate.groups.snapshot import snapshot
from harness.simulate.groups.world import World
from harness.simulate.stage import HOW, Stage

STAGE: Final = Stage(EVENTS, drawn_settings, World, Draw, settle, snapshot, ("r9", "exemption"), {"how": HOW})
