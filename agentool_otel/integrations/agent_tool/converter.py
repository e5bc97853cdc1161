"""Tool declarations of Agent Tool.

Spec: Agent Tool 0.2.0 (draft), `tool_declaration`; unknown members and words are valid everywhere.

    input_contract.schema, or .model_input_schema    parameters
    output_contract.structured_schema                returns
    annotations.is_read_only                         metadata.side_effects, negated
    tool_kind                                        metadata.category, where one kind is of one

A ToolSpec has no identity, state or kind: what is written for it is marked by the annotation
`synthesized`. What only the spec knows is the annotation `agentool`.
"""

from __future__ import annotations

from agentool_otel.converters.kit.fields import Object, error_below, member
from agentool_otel.converters.kit.objects import value_at
from agentool_otel.converters.kit.tools import ToolConverter
from agentool_otel.errors import DecodeError

__all__ = ["AgentTool"]

_VERSION = "0.2.0"
_NAMESPACE = "agentool"
_REQUIRED = ("tool_id", "namespace", "name", "description", "lifecycle", "tool_kind")
_CATEGORIES = {
    "retrieval": "retrieval",
    "web_search": "retrieval",
    "code_execution": "compute",
    "file_operation": "io",
    "openapi_operation": "io",
    "browser_action": "io",
    "shell_command": "io",
    "peer_agent_tool": "coordination",
}


class AgentTool(ToolConverter):
    """A list of declarations."""

    name = "agent-tool"
    lossless = True
    room = ("annotations", "agentool")

    def read_tool(self, tool: Object) -> Object:
        for name in _REQUIRED:
            member(tool, name, str)
        spec: Object = {
            "name": tool["name"],
            "description": tool["description"],
            "parameters": _schema_in(tool, "input_contract", "schema", "model_input_schema") or {},
        }
        returns = _schema_in(tool, "output_contract", "structured_schema")
        if returns is not None:
            spec["returns"] = returns
        metadata: Object = {}
        if (category := _CATEGORIES.get(tool["tool_kind"])) is not None:
            metadata["category"] = category
        read_only = value_at(tool, ("annotations", "is_read_only"))
        if isinstance(read_only, bool):
            metadata["side_effects"] = not read_only
        return {**spec, "metadata": metadata} if metadata else spec

    def write_tool(self, spec: Object) -> Object:
        annotations: Object = {"synthesized": True}
        side_effects = value_at(spec, ("metadata", "side_effects"))
        if isinstance(side_effects, bool):
            annotations["is_read_only"] = not side_effects
        tool: Object = {
            "schema_version": _VERSION,
            "tool_id": f"{_NAMESPACE}.{spec['name']}",
            "namespace": _NAMESPACE,
            "name": spec["name"],
            "description": spec["description"],
            "lifecycle": "available",
            "tool_kind": "function",
        }
        if spec["parameters"]:
            tool["input_contract"] = {"schema": spec["parameters"]}
        if isinstance(spec.get("returns"), dict):
            tool["output_contract"] = {"structured_schema": spec["returns"]}
        return {**tool, "annotations": annotations}

    def recognises_tool(self, tool: Object) -> bool:
        return "tool_id" in tool and "tool_kind" in tool


def _schema_in(tool: Object, contract: str, *names: str) -> Object | None:
    """Return the first of some schemas in a contract; None if there is none."""
    members = member(tool, contract, dict, {})
    try:
        schemas = [member(members, name, dict, None) for name in names]
    except DecodeError as error:
        raise error_below(f"$.{contract}", error) from None
    return next((item for item in schemas if item is not None), None)
