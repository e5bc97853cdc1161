"""Preserved data of another format, when somebody edits the document afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.converters import convert, converter_for, from_agentool, to_agentool
from agentool_otel.errors import ConfigurationError, DecodeError
from agentool_otel.model.documents import ReasoningTrace, ToolSpec
from tests.seed_systems.examples import TOOLS

MCP: dict[str, Any] = {
    "name": "search",
    "title": "Search",
    "inputSchema": {"properties": {}},
    "annotations": {"readOnlyHint": True, "idempotentHint": True},
}


def edited(**members: Any) -> dict[str, Any]:
    """Return the MCP tool after its ToolSpec was edited."""
    [spec] = to_agentool([MCP])
    changed = ToolSpec.from_dict({**spec.to_dict(), **members})
    tools: list[dict[str, Any]] = from_agentool([changed], "mcp-tools")["tools"]
    return tools[0]


def test_an_edit_is_written_and_the_rest_is_kept() -> None:
    assert edited(description="Search!") == {**MCP, "description": "Search!"}


def test_what_contradicts_an_edit_is_left_out() -> None:
    """The schema without a type was kept for the schema there was."""
    schema = {"type": "object", "required": ["q"]}
    tool = edited(parameters=schema)
    assert tool["inputSchema"] == schema
    assert tool["title"] == "Search"


def test_edits_of_a_converted_document_keep_everything_else() -> None:
    [tool] = convert(TOOLS["agentool"], "mcp-tools").value["tools"]
    [spec] = to_agentool([{**tool, "description": "Edited."}])
    assert spec.to_dict() == {**TOOLS["agentool"][0], "description": "Edited."}


def test_a_tool_outside_of_its_list_keeps_its_data() -> None:
    spec = TOOLS["agentool"][0]
    tools = [{"spec": spec}, {"spec": spec, "endpoint": "https://tools.example"}]
    registry = {"registry_id": "r", "tools": tools}
    written = convert(registry, "mcp-tools").value
    assert [item.to_dict() for item in to_agentool(written)] == [registry]
    [alone] = to_agentool(written["tools"][1])
    assert alone.to_dict() == {**registry, "tools": tools[1:]}


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_every_format_but_amplifiers_is_recognised(name: str) -> None:
    if name == "amplifier":
        assert converter_for(TOOLS[name][:1]).name == "anthropic-tools"
        assert convert(TOOLS[name][:1], "mcp-tools").alike == ["amplifier"]
    else:
        assert converter_for(TOOLS[name]).name == name


def test_tools_that_were_written_for_amplifier_are_recognised() -> None:
    plain = {"name": "plain", "description": "", "parameters": {"type": "object"}}
    written = convert([*TOOLS["agentool"], plain], "amplifier", "agentool").value
    assert "agentool" not in written[-1]
    assert converter_for(written).name == "amplifier"
    assert convert(written, "agentool").value == [*TOOLS["agentool"], plain]


def test_a_document_that_only_one_format_knows_is_like_no_other() -> None:
    for name in ("mcp-tools", "openai-tools", "agent-tool", "agent-spec"):
        assert convert(TOOLS[name], "agentool").alike == []


def test_documents_that_are_no_tools_are_refused_by_formats_of_tools() -> None:
    with pytest.raises(DecodeError, match=r"expected ToolSpecs.*got ReasoningTrace - at \$\[0\]"):
        from_agentool([ReasoningTrace(trace_id="t", steps=[])], "openai-tools")


def test_an_unknown_format_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="agent-spec, agent-tool, agentool"):
        convert([], "of-tomorrow")
