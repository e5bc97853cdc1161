"""OpenAI's Codex CLI."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Codex CLI")
