"""Spring AI."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Spring AI")
