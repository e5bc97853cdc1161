"""Anthropic's client: its messages API, and the tool runner that is built on it."""

from agentool_otel.integrations.anthropic.instrumentor.patches import AnthropicInstrumentor

__all__ = ["AnthropicInstrumentor"]
