"""AgentOps."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("AgentOps", tracers=("agentops",))
