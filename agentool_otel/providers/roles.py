"""Roles of messages under the names of the conventions: one table for every API and framework."""

from __future__ import annotations

__all__ = ["role_of"]

_ROLES = {
    "developer": "system",  # OpenAI
    "function": "tool",  # OpenAI before tools, Google
    "model": "assistant",  # Google
    "human": "user",  # LangChain, and the following
    "ai": "assistant",
}


def role_of(name: str) -> str:
    """Return the conventions' name of a role; one they have no name for stays as it is."""
    return _ROLES.get(name, name)
