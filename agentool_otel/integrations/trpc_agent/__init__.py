"""tRPC-Agent-Go."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("tRPC-Agent-Go")
