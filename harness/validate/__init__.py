"""Validation of recorded runs: is a run of a coordinator a behaviour of the specification? (`conform
validate`)"""
