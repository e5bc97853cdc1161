"""AutoGen, whose teams communicate by messages."""

from agentool_otel.integrations.autogen.dialect.spans import AutoGen

__all__ = ["AutoGen"]
