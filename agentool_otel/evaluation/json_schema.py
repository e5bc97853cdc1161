"""JSON Schema, through the library of the extra `eval`. Nothing is fetched: a `$ref` to another
document is an error."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any

from agentool_otel.ground import json_codec
from agentool_otel.ground.optional import library as optional_library

__all__ = ["violation"]

_SHOWN = 200


def violation(schema: dict[str, Any], value: Any) -> str | None:
    """Return what does not match a schema, with its JSON path; None if everything does.

    Raises:
        MissingDependencyError: the library is not installed.
        ValueError: the schema is none.
    """
    worst = next(_validator(json_codec.canonical(schema)).iter_errors(value), None)
    if worst is None:
        return None
    message = worst.message if len(worst.message) <= _SHOWN else f"{worst.message[:_SHOWN]}…"
    return f"{message} - at {worst.json_path}"


@lru_cache(maxsize=256)
def _validator(text: str) -> Any:
    library = optional_library("jsonschema", "JSON Schema", extra="eval")
    schema = json_codec.loads(text)
    kind = library.validators.validator_for(schema, default=library.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except library.SchemaError as error:
        raise ValueError(f"this is no JSON Schema: {error.message}") from None
    # A registry of one's own, because the default one fetches what a schema refers to.
    return kind(schema, registry=import_module("jsonschema_specifications").REGISTRY)
