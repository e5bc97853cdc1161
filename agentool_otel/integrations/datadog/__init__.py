"""Datadog LLM Observability."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Datadog", tracers=("ddtrace",))
