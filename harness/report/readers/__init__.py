"""What the verbs write with `--json`, a reader each."""
