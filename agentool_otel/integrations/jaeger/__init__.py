"""Jaeger: its query service, and its JSON."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Jaeger")
