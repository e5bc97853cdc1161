"""LangWatch."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("LangWatch", tracers=("langwatch",))
