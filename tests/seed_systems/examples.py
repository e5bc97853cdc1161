"""One document of tools in each format, with what only that format knows."""

from __future__ import annotations

from typing import Any

__all__ = ["TOOLS"]

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
    "required": ["query"],
}

TOOLS: dict[str, Any] = {
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
}
