"""Grafana Tempo."""

from agentool_otel.ground.integrations import Integration, Page

INTEGRATION = Integration(
    "Grafana Tempo", page=Page("Grafana", 3000, "/api/health", '"database":"ok"')
)
