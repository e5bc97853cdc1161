"""Vercel's AI SDK."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("AI SDK")
