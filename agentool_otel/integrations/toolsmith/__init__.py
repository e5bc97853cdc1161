"""ToolSmith, which tests whether an agent selects the right tool."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("ToolSmith")
