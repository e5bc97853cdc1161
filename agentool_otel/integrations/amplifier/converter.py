"""Tools of Amplifier: descriptions by the Tool protocol, and live tools from them.

Spec: Amplifier's tool contract, and amplifier-core 2.0 (`interfaces.Tool`, `ToolSpec`). A tool has
a name, a description and perhaps an `input_schema`; the kernel's own ToolSpec calls that
`parameters`. What only the spec knows is the attribute `agentool`, which other tools do not have.

The members of a tool are also those of Anthropic's, so a file is recognised as Amplifier's only
where a tool of it has that attribute.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agentool_otel.converters.kit.fields import Object, member
from agentool_otel.converters.kit.tools import ToolConverter
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.documents import ToolSpec

__all__ = ["Amplifier", "LiveTool", "spec_of", "tool_of"]

_ATTRIBUTES = ("name", "description", "input_schema", "agentool")


class Amplifier(ToolConverter):
    """A list of the tools' descriptions."""

    name = "amplifier"
    lossless = True
    room = ("agentool",)

    def normal_tool(self, tool: Object) -> Object:
        if "input_schema" in tool or "parameters" not in tool:
            return tool
        members = {name: value for name, value in tool.items() if name != "parameters"}
        return {**members, "input_schema": tool["parameters"]}

    def read_tool(self, tool: Object) -> Object:
        return {
            "name": member(tool, "name", str),
            "description": member(tool, "description", str, ""),
            "parameters": member(tool, "input_schema", dict, {}),
        }

    def write_tool(self, spec: Object) -> Object:
        # With a schema also where it is empty: without one nothing says that it is a tool.
        return {
            "name": spec["name"],
            "description": spec["description"],
            "input_schema": spec["parameters"],
        }

    def recognises(self, value: Json) -> bool:
        return super().recognises(value) and any("agentool" in tool for tool in self._tools(value))

    def recognises_tool(self, tool: Object) -> bool:
        return "name" in tool and tool.keys() <= set(_ATTRIBUTES)


class LiveTool:
    """A tool that can be mounted, made of a ToolSpec and a function that executes it.

    It has the attributes of Amplifier's Tool protocol, and an attribute `agentool` with the data
    that the protocol has no place for, so that `spec_of` returns the same ToolSpec.
    """

    def __init__(self, members: Object, execute: Callable[[Object], Awaitable[Any]]):
        self.name: str = members["name"]
        self.description: str = members["description"]
        self.input_schema: Object = members.get("input_schema", {})
        self.agentool: Object = members.get("agentool", {})
        self._execute = execute

    async def execute(self, input: Object) -> Any:
        """Execute the tool and return the function's result: a ToolResult of Amplifier's."""
        return await self._execute(input)


def tool_of(spec: ToolSpec, execute: Callable[[Object], Awaitable[Any]]) -> LiveTool:
    """Return a tool for `coordinator.mount("tools", tool, name=tool.name)`."""
    [members] = Amplifier().write([spec])
    return LiveTool(members, execute)


def spec_of(tool: object) -> ToolSpec:
    """Return the description of a mounted tool. Only its properties are called.

    Raises:
        DecodeError: if it has no name, or a schema that is none.
    """
    values = {name: getattr(tool, name, None) for name in _ATTRIBUTES}
    members = {name: value for name, value in values.items() if value is not None}
    members.setdefault("input_schema", {})
    if members.get("agentool") == {}:
        del members["agentool"]
    [spec] = Amplifier().read([members])
    if not isinstance(spec, ToolSpec):
        raise DecodeError("a tool", f"a {type(spec).__name__}")
    return spec
