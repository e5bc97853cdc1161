"""Logfire, and the Agents SDK as it records it."""

from agentool_otel.integrations.logfire.dialect.spans import Logfire

__all__ = ["Logfire"]
