"""What pyproject.toml cannot say: a wheel carries the specification and the traces (harness/kit.py)."""

import os
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
CARRIED = {"spec": Path(os.environ.get("CONFORM_SPEC", ROOT / "spec")), "traces": ROOT / "traces"}
"""`make wheel` names a specification that has evidence of every model."""

NOT_CARRIED = shutil.ignore_patterns("tmp", "states", "_apalache-out")
"""What engines leave in the folder of a specification."""


class BuildWithTraces(build_py):
    """Copies both into the package as it is built; an editable install finds them in the checkout.

    What an earlier build left is removed first: modules that are no more would be in the wheel.
    """

    def run(self) -> None:
        if self.editable_mode:
            super().run()
            return
        harness = Path(self.build_lib) / "harness"
        for package in (harness, harness.with_name("coordinator")):
            shutil.rmtree(package, ignore_errors=True)
        super().run()
        for name, folder in CARRIED.items():
            shutil.copytree(folder, harness / "carried" / name, ignore=NOT_CARRIED)


setup(cmdclass={"build_py": BuildWithTraces})
