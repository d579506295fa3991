"""The parts of the sources in the wheel."""

PARTS = (
    "harness",
    "coordinator",
    "spec",
    "traces",
    "pyproject.toml",
    "setup.py",
    "MANIFEST.in",
    "README.md",
    "LICENSE",
)
