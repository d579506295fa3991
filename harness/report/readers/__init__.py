"""Readers of the files that the verbs write with `--json`."""
