"""Modules that talk to brokers are imported only when such a target is opened, and only where the map allows
it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from harness.cli.main import VERBS

HARNESS = Path(__file__).parents[2] / "harness"


def test_only_brokers_need_what_talks_to_brokers() -> None:
    users = {  # the proxy reads frames, and only its verb imports it
        path.parent.name
        for path in HARNESS.rglob("*.py")
        if re.search(r"^\s*(from|import) (kio|confluent_kafka)\b", path.read_text(), re.MULTILINE)
    }
    assert users == {"broker", "proxy"}


def test_other_targets_do_without() -> None:
    verbs = ", ".join(f"harness.cli.{verb}" for verb in VERBS)
    imports = f"import sys, {verbs}, harness.targets as t; t.open_target('python').close()"
    sentence = (
        f"{imports}; print([name for name in ('kio', 'confluent_kafka', 'jgo') if name in sys.modules])"
    )
    ended = subprocess.run([sys.executable, "-c", sentence], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
