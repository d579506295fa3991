"""Scenarios of consumer groups: files to TLA+ modules, traces and back."""
