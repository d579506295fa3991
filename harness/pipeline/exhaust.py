"""From a model, files and a target to one result: all stages of a run, with the counts that show that nothing
was lost."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from harness.engines.base import Limits, Model, Progress, silent
from harness.engines.tlc import VERSION
from harness.engines.tlc_config import read_config
from harness.errors import ENGINE_FAILED, ConformError
from harness.itf import Trace, trace_from_json, trace_to_text
from harness.pipeline import inputs, paths, results, sources, tables
from harness.pipeline.judging import FAIL, LEFT_OUT, NOT_JUDGED, TARGET_FAILED, check_target
from harness.pipeline.page import write_page
from harness.pipeline.publish import PUBLISHED, check_session, publish
from harness.pipeline.run import Run, struct
from harness.pipeline.session import Cluster, spark_session
from harness.pipeline.store import Store
from harness.pipeline.ticking import ticking
from harness.pipeline.verdicts import Tested, begun, finished, judge_by_path, judge_steps
from harness.replay.files import ENABLED
from harness.spechash import spec_hash
from harness.waivers import Waivers

_EXAMPLES: Final = 20
"""The number of findings with a trace."""


@dataclass(frozen=True)
class Job:
    """The work to judge: a model's state graph, tours of a closed model, files; and the target.

    `tables` is a place that Spark knows, to which the published tables are written, too, in a `format`.
    """

    target: str
    dialect: str
    output: str
    model: Model | None = None
    tour: Model | None = None
    files: Sequence[str] = ()
    page: bool = False
    cluster: Cluster = field(default_factory=Cluster)
    waivers: Waivers = field(default_factory=Waivers)
    tables: str = ""
    format: str = "parquet"


@dataclass
class Exhausted:
    """The result. `transitions` of the state graph were judged; `steps` are the distinct ones among them (a
    model with more variables than the coordinator's has the same step in several states) and `inputs` the
    distinct pairs of a state and an input; `of_clients` are the others, which do not reach the coordinator;
    `trace_steps` are those of traces, of which `tours` are tours. The verdicts of `earlier` steps are those
    of an earlier run on the same program, or of this run before it was killed. `left_out` has for each
    feature that the target lacks the number of further steps that need it, which were not done. `failed`
    steps have differences, `waived` ones only those that `waivers` accept, of which some may be wrong
    themselves (`waiver_problems`); in `target_failed` of the steps that were `not_judged` the target died or
    gave no answer. `unobserved` parts were not compared. `loads` has the states that were not there after
    `load`, and `first_not_judged` the reason why a step was not judged (`results`). `digests` are sums
    of the tables' contents, in any order."""

    target: str
    dialect: str
    spec_hash: str = ""
    states: int = 0
    transitions: int = 0
    steps: int = 0
    inputs: int = 0
    of_clients: int = 0
    by_path: int = 0
    traces: int = 0
    tours: int = 0
    trace_steps: int = 0
    earlier: int = 0
    failed: int = 0
    waived: int = 0
    not_judged: int = 0
    target_failed: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    quarantined: int = 0
    loads: dict[str, dict[str, Any]] = field(default_factory=dict)
    first_not_judged: dict[str, Any] | None = None
    unobserved: Sequence[str] = ()
    waivers: list[dict[str, Any]] = field(default_factory=list)
    waiver_problems: list[str] = field(default_factory=list)
    findings: list[dict[str, Any]] = field(default_factory=list)
    coverage: list[dict[str, Any]] = field(default_factory=list)
    page: str = ""
    tables: list[str] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    timings: list[dict[str, Any]] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Tell if everything that was read was judged and holds, or is accepted by a waiver, and no state was
        loaded wrongly."""
        wrong = self.failed or self.not_judged or self.quarantined or self.waiver_problems
        return not wrong and "wrong" not in self.loads and self.steps + self.trace_steps > 0

    def to_json(self) -> dict[str, Any]:
        """The result for `--json`."""
        return {**asdict(self), "differences": self.failed, "holds": self.holds}


def exhaust(job: Job, limits: Limits, log: Path, progress: Progress = silent) -> Exhausted:
    """Run all stages. `log` is a folder for the output of TLC and Spark.

    ConformError: exit 2 for missing inputs, and where another run writes to the output; 3 if an engine, Spark
    or the target fails, or if the counts of inputs and outputs do not add up.
    """
    with ticking(progress) as ticks:
        ticks(f"starting {job.target}")
        hidden = check_target(job.target, job.dialect)
        store = Store(job.output)  # a target that cannot be judged leaves nothing behind
        ticks("starting Spark")
        begin = time.perf_counter()
        session = spark_session(job.cluster, log / "spark.log")
        with store.locked(), session as spark, ticks.following(spark):
            started = {"stage": "spark", "unit": "start", "rows": 0, "seconds": time.perf_counter() - begin}
            if job.tables:
                check_session(spark, job.format)
            tested = begun(store, job.target, job.dialect)
            stages = _Stages(job, Run(spark, store, ticks, [started]), tested, hidden, begin)
            try:
                result = stages.all(limits, log)
            except ConformError:  # a run that ends with a sentence is not one that was killed
                finished(store)
                raise
            finished(store)
            return result


@dataclass
class _Stages:
    job: Job
    run: Run
    tested: Tested
    hidden: Sequence[str] = ()
    begin: float = field(default_factory=time.perf_counter)
    origins: dict[str, bool] = field(default_factory=dict)

    def all(self, limits: Limits, log: Path) -> Exhausted:
        result = Exhausted(self.job.target, self.job.dialect, unobserved=self.hidden)
        self._graph(result, limits, log)
        self._traces(result, limits, log)
        verdicts = self._verdicts()
        with self.run.part("summary/counts"):
            self._count(result, verdicts)
        self._conclude(result, verdicts)
        return result

    def _graph(self, result: Exhausted, limits: Limits, log: Path) -> None:
        dumps = [file for file in self.job.files if sources.kind_of(file) == "dump"]
        if self.job.model and dumps:
            raise ConformError("A model and a dump are two state graphs: judge them in two runs.")
        if self.job.model:
            result.spec_hash = spec_hash(self.job.model.module, self.job.model.configuration)
            depends, counts = inputs.read_model(self.run, self.job.model, limits, log / "dump.log")
        elif dumps:
            depends, counts = inputs.read_dumps(self.run, dumps)
        else:
            return
        _same(
            counts["lines"],
            counts["state"] + counts["step"] + counts["edge"] + counts["other"] + counts["bad"],
            "lines of the dump",
        )
        if self.job.model:
            _same(counts["distinct"], counts["state"] + counts["step"], "states that TLC found")
        if not counts["problems"]:
            _same(counts["state"], counts["states"], "states of the state graph")
        _same(counts["transitions"], counts["rows"], "transitions of the state graph")
        _same(counts["rows"], counts["steps"] + counts["problems"] + counts["no_call"], "rows of steps")
        self.origins["graph"] = True
        result.states, result.inputs = counts["sources"], counts["inputs"]
        result.of_clients = counts["no_call"]
        result.earlier += judge_steps(self.run, self.tested, "graph", depends, counts["steps"])
        result.by_path = judge_by_path(self.run, self.tested, depends, self._constants())
        verdicts = self.run.read("verdicts", "graph").count()
        _same(counts["steps"], verdicts, "steps of the state graph")
        result.steps, result.transitions = counts["distinct_steps"], verdicts

    def _traces(self, result: Exhausted, limits: Limits, log: Path) -> None:
        given = [file for file in self.job.files if sources.kind_of(file) != "dump"]
        files = [file for file in given if not sources.by_spark(file)]
        by_spark = sources.spark_files(self.run.spark, [one for one in given if sources.by_spark(one)])
        if not given and not self.job.tour:
            return
        toured = ""
        if self.job.tour:
            self.run.progress(f"touring {self.job.tour.name}")
            toured, made = inputs.make_tours(self.run, self.job.tour, limits, log / "tour.log")
            result.tours = made["tours"]
        depends, counts = inputs.read_traces(self.run, files, by_spark, toured)
        if by_spark:
            inputs.check_dialects(self.run, self.job.dialect)
        _same(len(files) + len(by_spark) + result.tours, counts["files"], "files and tours")
        _same(counts["expected"], counts["rows"], "steps of the traces")
        _same(counts["rows"], counts["steps"] + counts["problems"] + counts["no_call"], "rows of steps")
        self.origins["traces"] = True
        result.traces = counts["traces"]
        result.earlier += judge_steps(self.run, self.tested, "traces", depends, counts["steps"])
        result.trace_steps = self.run.read("verdicts", "traces").count()
        _same(counts["steps"], result.trace_steps, "steps of traces")

    def _verdicts(self) -> DataFrame:
        """All verdicts: those by path in place of those that could not be judged at once."""
        if not self.origins:
            raise ConformError("There is nothing to judge: name a model or give files with --input.")
        columns = tables.VERDICTS.names
        frames = [self.run.read("verdicts", origin).select(columns) for origin in self.origins]
        # a folder may have the verdicts of an earlier run of a model
        if "graph" in self.origins and self.run.store.has("verdicts", "paths"):
            by_path = self.run.read("verdicts", "paths").select(columns)
            frames = [
                frame.join(by_path.select("step", "trace"), ["step", "trace"], "left_anti").select(columns)
                for frame in frames
            ]
            frames.append(by_path)
        union = frames[0]
        for frame in frames[1:]:
            union = union.unionByName(frame)
        return union

    def _count(self, result: Exhausted, verdicts: DataFrame) -> None:
        lacking = F.count_if(F.size("not_loaded") > 0).alias("lacking")
        other = (F.col("target") != self.job.target) | (F.col("dialect") != self.job.dialect)
        counts = [F.count("*").alias("steps"), lacking, F.count_if(other).alias("others")]
        rows = verdicts.groupBy("verdict").agg(*counts).collect()
        if any(row["others"] for row in rows):
            raise ConformError(
                f"The table verdicts in {self.job.output} has steps of another target or dialect: remove the "
                "folder and run again.",
                ENGINE_FAILED,
            )
        by_verdict = {row["verdict"]: row["steps"] for row in rows}
        _same(result.transitions + result.trace_steps, sum(by_verdict.values()), "verdicts")
        result.failed, result.target_failed = by_verdict.get(FAIL, 0), by_verdict.get(TARGET_FAILED, 0)
        result.not_judged = by_verdict.get(NOT_JUDGED, 0) + result.target_failed
        if by_verdict.get(LEFT_OUT):
            self._leave_out(result, verdicts)
        if any(row["lacking"] for row in rows):
            result.loads = results.not_loaded(verdicts)
        if result.not_judged:
            result.first_not_judged = results.first_not_judged(verdicts)

    def _leave_out(self, result: Exhausted, verdicts: DataFrame) -> None:
        """Count steps that need features that the target lacks, and take them out of the result's claim."""
        result.left_out, kept = results.left_out(verdicts), results.kept(verdicts)
        of_traces = sum(result.left_out.values()) - (result.transitions - kept["transitions"])
        result.trace_steps -= of_traces
        result.transitions, result.steps = kept["transitions"], kept["steps"]
        result.inputs, result.states = kept["inputs"], kept["states"]

    def _conclude(self, result: Exhausted, verdicts: DataFrame) -> None:
        """Write the tables with the sums."""
        run = self.run
        run.progress("summing up")
        with run.part("summary/quarantine"):
            bad = results.quarantine(run, self.origins)
            bad.write.mode("overwrite").parquet(run.store.table("quarantine"))
            result.quarantined = run.read("quarantine").count()
        run.progress("gathering the findings")
        with run.part("summary/findings"):
            self._findings(result, verdicts)
            for name, rows in (("coverage", result.coverage), ("findings", result.findings)):
                schema = tables.TABLES[name]
                frame = run.spark.createDataFrame(_columns(rows, schema), struct(schema))
                frame.coalesce(1).write.mode("overwrite").parquet(run.store.table(name))
        if self.job.page and "graph" in self.origins:
            run.progress("drawing the state graph")
            with run.part("summary/page"):
                name = self.job.model.name if self.job.model else "state graph"
                result.page = write_page(run, name, verdicts)
        run.progress("writing the traces of the findings")
        with run.part("summary/examples"):
            run.store.remove("examples")
            _examples(run, result.findings[:_EXAMPLES], self._meta(result))
        run.progress("digests of the tables")
        with run.part("summary/digests"):
            result.digests = {name: digest(frame) for name, frame in self._contents(verdicts)}
        if self.job.tables:
            run.progress("writing the tables")
            with run.part("summary/tables"):
                frames = {name: verdicts if name == "verdicts" else run.read(name) for name in PUBLISHED}
                result.tables = publish(frames, self.job.tables, self.job.format)
        run.note("summary/rest", time.perf_counter() - self.begin - run.seconds())
        result.timings = run.timings
        timed = run.spark.createDataFrame(run.timings or [], struct(tables.TIMINGS))
        timed.coalesce(1).write.mode("append").parquet(run.store.table("timings"))

    def _findings(self, result: Exhausted, verdicts: DataFrame) -> None:
        """Differences, and the accepted ones among them; the table `verdicts` has all of them."""
        waivers = self.job.waivers
        findings = results.findings(verdicts) if result.failed else []
        result.findings, waived = results.waive(findings, waivers)
        result.waived = waived.total()
        result.failed -= result.waived
        result.coverage = results.coverage(verdicts, waived)
        result.waivers, result.waiver_problems = waivers.to_json("steps"), list(waivers.problems())

    def _meta(self, result: Exhausted) -> dict[str, Any]:
        """The origin of an example of the state graph, and the constants that a replay must know."""
        model = self.job.model
        if model is None:
            return {"engine": "tlc"}
        constants = self._constants()
        known = {"model": model.name, "engine": "tlc", "version": VERSION, "spec_hash": result.spec_hash}
        return {**known, **({"constants": constants} if constants else {})}

    def _constants(self) -> dict[str, Any]:
        return read_config(self.job.model.configuration).constants() if self.job.model else {}

    def _contents(self, verdicts: DataFrame) -> list[tuple[str, DataFrame]]:
        """The tables that are the same in every run of the same inputs."""
        run = self.run
        known = [
            ("verdicts", verdicts.drop("part")),
            *((name, run.read(name)) for name in ("coverage", "findings", "quarantine")),
        ]
        known += [(f"steps/{origin}", run.read("steps", origin).drop("part")) for origin in self.origins]
        if "graph" in self.origins:
            known.append(("states", run.read("states")))
        if "traces" in self.origins:
            known.append(("traces", run.read("traces")))
        return known


def _columns(rows: list[dict[str, Any]], schema: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.get(name) for name in schema.names) for row in rows]


