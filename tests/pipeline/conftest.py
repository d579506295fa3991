"""One Spark session for all tests of the pipeline, and the runs that several of them use."""

from __future__ import annotations

import fcntl
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pipeline_runs import LIMITS, MUTANT, SPEC, TRACE, Ran, mutated, run, tiny
from quick_java import make_archive

from harness.engines.base import Model
from harness.generate import dump_graph
from harness.pipeline.session import Cluster, spark_session
from harness.stategraph import merge_by_hidden
from harness.transitions import dump


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all tests of this folder, which need Spark: `make test-sparks`."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.sparks)


SMALL: Final = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.sources.partitionOverwriteMode": "static",
}
"""Settings for a hundred rows: else Spark compiles a program for each query, which takes half of all time.
Runs in processes of their own have Spark's own settings, and the same tables."""


@pytest.fixture(scope="package", autouse=True)
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The session that `exhaust` uses while it exists. Like the session of a user it overwrites whole tables,
    where the pipeline does not keep parts of them."""
    log = tmp_path_factory.mktemp("spark") / "spark.log"
    with spark_session(Cluster("local[2]", settings=SMALL), log) as session:
        lock = common_folder(tmp_path_factory) / "archive.lock"
        make_archive(session, lock, lambda: run(log.parent / "out", files=[TRACE]))
        yield


def common_folder(factory: pytest.TempPathFactory) -> Path:
    """The folder of all workers."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def shared(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Ran]) -> Ran:
    """A run that one worker does in a folder, and all use; none changes the folder."""
    place = common_folder(factory) / name
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (done := place.with_suffix(".pickle")).is_file():
            done.write_bytes(pickle.dumps(make(place)))
        ran: Ran = pickle.loads(done.read_bytes())
    return ran


@pytest.fixture(scope="package")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """MCTour on the coordinator."""
    model = Model("MCTour", SPEC / "MCTour.tla", SPEC / "MCTour.cfg")
    return shared(tmp_path_factory, "tour", lambda place: run(place, model=model))


@pytest.fixture(scope="package")
def buggy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A coordinator with a seeded bug, behind the line protocol."""
    return mutated(tmp_path_factory.mktemp("mutant"), MUTANT)


@pytest.fixture(scope="package")
def differing(tour: Ran, buggy: str, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """MCTour on the coordinator with the bug, over a copy of the tables of the other run."""

    def make(place: Path) -> Ran:
        shutil.copytree(tour.place, place)
        return run(place, model=tour.model, target=buggy, page=True)

    return shared(tmp_path_factory, "differing", make)


@pytest.fixture(scope="package")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A model with 748 transitions."""
    return tiny(tmp_path_factory.mktemp("tiny"))


@pytest.fixture(scope="package")
def dot(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The state graph of the model, as TLC dumps it for the pipeline."""
    folder = tmp_path_factory.mktemp("dot")
    dump(model, folder / "tiny.dot", limits=LIMITS, log=folder / "dump.log")
    return folder / "tiny.dot"


@pytest.fixture(scope="package")
def tiny_run(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """The small model and a trace on the coordinator."""
    return run(tmp_path_factory.mktemp("tiny-run") / "out", model=model, files=[TRACE])


@pytest.fixture(scope="package")
def graph(tour: Ran, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The state graph of MCTour by the other way: TLC's dump without a view, whose nodes have the last step,
    read by one process."""
    assert tour.model is not None
    log = tmp_path_factory.mktemp("graph") / "tlc.log"
    return merge_by_hidden(dump_graph(tour.model, limits=LIMITS, log=log), "step")
