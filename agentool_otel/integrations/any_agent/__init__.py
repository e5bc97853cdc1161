"""Mozilla's any-agent and tinyagent."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("any-agent")
