"""LangChain and LangGraph."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("LangChain", patches=("langchain_core", "langgraph"))
