"""JSON Schema, through the library of the extra `eval`, within a time limit. Nothing is fetched: a
`$ref` to another document is an error."""

from __future__ import annotations

from typing import Any

from agentool_otel.evaluation import time_limit
from agentool_otel.ground import json_codec
from agentool_otel.ground.optional import library

__all__ = ["violation"]


def violation(schema: dict[str, Any], value: Any) -> str | None:
    """Return what does not match a schema, with its JSON path; None if everything does.

    Raises:
        MissingDependencyError: the library is not installed.
        ValueError: the schema is none.
        TimeLimit: it takes too long.
    """
    try:
        return time_limit.violation(json_codec.canonical(schema), json_codec.dumps(value))
    except ImportError:
        library("jsonschema", "JSON Schema", extra="eval")
        raise
