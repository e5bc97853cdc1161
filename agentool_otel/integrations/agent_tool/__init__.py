"""Agent Tool 0.2.0: its objects, and the runtimes that emit them."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Agent Tool")
