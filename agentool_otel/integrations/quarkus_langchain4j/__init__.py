"""Quarkus LangChain4j."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Quarkus LangChain4j")
