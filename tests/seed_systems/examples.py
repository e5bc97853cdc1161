"""One document of tools in each format, with members that only that format has."""

from __future__ import annotations

from typing import Any

from tests.seed_systems import toolsmith_files

__all__ = ["TOOLS"]

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
    "required": ["query"],
}

TOOLS: dict[str, Any] = {
    "toolsmith": toolsmith_files.TOOLS,
    "agentool": [
        {
            "name": "search_web",
            "description": "Search the web.",
            "parameters": _PARAMETERS,
            "returns": {"type": "array", "items": {"type": "string"}},
            "metadata": {"category": "retrieval", "cost_tier": "free", "side_effects": False},
            "owner": "an unknown member",
        }
    ],
    "anthropic-tools": [
        {
            "name": "search_web",
            "description": "Search the web.",
            "input_schema": _PARAMETERS,
            "cache_control": {"type": "ephemeral"},
        },
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
    ],
    "mcp-tools": {
        "tools": [
            {
                "name": "search_web",
                "title": "Search",
                "description": "Search the web.",
                "inputSchema": _PARAMETERS,
                "outputSchema": {"type": "object", "properties": {"hits": {"type": "array"}}},
                "annotations": {"readOnlyHint": True, "openWorldHint": True},
                "_meta": {"example.org/owner": None},
            }
        ]
    },
    "openai-tools": [
        {
            "type": "function",
            "function": {
                "name": "search_web",
                "description": "Search the web.",
                "parameters": _PARAMETERS,
                "strict": True,
            },
        },
        {"type": "function", "name": "of_responses", "parameters": {}, "strict": None},
    ],
    "agent-tool": [
        {
            "schema_version": "0.2.0",
            "tool_id": "desk.search",
            "namespace": "desk",
            "name": "search_web",
            "aliases": ["search"],
            "search_hint": "find pages on the web",
            "description": "Search the web.",
            "lifecycle": "available",
            "tool_kind": "web_search",
            "input_contract": {"schema": _PARAMETERS, "sensitive_fields": ["query"]},
            "output_contract": {"structured_schema": {"type": "array"}, "media_modes": ["text"]},
            "external_mappings": [{"source": "mcp", "server_id": "web"}],
            "annotations": {"is_read_only": True, "display": {"icon": "loupe"}},
        }
    ],
    "amplifier": [
        {"name": "search_web", "description": "Search the web.", "input_schema": _PARAMETERS},
        {"name": "now", "description": "Tell the time.", "timezone": "UTC"},
    ],
    "agent-spec": [
        {
            "component_type": "RemoteTool",
            "id": "9d8c0fd5-4ad1-4d7e-8d3a-3f1a40ab2b51",
            "name": "search_web",
            "description": "Search the web.",
            "metadata": {"owner": "search team"},
            "inputs": [
                {"title": "query", "type": "string"},
                {"title": "limit", "type": "integer", "default": 5},
            ],
            "outputs": [{"title": "hits", "type": "array"}, {"title": "total", "type": "integer"}],
            "requires_confirmation": True,
            "url": "https://search.example/{{query}}?limit={{limit}}",
            "http_method": "GET",
            "api_spec_uri": None,
            "data": {},
            "query_params": {},
            "headers": {},
            "sensitive_headers": {},
            "agentspec_version": "25.4.2",
        }
    ],
}
