"""pydantic-ai: agents, model requests and tools."""

from agentool_otel.integrations.pydantic_ai.instrumentor.patches import PydanticAIInstrumentor

__all__ = ["PydanticAIInstrumentor"]
