"""CloudWeGo's Eino with the callbacks of APMPlus."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Eino")
