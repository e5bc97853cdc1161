"""JSON Schema, through the library of the extra `eval`, within a time limit. Nothing is fetched: a
`$ref` to another document is an error."""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from agentool_otel.evaluation.time_limit import TimeLimit, schema_fault
from agentool_otel.evaluation.time_limit import violation as violation_in_time
from agentool_otel.ground import json_codec
from agentool_otel.ground.optional import library

__all__ = ["check_schema", "violation"]


def check_schema(schema: dict[str, Any], name: str) -> None:
    """Refuse a parameter that is no JSON Schema. One that takes too long passes here: its check is
    not evaluated, with the reason.

    Raises:
        MissingDependencyError: the library is not installed.
        ValueError: it is none.
    """
    text = json_codec.canonical(schema)
    _require_library(text)
    try:
        fault = schema_fault(text)
    except TimeLimit:
        return
    if fault is not None:
        raise ValueError(f"{name}: {fault}")


def violation(schema: dict[str, Any], value: Any) -> str | None:
    """Return the first violation of a schema, with its JSON path; None without any.

    Raises:
        MissingDependencyError: the library is not installed.
        ValueError: the schema is none.
        TimeLimit: it takes too long.
    """
    text = json_codec.canonical(schema)
    _require_library(text)
    return violation_in_time(text, json_codec.dumps(value))


@lru_cache(maxsize=256)
def _require_library(schema: str) -> None:
    """Look for the library, once for each schema; it is imported in another process only.

    Raises:
        MissingDependencyError: it is not installed.
    """
    if find_spec("jsonschema") is None:
        library("jsonschema", "JSON Schema", extra="eval")
