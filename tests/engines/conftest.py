"""A Ray and a Spark of this machine, each with two cores, which start once."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clusters import Cluster, corpus

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def pytest_configure(config: pytest.Config) -> None:
    # Both libraries use what they deprecate themselves.
    for category in ("DeprecationWarning", "FutureWarning"):
        for package in ("ray", "pyspark"):
            config.addinivalue_line("filterwarnings", f"ignore::{category}:{package}[.].*")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.engines)


@pytest.fixture(scope="session", autouse=True)
def worker_environment() -> Iterator[None]:
    """What workers inherit: lexmill and the helpers of these tests are imported from this tree."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(str(ROOT / name) for name in ("python", "tests/support")))
        yield


@pytest.fixture(scope="session")
def ray_cluster(worker_environment: None) -> Iterator[Cluster]:
    # The names of sockets, which are in this folder, may have a hundred bytes.
    folder = tempfile.mkdtemp(prefix="ray-")
    with pytest.MonkeyPatch.context() as patch:
        # A token of its own, which Ray otherwise writes to the home folder.
        patch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(16))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray = pytest.importorskip("ray")
        import lexmill.ray

        ray.init(
            num_cpus=2,
            object_store_memory=100_000_000,
            include_dashboard=False,
            log_to_driver=False,
            _temp_dir=folder,
        )
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # Otherwise there are two hundred tasks for a few rows.
        context.default_hash_shuffle_parallelism = 2
        yield Cluster("ray", lexmill.ray.count_words, lexmill.ray.tokenize)
        ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark_session(worker_environment: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pyspark_sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, and there is no java on the path")
    folder = tmp_path_factory.mktemp("spark")
    options = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.local.dir": str(folder / "local"),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        # Two cores, and four attempts of a task.
        builder = pyspark_sql.SparkSession.builder.master("local[2,4]").appName("lexmill")
        for name, value in options.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="session", params=["ray", "spark"])
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """One of the two; what a test states holds for both."""
    if request.param == "ray":
        return request.getfixturevalue("ray_cluster")
    session = request.getfixturevalue("spark_session")
    import lexmill.spark

    def count_words(*args: Any, **options: Any) -> Any:
        return lexmill.spark.count_words(*args, spark=session, **options)

    def tokenize(*args: Any, **options: Any) -> Any:
        return lexmill.spark.tokenize(*args, spark=session, **options)

    return Cluster("spark", count_words, tokenize)


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """Sources of several formats, plain and compressed."""
    return corpus(tmp_path_factory.mktemp("corpus"))
