"""The MCP SDK's own spans: a recording. They have the names of the GenAI conventions."""

from __future__ import annotations

from agentool_otel.dialects import classify
from agentool_otel.model.operations import McpRequest
from tests.dialects.traces import recorded

REQUESTS = [
    operation
    for span in recorded("mcp-2.3.0.gen_ai.jsonl")
    if isinstance(operation := classify(span)[1], McpRequest)
]


def test_both_sides_of_a_request_are_read() -> None:
    sides = {(request.method, request.side) for request in REQUESTS}
    methods = ("server/discover", "tools/list", "tools/call", "resources/read", "prompts/get")
    assert sides == {(method, side) for method in methods for side in ("client", "server")}


def test_a_client_span_has_the_tool_in_its_name_only() -> None:
    assert {request.tool_name for request in REQUESTS if request.method == "tools/call"} == {
        "get_weather"
    }
    assert {request.tool_name for request in REQUESTS if request.method != "tools/call"} == {None}
