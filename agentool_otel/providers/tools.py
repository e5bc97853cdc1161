"""Definitions of tools, in the shape of any provider, as the conventions have them.

Source: OpenAI chat completions and responses, Anthropic messages (`input_schema`), Google
generateContent (`functionDeclarations`, and tools of the server as members of their own), Bedrock
Converse (`toolSpec`), MCP and the Vercel AI SDK (`inputSchema`), pydantic-ai
(`parameters_json_schema`), 2026-10.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.values import jsonable
from agentool_otel.providers.calls import parse_structured
from agentool_otel.providers.fields import get, items, record, string

__all__ = ["definitions", "forces_function"]

_DECLARED = ("functionDeclarations", "function_declarations")
_SCHEMAS = (
    *("parameters", "input_schema", "inputSchema", "parametersJsonSchema"),
    *("parameters_json_schema", "json_schema", "arguments"),
)
"""Names of what the conventions and OpenAI call `parameters`."""


def definitions(tools: Any, complete: bool = False) -> list[dict[str, Any]] | None:
    """Return tool definitions: `{type, name, description?, parameters?}`; None if there are none.

    A tool that the server has may be its type alone, and is named so.

    Args:
        tools: a list of dicts or of a library's objects; what is no tool is left out.
        complete: whether to keep the members of a dict that the conventions have no name for.
    """
    every = [_definition(item, complete) for tool in items(tools) for item in _declared(tool)]
    return [item for item in every if item is not None] or None


def forces_function(parameters: dict[str, Any]) -> bool:
    """Return whether a request makes the model fill in the arguments of one function, as programs
    do that extract data: the answer can be nothing else.

    Args:
        parameters: of a call of a client.

    Source: OpenAI chat completions and responses and Anthropic (`tool_choice`), OpenAI before tools
    (`function_call`), Google (`tool_config`), Bedrock Converse (`toolChoice`), 2026-10.
    """
    choices = (
        parameters.get("tool_choice"),
        parameters.get("function_call"),
        get(get(parameters.get("toolConfig"), "toolChoice"), "tool"),
    )
    choice = next((item for item in choices if item is not None), None)
    if choice is not None:
        return string(choice, "name") is not None or get(choice, "function") is not None
    config = get(get(parameters.get("config"), "tool_config"), "function_calling_config")
    return len(items(config, "allowed_function_names")) == 1


def _declared(tool: Any) -> list[Any]:
    """Return the tools of one entry of a list: Google's declares several."""
    for name in _DECLARED:
        if declared := items(tool, name):
            return declared
    members = record(tool)
    if members is None or not members.keys().isdisjoint(("name", "type", "function", "toolSpec")):
        return [tool]
    return [{"type": name} for name, settings in members.items() if isinstance(settings, dict)]


def _definition(tool: Any, complete: bool) -> dict[str, Any] | None:
    kind = string(tool, "type")
    nested = (get(tool, name) for name in (kind, "function", "toolSpec") if name)
    fields = next((item for item in nested if string(item, "name") is not None), tool)
    own_name = kind if kind != "function" else None
    name = string(fields, "name") or string(tool, "server_label") or own_name
    if name is None:
        return None
    key, schema = _schema(fields)
    definition: dict[str, Any] = {"type": kind or "function", "name": name}
    if key == "input_schema":
        definition["type"] = "function"  # Anthropic calls those of the client `custom`, or nothing
    description = string(fields, "description")
    if description is not None:
        definition["description"] = description
    if schema is not None:
        definition["parameters"] = schema
    if complete:
        members = record(jsonable(fields)) or {}
        others = {name: value for name, value in members.items() if name != key}
        definition = {**others, **definition}
    return definition


def _schema(fields: Any) -> tuple[str | None, dict[str, Any] | None]:
    """Return the schema of a tool's parameters and the member that it is in, None without one."""
    for key in _SCHEMAS:
        schema = record(parse_structured(get(fields, key)))
        if schema is not None:
            inner = record(schema.get("json")) if schema.keys() == {"json"} else None  # Bedrock's
            return key, _lower_types(schema) if inner is None else inner
    return None, None


def _lower_types(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema with the types that JSON Schema has, where they are in capitals as Google's
    `Schema` has them."""
    kind = schema.get("type")
    if type(kind) is not str or not kind.isupper():
        return schema
    inside: dict[str, Any] = {"type": kind.lower()}
    for name in ("items", "properties"):
        if (member := record(schema.get(name))) is not None:
            inside[name] = (
                _lower_types(member)
                if name == "items"
                else {key: _lower_types(record(item) or {}) for key, item in member.items()}
            )
    if options := items(schema, "anyOf"):
        inside["anyOf"] = [_lower_types(record(option) or {}) for option in options]
    return schema | inside
