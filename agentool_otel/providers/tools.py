"""Definitions of tools, in the shape of any provider, as the conventions have them.

Source: OpenAI chat completions and responses, Anthropic messages (`input_schema`), Google
generateContent (`functionDeclarations`, and tools of the server as members of their own), 2026-10.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.policy import jsonable
from agentool_otel.providers import openai_values
from agentool_otel.providers.fields import get, items, record, string

__all__ = ["definitions"]

_DECLARED = ("functionDeclarations", "function_declarations")
_SCHEMAS = ("input_schema", "parametersJsonSchema", "parameters_json_schema")
"""Other names of what OpenAI calls `parameters`."""


def definitions(tools: Any) -> list[Any] | None:
    """Return tool definitions: `{type, name, description?, parameters?}`; None if there are none.

    Args:
        tools: a list of dicts or of a library's objects; anything else in it is ignored.
    """
    return openai_values.definitions([it for tool in items(tools) for it in _declared(tool)])


def _declared(tool: Any) -> list[Any]:
    """Return the tools that one entry of a list stands for: Google's declares several."""
    for name in _DECLARED:
        if declared := items(tool, name):
            return [_as_function(each) for each in declared]
    if string(tool, "name") or string(tool, "type"):
        return [_as_function(tool)]
    known = record(tool)
    if known is None or "function" in known:
        return [tool]
    return [{"type": name} for name, settings in known.items() if isinstance(settings, dict)]


def _as_function(tool: Any) -> Any:
    """Return a function with its parameters under OpenAI's name, anything else as it is."""
    for name in _SCHEMAS:
        if (schema := get(tool, name)) is not None:
            return {**(record(jsonable(tool)) or {}), "type": "function", "parameters": schema}
    return tool
