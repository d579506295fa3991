"""Systematic mutants of the coordinator and of the specification (`conform mutate`)."""
