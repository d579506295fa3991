"""The parts of the sources that the wheel is built from."""

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
