"""Tools of the Model Context Protocol, as a server's `tools/list` gives them.

Spec: modelcontextprotocol.io, schema 2025-11-25, `Tool` and `ListToolsResult`. Both schemas are of
objects; `returns` of another type has its place in `_meta`, as has all else that only the spec
knows. The hint `readOnlyHint` is `metadata.side_effects`, negated.
"""

from __future__ import annotations

from agentool_otel.converters.kit.fields import Object, member
from agentool_otel.converters.kit.objects import value_at
from agentool_otel.converters.kit.tools import ToolConverter
from agentool_otel.ground.json_codec import Json

__all__ = ["MCPTools"]

_OBJECT = {"type": "object"}


class MCPTools(ToolConverter):
    """The result of `tools/list`, or the list in it."""

    name = "mcp-tools"
    lossless = True
    container = "tools"
    room = ("_meta", "agentool")

    def read_tool(self, tool: Object) -> Object:
        spec: Object = {
            "name": member(tool, "name", str),
            "description": member(tool, "description", str, ""),
            "parameters": member(tool, "inputSchema", dict, {}),
        }
        returns = member(tool, "outputSchema", dict, None)
        if returns is not None:
            spec["returns"] = returns
        read_only = value_at(tool, ("annotations", "readOnlyHint"))
        if isinstance(read_only, bool):
            spec["metadata"] = {"side_effects": not read_only}
        return spec

    def write_tool(self, spec: Object) -> Object:
        tool: Object = {"name": spec["name"]}
        if spec["description"]:
            tool["description"] = spec["description"]
        tool["inputSchema"] = {**_OBJECT, **spec["parameters"]}
        returns = spec.get("returns")
        if isinstance(returns, dict) and returns.get("type") == "object":
            tool["outputSchema"] = returns
        side_effects = value_at(spec, ("metadata", "side_effects"))
        if isinstance(side_effects, bool):
            tool["annotations"] = {"readOnlyHint": not side_effects}
        return tool

    def recognises(self, value: Json) -> bool:
        # A list of tools with a name and a version is a file of ToolSmith.
        named = (
            isinstance(value, dict) and self.container in value and {"name", "version"} <= {*value}
        )
        return not named and super().recognises(value)

    def recognises_tool(self, tool: Object) -> bool:
        return "inputSchema" in tool and "name" in tool
