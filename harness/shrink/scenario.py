"""The shortest trace as a golden scenario, where a scenario can express it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from harness.engines.base import Limits
from harness.errors import USAGE, ConformError
from harness.kinds.scenarios import load_scenario, play, scenario_of_trace, scenario_text
from harness.shrink.run import Oracle, Shrunk, Way

TEXT: Final = "KIP848"
"""The dialect of scenarios."""


def as_scenario(
    shrunk: Shrunk, file: Path, oracle: Oracle, spec: Path, limits: Limits
) -> tuple[Shrunk, str] | None:
    """A shrunk trace with the trace that spec/Golden.tla makes of its steps, and the scenario file of that
    behaviour; None if a scenario cannot express it, or the target does not fail on it in the same way.

    Scenarios are of KIP-848's text, in its configuration. ConformError (exit 3) if TLC or the target fails.
    """
    if not shrunk.scenario or shrunk.trace.meta.get("constants", {}).get("Dialect", TEXT) != TEXT:
        return None
    try:
        text = scenario_text(scenario_of_trace(shrunk.trace, file.stem, str(file)))
        played = play([load_scenario(file, text)], spec, limits)[0]
    except ConformError as error:
        if error.exit_code != USAGE:
            raise
        return None
    if not played.holds:
        return None
    wanted = Way.of(shrunk.failure, shrunk.signature)
    for failure in oracle.failures(played.trace, str(file)):
        if wanted.has(failure):
            return replace(shrunk, trace=played.trace, failure=failure), text
    return None
