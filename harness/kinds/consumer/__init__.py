"""Consumer groups: the decoding of their traces; their states, calls and records are in `harness/replay/`."""
