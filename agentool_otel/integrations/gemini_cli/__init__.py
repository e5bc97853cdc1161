"""Google's Gemini CLI."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Gemini CLI")
