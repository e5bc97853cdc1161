"""The packages that each framework's instrumentor patches.

An instrumentor is loaded when the program imports one of them: few programs use more than two
frameworks, and what the others need would take longer than all the rest of the start.
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["PACKAGES"]

PACKAGES: Mapping[str, tuple[str, ...]] = {
    "agent-spec": ("pyagentspec", "wayflowcore"),
    "anthropic": ("anthropic",),
    "crewai": ("crewai",),
    "fastmcp": ("fastmcp",),
    "langchain": ("langchain_core", "langgraph"),
    "mcp": ("mcp",),
    "openai": ("openai",),
    "openai-agents": ("agents",),
    "pydantic-ai": ("pydantic_ai",),
}
"""By the name of the framework. A test compares them with the patches."""
