"""OpenAI's Agents SDK."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("OpenAI Agents SDK", patches=("agents",))
