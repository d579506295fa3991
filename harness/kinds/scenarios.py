"""The languages of scenarios: by the word that follows `protocol:`, and that of files without it.

Files without the word are of the kind of group that every target has: the functions that read, play, judge
and write those are named here.
"""

from __future__ import annotations

from typing import Final

from harness.kinds.classic.scenario import CLASSIC
from harness.kinds.connect.scenario import CONNECT
from harness.kinds.consumer.scenario.from_ops import scenario_from_ops as scenario_from_ops
from harness.kinds.consumer.scenario.from_trace import scenario_of_trace as scenario_of_trace
from harness.kinds.consumer.scenario.judged import explain as explain
from harness.kinds.consumer.scenario.judged import out_of_step as out_of_step
from harness.kinds.consumer.scenario.load import load_scenario as load_scenario
from harness.kinds.consumer.scenario.model import Scenario as Scenario
from harness.kinds.consumer.scenario.run import DEFAULT_LIMITS as DEFAULT_LIMITS
from harness.kinds.consumer.scenario.run import Played as Played
from harness.kinds.consumer.scenario.run import play as play
from harness.kinds.consumer.scenario.write import rewritten as rewritten
from harness.kinds.consumer.scenario.write import scenario_text as scenario_text
from harness.kinds.features.computing_scenario import CLIENT
from harness.kinds.migration.scenario import MIGRATION
from harness.kinds.share.scenario import SHARE
from harness.plugins import parts

LANGUAGES: Final = {
    language.name: language
    for language in (SHARE, CLASSIC, CONNECT, CLIENT, MIGRATION, *parts("language").values())
}
