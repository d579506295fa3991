"""The languages of scenarios of other groups than consumer groups, by the word that follows `protocol:`."""

from __future__ import annotations

from typing import Final

from harness.kinds.classic.scenario import CLASSIC
from harness.kinds.connect.scenario import CONNECT
from harness.kinds.features.computing_scenario import CLIENT
from harness.kinds.migration.scenario import MIGRATION

LANGUAGES: Final = {language.name: language for language in (CLASSIC, CONNECT, CLIENT, MIGRATION)}
