"""Benchmarks at scale: each case in a process of its own, so that memory is the case's."""
