"""Function tools of OpenAI's Chat Completions API, and of the Responses API where they are read.

Spec: OpenAI API reference, `tools` of chat completions (nested in `function`) and of responses
(flat), 2026-10. Both refuse members they do not know, so `returns` and `metadata` have no place.
"""

from __future__ import annotations

from agentool_otel.converters.kit.fields import Object, error_below, member
from agentool_otel.converters.kit.tools import ToolConverter
from agentool_otel.errors import DecodeError
from agentool_otel.model.documents import ToolSpec

__all__ = ["OpenAITools"]

_OF_RESPONSES = ("name", "description", "parameters", "strict")


class OpenAITools(ToolConverter):
    """A list of function tools. The flat form is read like the nested one, which is written."""

    name = "openai-tools"

    def normal_tool(self, tool: Object) -> Object:
        kind = member(tool, "type", str, "function")
        if kind != "function":
            raise DecodeError("'function', the only type with a schema", repr(kind), "$.type")
        if "function" not in tool and "name" in tool:
            _check(tool)
            function = {name: tool[name] for name in _OF_RESPONSES if name in tool}
            members = {name: value for name, value in tool.items() if name not in _OF_RESPONSES}
            return {**members, "function": function}
        function = member(tool, "function", dict)
        try:
            _check(function)
        except DecodeError as error:
            raise error_below("$.function", error) from None
        return tool

    def read_tool(self, tool: Object) -> Object:
        spec = ToolSpec.from_openai(tool).to_dict()
        spec.pop("metadata", None)
        return spec

    def write_tool(self, spec: Object) -> Object:
        return ToolSpec.from_dict(spec).to_openai()

    def recognises_tool(self, tool: Object) -> bool:
        return tool.get("type") == "function"


def _check(function: Object) -> None:
    member(function, "name", str)
    member(function, "description", str, "")
    member(function, "parameters", dict, {})
