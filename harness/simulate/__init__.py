"""Differential runs: the same random schedule of operations on two targets, compared after every step.

`generate` draws operations, `pair` does them on both targets and compares, `run` puts runs together,
`shrink` makes a schedule as short as it can be while an oracle still says that it fails, `schedule` is its
file, `report` says what was found.
"""
