"""Traces of Connect groups: their states, calls, expected values and records."""
