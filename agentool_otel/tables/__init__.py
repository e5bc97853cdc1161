"""Columnar tables of spans, trajectories and results, for Parquet, Arrow and Spark.

Extra: `arrow`. Modules here import pyarrow; `require` first, which names the extra where it is
missing.

    json_cells     values of any shape as JSON in a cell, without loss
    spans          a row per span
    trajectories   a row per step
    runs           a row per run
    results        a row per assertion
    parquet_file   Parquet files of these tables

Every schema has its name and version in its metadata under `agentool_table`. A change that an
old reader would misread raises the version; a new column does not.
"""

from __future__ import annotations

from agentool_otel.ground.optional import library

__all__ = ["TABLE", "require"]

TABLE = b"agentool_table"
"""Key of the metadata of a schema that has the name and version of the table."""


def require(purpose: str) -> None:
    """Import pyarrow.

    Args:
        purpose: what needs it, at the beginning of a sentence.

    Raises:
        MissingDependencyError: it is not installed.
    """
    library("pyarrow", purpose, extra="arrow")
