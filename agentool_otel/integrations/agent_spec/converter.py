"""Tools of the Open Agent Specification: Server-, Client-, Remote-, Builtin- and MCPTool.

Spec: Open Agent Specification 25.4.1 to 26.3.1, serialized components (pyagentspec 26.3.1).

    inputs                 properties of parameters; one without a default is required
    outputs                returns: one is the schema itself, several are its properties
    requires_confirmation  metadata.requires_confirmation

A ToolSpec becomes a ServerTool. Loaders drop members they do not know, but keep `metadata`: what
only the spec knows is there, such as which parameters are optional without a default, or `$defs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from agentool_otel.converters.kit.fields import Object, describe, each, member, unique
from agentool_otel.converters.kit.objects import value_at
from agentool_otel.converters.kit.tools import ToolConverter
from agentool_otel.errors import DecodeError
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_difference import path_of, same

__all__ = ["AgentSpec"]

_VERSION = "25.4.2"
"""The first with `requires_confirmation`; later ones read it."""
_TITLE = re.compile(r"[^\s.,{}'\"]+")
_RESULT = "result"
_SENSITIVE = "sensitive_headers"
_REFERENCE = "$component_ref"


class AgentSpec(ToolConverter):
    """A list of tools, each a component by itself."""

    name = "agent-spec"
    lossless = True
    room = ("metadata", "agentool")

    def normal_tool(self, tool: Object) -> Object:
        kind = member(tool, "component_type", str)
        if not kind.endswith("Tool"):
            raise DecodeError("a component that is a tool", repr(kind), "$.component_type")
        _refuse_secrets(tool, "$")
        return tool

    def read_tool(self, tool: Object) -> Object:
        spec: Object = {
            "name": member(tool, "name", str),
            "description": member(tool, "description", str, ""),
            "parameters": _parameters(_properties(tool, "inputs")),
        }
        if outputs := _properties(tool, "outputs"):
            spec["returns"] = _returns(outputs)
        if tool.get("requires_confirmation") is True:
            spec["metadata"] = {"requires_confirmation": True}
        return spec

    def write_tool(self, spec: Object) -> Object:
        name: str = spec["name"]
        tool: Object = {
            "component_type": "ServerTool",
            "id": str(uuid5(NAMESPACE_URL, f"agentool:tool:{_encodable(name)}")),
            "name": name,
            "description": spec["description"],
            "metadata": {},
            "inputs": _inputs(spec["parameters"]),
            "outputs": _outputs(spec.get("returns")),
        }
        if value_at(spec, ("metadata", "requires_confirmation")) is True:
            tool["requires_confirmation"] = True
        return {**tool, "agentspec_version": _VERSION}

    def recognises_tool(self, tool: Object) -> bool:
        kind = tool.get("component_type")
        return isinstance(kind, str) and kind.endswith("Tool")


# --- reading


def _properties(tool: Object, name: str) -> list[Object]:
    properties = member(tool, name, list, [])
    each(properties, f"$.{name}", _title_of)
    unique(properties, "title", f"$.{name}")
    return properties


def _title_of(value: Object) -> str:
    return member(value, "title", str, filled=True)


def _without_title(value: Object) -> Object:
    return {name: value for name, value in value.items() if name != "title"}


def _parameters(inputs: list[Object]) -> Object:
    parameters = {
        "type": "object",
        "properties": {schema["title"]: _without_title(schema) for schema in inputs},
    }
    required = [schema["title"] for schema in inputs if "default" not in schema]
    return {**parameters, "required": required} if required else parameters


def _returns(outputs: list[Object]) -> Object:
    if len(outputs) == 1:
        return _without_title(outputs[0])
    properties = {output["title"]: _without_title(output) for output in outputs}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _refuse_secrets(value: Any, path: str) -> None:
    """Refuse headers that are to be kept secret: they are references wherever a tool is serialized,
    and would get into whatever it is converted to."""
    inner = enumerate(value) if isinstance(value, list) else ()
    for n, item in inner:
        _refuse_secrets(item, f"{path}[{n}]")
    for name, item in value.items() if isinstance(value, dict) else ():
        place = path_of(path, name)
        if name == _SENSITIVE and item and not (isinstance(item, dict) and _REFERENCE in item):
            raise DecodeError(f"a {_REFERENCE}, as tools are serialized", describe(item), place)
        _refuse_secrets(item, place)


# --- writing


def _inputs(parameters: Object) -> list[Object]:
    return _titled_schemas(parameters.get("properties"), "$.parameters.properties")


def _outputs(returns: Any) -> list[Object]:
    if not isinstance(returns, dict):
        return []
    properties = returns.get("properties")
    if isinstance(properties, dict) and len(properties) > 1:
        outputs = _titled_schemas(properties, "$.returns.properties")
        if same(_returns(outputs), returns):
            return outputs
    return [{**returns, "title": _RESULT}]


def _titled_schemas(properties: Any, path: str) -> list[Object]:
    """Return the properties of a schema as a list of titled schemas.

    Raises:
        DecodeError: if one has a name that cannot be a title.
    """
    objects: list[Object] = []
    for name, schema in properties.items() if isinstance(properties, Mapping) else ():
        if not _TITLE.fullmatch(name):
            expected = "a name without blanks and any of . , { } ' \", as Agent Spec needs"
            raise DecodeError(expected, repr(name), path_of(path, name))
        objects.append({**(schema if isinstance(schema, dict) else {}), "title": name})
    return objects


def _encodable(name: str) -> str:
    """Return a name that UTF-8 has: JSON may have escapes of lone surrogates."""
    return name.encode("utf-8", "backslashreplace").decode()
