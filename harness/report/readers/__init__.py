"""Readers of what the verbs write with `--json`."""
