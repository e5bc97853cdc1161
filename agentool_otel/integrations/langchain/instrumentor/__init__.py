"""LangChain and LangGraph, by their official callback handler."""

from agentool_otel.integrations.langchain.instrumentor.patches import LangChainInstrumentor

__all__ = ["LangChainInstrumentor"]
