"""The available model checkers, by name."""

from __future__ import annotations

from typing import Final

from harness.engines.apalache import Apalache
from harness.engines.base import Engine
from harness.engines.tlc import Tlc

ENGINES: Final[dict[str, Engine]] = {"tlc": Tlc(), "apalache": Apalache()}
