"""Fragola SDK."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Fragola")
