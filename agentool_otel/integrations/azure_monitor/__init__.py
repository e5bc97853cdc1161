"""Azure Monitor: Application Insights and its Log Analytics workspace."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Azure Monitor")
