"""Differential runs: the same random schedule of operations on two targets, compared after every step.

`generate` draws operations, `pair` does them on both targets and compares, `run` puts runs together, `shrink`
makes a schedule as short as an oracle allows, which decides if it still fails, `schedule` is its file,
`report` has the words for the findings.
"""
