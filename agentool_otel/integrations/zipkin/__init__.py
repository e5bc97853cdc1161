"""Zipkin."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Zipkin")
