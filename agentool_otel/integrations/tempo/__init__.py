"""Grafana Tempo."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Grafana Tempo")
