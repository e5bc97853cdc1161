"""opencode, the coding agent."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("opencode")
