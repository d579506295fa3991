"""Helpers of the tests of servers and of `conform validate`, used here, too."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[1] / name) for name in ("serve", "validate")]
