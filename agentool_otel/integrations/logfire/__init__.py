"""Logfire, and the Agents SDK as it records it."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Logfire", tracers=("logfire",))
