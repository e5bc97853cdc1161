"""LangSmith: spans of its exporter, and its runs."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("LangSmith", tracers=("langsmith",))
