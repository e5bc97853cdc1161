"""Values that were printed rather than encoded: LangChain passes on the `str` of a tool's input,
LlamaIndex the `repr` of its events."""

from __future__ import annotations

import ast
from typing import Any

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.ground.json_codec import dumps
from agentool_otel.ground.literals import is_printed, literal

__all__ = ["LONGEST", "call_in", "object_in", "value_in"]

LONGEST = 100_000
"""Characters of Python text that are parsed, which takes far longer than JSON."""


def object_in(value: Any) -> Any:
    """Return the object in JSON text, or in Python's; any other value as it is."""
    value = json_or_text(value)
    if not isinstance(value, str) or value[:1] != "{":
        return value
    read = value_in(value)
    return read if isinstance(read, dict) else value


def value_in(text: str) -> Any:
    """Return the value that a text is Python's literal of; any other text as it is."""
    try:
        read = literal(text, LONGEST)
        dumps(read)
    except (ValueError, TypeError):
        return text
    return read


def call_in(value: Any, name: str) -> dict[str, Any]:
    """Return the named arguments in the `repr` of an object of a class; none if it is not whole."""
    if not isinstance(value, str) or len(value) > LONGEST or not value.startswith(f"{name}("):
        return {}
    if not is_printed(value):
        return {}
    try:
        read = ast.parse(value, mode="eval").body
        keywords = read.keywords if isinstance(read, ast.Call) else []
        named = {
            keyword.arg: ast.literal_eval(keyword.value)
            for keyword in keywords
            if keyword.arg is not None
        }
        dumps(named)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return {}
    return named
