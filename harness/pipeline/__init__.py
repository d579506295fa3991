"""Traces and state graphs in, verdicts and coverage out, on Spark: one machine or a cluster, the same code.

    sources -> traces, graph -> steps, states -> verdicts -> coverage, findings

Each arrow is a stage (`harness.pipeline.run`), each name a table in Parquet (`harness.pipeline.tables`). What
a row means does not depend on how many processes computed it. `conform exhaust` is the command.
"""
