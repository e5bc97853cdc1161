"""A program that uses Tiny Agents, unmodified."""

from __future__ import annotations

from typing import Any

from tiny_agents import Agent


def tiny_model(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """Stand in for a model: search first, then answer."""
    if messages[-1]["role"] == "user":
        call = {"id": "call_1", "name": "search_web", "arguments": {"query": "OpenTelemetry"}}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    return {"role": "assistant", "content": "OpenTelemetry is a standard for telemetry."}


def search_web(query: str) -> str:
    return f"{query}: traces, metrics and logs."


print(Agent("researcher", tiny_model, {"search_web": search_web}).run("What is OpenTelemetry?"))
