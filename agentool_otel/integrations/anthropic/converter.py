"""Tools of Anthropic's Messages API.

Spec: Anthropic API reference, `tools` of messages, 2026-10. It refuses members it does not know, so
`returns` and `metadata` have no place. A tool that the server runs (`type` with a date) has no
schema; its other members are kept.
"""

from __future__ import annotations

from agentool_otel.converters.kit.fields import Object, member
from agentool_otel.converters.kit.tools import ToolConverter
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.documents import ToolSpec

__all__ = ["AnthropicTools"]

_OF_THE_SERVER = re.compile(r"\w+_20\d{6}")
"""Their types, such as `web_search_20250305`."""


class AnthropicTools(ToolConverter):
    """A list of tools, each with an `input_schema`."""

    name = "anthropic-tools"

    def read_tool(self, tool: Object) -> Object:
        member(tool, "name", str)
        member(tool, "description", str, "")
        member(tool, "input_schema", dict, {})
        spec = ToolSpec.from_anthropic(tool).to_dict()
        spec.pop("metadata", None)
        return spec

    def write_tool(self, spec: Object) -> Object:
        return ToolSpec.from_dict(spec).to_anthropic()

    def recognises_tool(self, tool: Object) -> bool:
        if "name" not in tool or "agentool" in tool:
            return False  # the latter are Amplifier's
        return "input_schema" in tool or bool(_OF_THE_SERVER.fullmatch(str(tool.get("type"))))
