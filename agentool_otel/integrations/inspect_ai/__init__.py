"""Inspect and Inspect Scout."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Inspect")
