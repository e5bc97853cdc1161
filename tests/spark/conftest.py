"""A session of Spark on this machine, where there are pyspark and Java."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark_is_there() -> None:
    """Skip where Spark cannot run."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: .ci/nightly spark installs it")
    if shutil.which("java") is None:
        pytest.skip("there is no Java, which Spark runs on")


@pytest.fixture(scope="session")
def spark(spark_is_there: None) -> Iterator[SparkSession]:
    from agentool_otel.spark.session import spark_session

    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("PYSPARK_SUBMIT_ARGS", "--master local[2] pyspark-shell")
        with spark_session("the tests") as session:
            session.conf.set("spark.sql.shuffle.partitions", "3")
            yield session