def digest(frame: DataFrame) -> str:
    """Rows and a sum of their hashes: equal for the same rows in any order and any number of files."""
    hashed = F.sum(F.xxhash64(*sorted(frame.columns)).cast("decimal(38,0)")).alias("sum")
    row = frame.agg(F.count("*").alias("rows"), hashed).collect()[0]
    return f"{row['rows']}:{row['sum'] or 0}"


def _same(expected: int, counted: int, what: str) -> None:
    if expected != counted:
        raise ConformError(
            f"The {what} do not add up: {expected:,} went in, {counted:,} came out. Remove the output folder "
            "and run again; if it stays so, it is a defect of the pipeline.",
            ENGINE_FAILED,
        )


def _examples(run: Run, findings: Sequence[Mapping[str, Any]], meta: Mapping[str, Any]) -> None:
    """A trace of each finding: the shortest way to it, in `examples/`, with the actions that were enabled on
    the way."""
    if not findings:
        return
    steps = [one["step"] for one in findings if not one["trace"]]
    ways = paths.ways_to(run, steps)
    for one in findings:
        if one["trace"]:
            row = run.read("traces").where(F.col("trace") == one["trace"]).select("itf").collect()[0]
            trace = trace_from_json(json.loads(row["itf"]), "The trace")
            cut = Trace(
                trace.meta,
                trace.variables,
                trace.states[: one["index"] + 1],
                trace.actions[: one["index"] + 1],
            )
        else:
            described = {"description": f"Finding {one['finding']}", **meta}
            cut = paths.trace_to(ways.texts, ways.keys[one["step"]], ways.after[one["step"]], described)
        run.store.write(f"examples/{one['finding']}.itf.json", trace_to_text(cut))
    possible = paths.enabled(run, ways.texts) if steps else {}
    for one in findings:
        if path := ways.keys.get(one["step"]):
            wanted = {str(number): possible.get(key, []) for number, key in enumerate(path, start=1)}
            run.store.write(f"examples/{one['finding']}{ENABLED}", tables.text(wanted) + "\n")
