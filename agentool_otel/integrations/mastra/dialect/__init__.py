"""Mastra, its present spans and those before version 1."""

from agentool_otel.integrations.mastra.dialect.spans import Mastra

__all__ = ["Mastra"]
