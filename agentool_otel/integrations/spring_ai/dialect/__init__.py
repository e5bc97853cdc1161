"""Spring AI, and what it logs of content."""

from agentool_otel.integrations.spring_ai.dialect.spans import SpringAI

__all__ = ["SpringAI"]
