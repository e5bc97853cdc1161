"""LiveKit Agents."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("LiveKit Agents")
